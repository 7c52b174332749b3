"""Another strategy whose preemptions come only where an interpreter with a GIL can switch, or only where it cannot.

Rules of this module:

* A preemption that the other strategy wants elsewhere comes at the next allowed place of that thread in the same turn.
  If there is none, it does not come.
* Choices that somebody has to make (a thread waits or ends) are the other strategy's.
* What is allowed is read off the bytecode: which way a thread came to a place, and what it has called just before, is
  not known. Where it depends on that, a preemption is allowed, whichever are wanted; the tool looks again at what
  fails.
"""

from __future__ import annotations

from ..baton.strategy import Question, Strategy
from ..points.place_record import reach_of

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from types import CodeType

    from ..baton.baton import Baton
    from ..baton.thread import ManagedThread
    from ..points.place import Place

WITH_GIL = "with the GIL"


class OnlyWhere(Strategy):
    """Follows another strategy, and lets it preempt at some places only.

    Args:
        followed: the strategy that decides.
        only: :data:`WITH_GIL` for places where an interpreter with a GIL can switch; anything else for those where it
            cannot.
    """

    def __init__(self, followed: Strategy, only: str) -> None:
        self._followed = followed
        self._with_gil = only == WITH_GIL
        self._put_off: dict[str, ManagedThread] = {}  # by thread: whom to switch to
        self._known: dict[tuple[int, int, bool], tuple[CodeType, bool]] = {}
        self.asks_at_operations = followed.asks_at_operations
        self.notes_visits = followed.notes_visits

    def created(self, baton: Baton, thread: ManagedThread) -> None:
        self._followed.created(baton, thread)

    def next_question(self, baton: Baton, thread: ManagedThread) -> int:
        due = self._followed.next_question(baton, thread)
        return thread.time + 1 if thread.name in self._put_off else due

    def choose(self, baton: Baton, question: Question) -> ManagedThread:
        name = question.thread.name
        choice = self._followed.choose(baton, question)
        before = self._put_off.pop(name, None)
        if question.forced or question.default is not question.thread:
            return choice
        wanted = before if choice is question.thread else choice
        if wanted is None or wanted not in question.runnable:
            return choice
        if self._allowed(question.place):
            return wanted
        self._put_off[name] = wanted
        return question.thread

    def _allowed(self, place: Place | None) -> bool:
        if place is None:
            return self._with_gil
        key = (id(place.code), place.position, place.reachable)
        if key not in self._known:
            reachable, only_after_c = reach_of(place)
            self._known[key] = place.code, only_after_c or reachable == self._with_gil
        return self._known[key][1]
