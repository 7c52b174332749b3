"""Strategies: who decides where the baton goes.

A strategy is a small object. It says in advance at which thread time it wants to be asked next
(:meth:`Strategy.next_question`), so that all yield points before cost one comparison; it is asked there, and at every
forced choice (:meth:`Strategy.choose`). Replaying a schedule is one more strategy. Randomness is a seeded generator
of the strategy's own, so the same seed gives the same choices.
"""

from __future__ import annotations

from .channel import SKIPPED
from .managed import NEVER

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from .managed import ManagedThread, Place
    from .scheduler import Scheduler


class Question:
    """What a strategy is asked.

    Attributes:
        thread: who runs now.
        runnable: who can run next; ``thread`` among them, unless it cannot go on.
        default: whom the default schedule chooses.
        forced: whether ``thread`` cannot go on.
        place: where ``thread`` stands, if that is known.
    """

    __slots__ = ("default", "forced", "place", "runnable", "thread")

    def __init__(
        self,
        thread: ManagedThread,
        runnable: list[ManagedThread],
        default: ManagedThread,
        forced: bool,
        place: Place | None = None,
    ) -> None:
        self.thread = thread
        self.runnable = runnable
        self.default = default
        self.forced = forced
        self.place = place


class Strategy:
    """The default schedule: run a thread until it blocks or ends, then the next ready one."""

    asks_at_operations = False  # whether to be asked at every operation on a lock, whatever next_question said

    def created(self, scheduler: Scheduler, thread: ManagedThread) -> None:
        """A thread was started."""

    def next_question(self, scheduler: Scheduler, thread: ManagedThread) -> int:
        """The thread time of ``thread``, which runs now, at which to be asked next."""
        return NEVER

    def choose(self, scheduler: Scheduler, question: Question) -> ManagedThread:
        """Who runs next: the default or one of the runnable threads."""
        return question.default


class Replay(Strategy):
    """Follows triggers; where there is none, or its target cannot run, the default schedule goes on.

    Args:
        triggers: (thread, thread time, target thread) each.
    """

    def __init__(self, triggers: list[tuple[str, int, str]]) -> None:
        self._targets = {(thread, time): to for thread, time, to in triggers}
        self._times: dict[str, list[int]] = {}
        for thread, time, _ in sorted(triggers, key=lambda trigger: -trigger[1]):
            self._times.setdefault(thread, []).append(time)

    def next_question(self, scheduler: Scheduler, thread: ManagedThread) -> int:
        times = self._times.get(thread.name)
        while times and times[-1] <= thread.time:
            times.pop()
        return times[-1] if times else NEVER

    def choose(self, scheduler: Scheduler, question: Question) -> ManagedThread:
        thread = question.thread
        target = self._targets.get((thread.name, thread.time))
        if target is None:
            return question.default
        for candidate in question.runnable:
            if candidate.name == target:
                return candidate
        scheduler.send(SKIPPED, thread.name, thread.time, target)
        return question.default


class Generator:
    """A small random number generator (SplitMix64: Steele, Lea and Flood, OOPSLA 2014)."""

    def __init__(self, seed: int) -> None:
        self._state = seed & 0xFFFFFFFFFFFFFFFF

    def next(self) -> int:
        """A number of 64 bits."""
        self._state = (self._state + 0x9E3779B97F4A7C15) & 0xFFFFFFFFFFFFFFFF
        value = self._state
        value = ((value ^ (value >> 30)) * 0xBF58476D1CE4E5B9) & 0xFFFFFFFFFFFFFFFF
        value = ((value ^ (value >> 27)) * 0x94D049BB133111EB) & 0xFFFFFFFFFFFFFFFF
        return value ^ (value >> 31)

    def below(self, limit: int) -> int:
        """A number from 0 to ``limit`` - 1."""
        return self.next() % limit


class RandomWalk(Strategy):
    """Switches to a random ready thread after a random number of yield points.

    The mean distance of switches is itself drawn from the seed, between 1 and 4,096 yield points: some runs then
    switch nearly everywhere, some only a few times, and races of every width are met.
    """

    def __init__(self, seed: int) -> None:
        self._random = Generator(seed)
        self._scale = 1 << self._random.below(13)
        self._due = 0

    def next_question(self, scheduler: Scheduler, thread: ManagedThread) -> int:
        self._due = thread.time + 1 + self._random.below(2 * self._scale)
        return self._due

    def choose(self, scheduler: Scheduler, question: Question) -> ManagedThread:
        if not question.forced and question.thread.time < self._due:
            return question.default
        return question.runnable[self._random.below(len(question.runnable))]


