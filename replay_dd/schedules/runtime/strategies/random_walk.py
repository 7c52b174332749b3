"""Switches at random distances, to random threads."""

from __future__ import annotations

from ..baton.strategy import Question, Strategy
from ..baton.thread import NEVER
from ..splitmix import Generator

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from ..baton.baton import Baton
    from ..baton.thread import ManagedThread

_LONGEST = 4096


class RandomWalk(Strategy):
    """Switches to a random ready thread after a random number of yield points.

    The mean distance of switches is itself drawn from the seed: some runs then switch nearly everywhere, some only a
    few times, and races of every width are met.

    Args:
        seed: of all random choices.
        longest: the greatest mean distance; 0 for 4,096 yield points.
        points: the thread times at which to switch, each or not by chance; if empty, any.
    """

    def __init__(self, seed: int, longest: int, points: dict[str, tuple[int, ...]]) -> None:
        self._random = Generator(seed)
        self._scale = 1 << self._random.below((longest or _LONGEST).bit_length())
        self._points = points
        self._odds = 2 << self._random.below(3) if points else 1
        self._due = 0

    def next_question(self, baton: Baton, thread: ManagedThread) -> int:
        if self._points:
            times = self._points.get(thread.name, ())
            self._due = next((time for time in times if time > thread.time), NEVER)
        else:
            self._due = thread.time + 1 + self._random.below(2 * self._scale)
        return self._due

    def choose(self, baton: Baton, question: Question) -> ManagedThread:
        if not question.forced and (
            question.thread.time < self._due or (self._points and self._random.below(self._odds))
        ):
            return question.default
        return question.runnable[self._random.below(len(question.runnable))]
