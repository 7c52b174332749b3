"""A few preemptions at random places."""

from __future__ import annotations

from ..baton.strategy import Question, Strategy
from ..baton.thread import NEVER
from ..splitmix import Generator
from .random_points import draw_points

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from ..baton.baton import Baton
    from ..baton.thread import ManagedThread


class BoundedPreemptions(Strategy):
    """The default schedule with a few preemptions at random places.

    Most concurrency bugs need one or two preemptions (Musuvathi and Qadeer, "Iterative Context Bounding for Systematic
    Testing of Multithreaded Programs", PLDI 2007), and a failure that needs one is the easiest to explain. A thread is
    drawn first, then one of its steps.

    Args:
        seed: of all random choices.
        preemptions: how many at most.
        thread_times: the yield points of each thread in some run before, an estimate of those of this one.
        points: the thread times at which to preempt; if empty, any.
    """

    def __init__(
        self, seed: int, preemptions: int, thread_times: dict[str, int], points: dict[str, tuple[int, ...]]
    ) -> None:
        self._random = Generator(seed)
        self._points = draw_points(self._random, preemptions, thread_times, points)

    def next_question(self, baton: Baton, thread: ManagedThread) -> int:
        times = self._points.get(thread.name)
        while times and times[-1] <= thread.time:
            times.pop()
        return times[-1] if times else NEVER

    def choose(self, baton: Baton, question: Question) -> ManagedThread:
        thread = question.thread
        times = self._points.get(thread.name)
        if question.forced or not times or thread.time < times[-1]:
            return question.default
        times.pop()
        others = [candidate for candidate in question.runnable if candidate is not thread]
        return others[self._random.below(len(others))] if others else question.default
