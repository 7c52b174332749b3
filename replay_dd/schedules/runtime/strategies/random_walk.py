"""Switches at random distances, to random threads."""

from __future__ import annotations

from ..baton.strategy import Question, Strategy
from ..splitmix import Generator

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from ..baton.baton import Baton
    from ..baton.thread import ManagedThread


class RandomWalk(Strategy):
    """Switches to a random ready thread after a random number of yield points.

    The mean distance of switches is itself drawn from the seed, between 1 and 4,096 yield points: some runs then
    switch nearly everywhere, some only a few times, and races of every width are met.
    """

    def __init__(self, seed: int) -> None:
        self._random = Generator(seed)
        self._scale = 1 << self._random.below(13)
        self._due = 0

    def next_question(self, baton: Baton, thread: ManagedThread) -> int:
        self._due = thread.time + 1 + self._random.below(2 * self._scale)
        return self._due

    def choose(self, baton: Baton, question: Question) -> ManagedThread:
        if not question.forced and question.thread.time < self._due:
            return question.default
        return question.runnable[self._random.below(len(question.runnable))]