class BoundedPreemptions(Strategy):
    """The default schedule with a few preemptions at random places.

    Most concurrency bugs need one or two preemptions (Musuvathi and Qadeer, "Iterative Context Bounding for Systematic
    Testing of Multithreaded Programs", PLDI 2007), and a failure that needs one is the easiest to explain. A thread is
    drawn first, then one of its steps.

    Args:
        seed: of all random choices.
        preemptions: how many at most.
        thread_times: the yield points of each thread in some run before, an estimate of those of this one.
    """

    def __init__(self, seed: int, preemptions: int, thread_times: dict[str, int]) -> None:
        self._random = Generator(seed)
        self._points = draw_points(self._random, preemptions, thread_times)

    def next_question(self, scheduler: Scheduler, thread: ManagedThread) -> int:
        times = self._points.get(thread.name)
        while times and times[-1] <= thread.time:
            times.pop()
        return times[-1] if times else NEVER

    def choose(self, scheduler: Scheduler, question: Question) -> ManagedThread:
        thread = question.thread
        times = self._points.get(thread.name)
        if question.forced or not times or thread.time < times[-1]:
            return question.default
        times.pop()
        others = [candidate for candidate in question.runnable if candidate is not thread]
        return others[self._random.below(len(others))] if others else question.default


def draw_points(random: Generator, amount: int, thread_times: dict[str, int]) -> dict[str, list[int]]:
    """Draw places in a run: for each thread the thread times, the latest first; a thread first, then a time."""
    threads = [(name, time) for name, time in sorted(thread_times.items()) if time > 0]
    points: dict[str, list[int]] = {}
    for _ in range(amount if threads else 0):
        name, time = threads[random.below(len(threads))]
        points.setdefault(name, []).append(1 + random.below(time))
    for times in points.values():
        times.sort(reverse=True)
    return points


class ProbabilisticConcurrencyTesting(Strategy):
    """PCT (Burckhardt, Kothari, Musuvathi and Nagarakatte, ASPLOS 2010).

    Every thread gets a random priority, the ready one with the highest runs, and at ``depth`` - 1 random points the
    running thread falls below all others. Of a program of n threads and k steps this finds a bug of that depth with a
    probability of at least 1/(n * k^(depth-1)).

    The paper draws the points evenly over all steps of the run. Here a thread is drawn first, then one of its steps, so
    that the short threads of a program with a long one get their share.

    Args:
        seed: of all random choices.
        depth: the number of ordering constraints that the bug needs.
        thread_times: the yield points of each thread in some run before, an estimate of those of this one.
    """

    asks_at_operations = True

    def __init__(self, seed: int, depth: int, thread_times: dict[str, int]) -> None:
        self._random = Generator(seed)
        self._changes = draw_points(self._random, depth - 1, thread_times)
        self._lowest = 0

    def created(self, scheduler: Scheduler, thread: ManagedThread) -> None:
        thread.priority = 1 + self._random.next()

    def next_question(self, scheduler: Scheduler, thread: ManagedThread) -> int:
        times = self._changes.get(thread.name)
        return max(times[-1], thread.time + 1) if times else NEVER

    def choose(self, scheduler: Scheduler, question: Question) -> ManagedThread:
        thread = question.thread
        times = self._changes.get(thread.name)
        while times and times[-1] <= thread.time:
            times.pop()
            self._fall(thread)
        gives_way = question.default is not thread and not question.forced
        if thread.deadline is not None or gives_way:
            # A thread that sleeps or waits with a time-out would otherwise keep all others from running.
            self._fall(thread)
        ready = [candidate for candidate in question.runnable if scheduler.is_ready(candidate)] or [question.default]
        return max(ready, key=lambda candidate: candidate.priority)

    def _fall(self, thread: ManagedThread) -> None:
        self._lowest -= 1
        thread.priority = self._lowest


def make_strategy(
    name: str, options: dict[str, int], thread_times: dict[str, int], triggers: list[tuple[str, int, str]]
) -> Strategy:
    """The strategy that a request names."""
    if name == "replay":
        return Replay(triggers)
    if name == "random":
        return RandomWalk(options["seed"])
    if name == "bounded":
        return BoundedPreemptions(options["seed"], options["preemptions"], thread_times)
    if name == "pct":
        return ProbabilisticConcurrencyTesting(options["seed"], options["depth"], thread_times)
    return Strategy()
