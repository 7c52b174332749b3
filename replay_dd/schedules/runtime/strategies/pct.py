"""Priorities: random ones, with a few random points at which they change, or fixed ones."""

from __future__ import annotations

from ..baton.clock import NEVER_READY
from ..baton.strategy import Question, Strategy
from ..baton.thread import NEVER
from ..splitmix import Generator
from .random_points import draw_points

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from ..baton.baton import Baton
    from ..baton.thread import ManagedThread

_HIGHEST = 1 << 62
SHORT_SLEEPS = 5  # of each thread; the next ones may be those of a loop that waits for another thread


class ProbabilisticConcurrencyTesting(Strategy):
    """PCT (Burckhardt, Kothari, Musuvathi and Nagarakatte, ASPLOS 2010).

    Every thread gets a random priority, the ready one with the highest runs, and at ``depth`` - 1 random points the
    running thread falls below all others. Of a program of n threads and k steps this finds a bug of that depth with a
    probability of at least 1/(n * k^(depth-1)).

    The paper draws the points evenly over all steps of the run. Here a thread is drawn first, then one of its steps, so
    that the short threads of a program with a long one get their share.

    A sleep is a step like any other, and takes no time: otherwise all other threads would always come before its end.

    Args:
        seed: of all random choices.
        depth: the number of ordering constraints that the bug needs.
        thread_times: the yield points of each thread in some run before, an estimate of those of this one.
        points: the thread times at which priorities may change; if empty, any.
    """

    asks_at_operations = True

    def __init__(self, seed: int, depth: int, thread_times: dict[str, int], points: dict[str, tuple[int, ...]]) -> None:
        self._random = Generator(seed)
        self._changes = draw_points(self._random, depth - 1, thread_times, points)
        self._lowest = 0
        self._sleeps: dict[str, int] = {}

    def created(self, baton: Baton, thread: ManagedThread) -> None:
        thread.priority = 1 + self._random.next()

    def next_question(self, baton: Baton, thread: ManagedThread) -> int:
        times = self._changes.get(thread.name)
        return max(times[-1], thread.time + 1) if times else NEVER

    def choose(self, baton: Baton, question: Question) -> ManagedThread:
        thread = question.thread
        times = self._changes.get(thread.name)
        while times and times[-1] <= thread.time:
            times.pop()
            self._fall(thread)
        gives_way = question.default is not thread and not question.forced
        if gives_way or (thread.deadline is not None and not self._sleeps_shortly(thread)):
            # A thread that waits with a time-out, or polls, would otherwise keep all others from running.
            self._fall(thread)
        ready = [one for one in question.runnable if one.waiting is NEVER_READY or baton.is_ready(one)]
        return max(ready or [question.default], key=lambda candidate: candidate.priority)

    def _sleeps_shortly(self, thread: ManagedThread) -> bool:
        if thread.waiting is not NEVER_READY:
            return False
        self._sleeps[thread.name] = self._sleeps.get(thread.name, 0) + 1
        return self._sleeps[thread.name] <= SHORT_SLEEPS

    def _fall(self, thread: ManagedThread) -> None:
        self._lowest -= 1
        thread.priority = self._lowest


class LatestFirst(ProbabilisticConcurrencyTesting):
    """Once the main thread waits, later threads come before earlier ones."""

    def __init__(self) -> None:
        super().__init__(0, 1, {}, {})
        self._created = 0

    def created(self, baton: Baton, thread: ManagedThread) -> None:
        self._created += 1
        thread.priority = self._created
        baton.main.priority = _HIGHEST
