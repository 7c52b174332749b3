"""The default schedule with garbage collections at many places, for programs whose finalizers may come at a bad moment.

Rules of this module:

* In reality, a collection may come at nearly any instruction of any thread; which one is a matter of how much was
  allocated before. So where to collect is drawn.
* Each collection takes away what the next one would find. So runs differ in how often they collect, and every other
  one draws places instead of moments: at a place that is drawn, each visit counts.
* A finalizer that takes a lock does most harm where the thread has one. So every third run collects only there, and
  the first one at all such places.
* A collection looks through all objects, so there are not too many of them.
"""

from __future__ import annotations

from ..baton.strategy import Question, Strategy
from ..splitmix import Generator
from ..stdlib.taken_locks import TakenLocks

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from ..baton.baton import Baton
    from ..baton.thread import ManagedThread

_MOST = 60
_RATES = (4, 16, 64)  # one of so many moments or places, on average


class Collecting(Strategy):
    """Each thread goes on as by default, some of the times after a garbage collection.

    Args:
        turn: the number of this run among those that collect, from 0.
        seed: of what is drawn.
    """

    def __init__(self, turn: int, seed: int) -> None:
        self._random = Generator(seed)
        self._seed = seed
        self._left = _MOST
        self._in_sections = turn % 3 == 0
        self._at_places = bool(turn % 2)
        self._rate = 1 if turn == 0 else _RATES[self._random.below(len(_RATES))]
        self._taken = TakenLocks()

    def choose(self, baton: Baton, question: Question) -> ManagedThread:
        thread = question.thread
        holds = bool(self._taken.at_operation(thread))
        if question.may_collect and self._left and question.place is not None and (holds or not self._in_sections):
            place = question.place
            draws = self._random
            if self._at_places:
                draws = Generator(baton.places.place_hash(place.code, place.mark) ^ self._seed)
            question.collects = draws.below(self._rate) == 0
            self._left -= question.collects
        return question.default
