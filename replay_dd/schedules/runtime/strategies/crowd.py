"""Starts all threads first, then switches nearly everywhere."""

from __future__ import annotations

from ..baton.strategy import Question, Strategy
from ..splitmix import Generator

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from ..baton.baton import Baton
    from ..baton.thread import ManagedThread

_STARTING = 100  # yield points within which who started a thread is expected to start the next
_DENSE = 5_000  # choices; after as many, the mean distance between them doubles


class Crowd(Strategy):
    """Lets whoever starts threads go on until all are started, then draws a thread at every yield point.

    It needs to know nothing about the program, so it can be the first run. The longer the run, the less it switches.

    Args:
        seed: of all random choices.
    """

    def __init__(self, seed: int) -> None:
        self._random = Generator(seed)
        self._furthest = 1
        self._choices = 0
        self._starts_until: dict[str, int] = {}

    def created(self, baton: Baton, thread: ManagedThread) -> None:
        starter = thread.name.rpartition(".")[0]
        self._starts_until.update((one.name, one.time + _STARTING) for one in baton.threads if one.name == starter)

    def next_question(self, baton: Baton, thread: ManagedThread) -> int:
        return max(self._starts_until.get(thread.name, 0), thread.time + 1 + self._random.below(self._furthest))

    def choose(self, baton: Baton, question: Question) -> ManagedThread:
        thread = question.thread
        if question.forced:
            self._starts_until.pop(thread.name, None)
        elif thread.time < self._starts_until.get(thread.name, 0):
            return question.default
        self._choices += 1
        if self._choices % _DENSE == 0:
            self._furthest *= 2
        return question.runnable[self._random.below(len(question.runnable))]
