"""Lets all threads come to an access of some kind before any of them makes it; then they go on in turn.

Many bugs need no more than that two threads do the same at the same time: each has looked at something when the other
changes it. The strategy needs to know nothing about the program, so it can be the first run of a hunt.
"""

from __future__ import annotations

from ..baton.strategy import Question, Strategy

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..baton.baton import Baton
    from ..baton.thread import ManagedThread

    About = Sequence[tuple[int, str, bool]]  # the number of an object, what of it, whether that may be changed

CHANGES, ANY = 0, 1  # before which accesses threads stop; both of them before locks, too
_STARTING = 100  # yield points within which who started a thread is expected to start the next
_MOST_IN_ONE_GO = 500  # yield points, after which another thread goes on: this one may wait for it in a loop
_STEP_BY_STEP = 500  # yield points of each thread; from there on, it stops only at the visits of places that are noted
_FURTHEST = 3  # accesses that the first thread makes at a time, where threads are uneven
_MOST_STOPS = 5_000  # of all threads, while another one could run; from there on, the run goes on by default


class Abreast(Strategy):
    """Stops each thread before accesses, until all have stopped or wait; then lets the one go on that stopped first.

    Args:
        before: before which accesses: :data:`CHANGES` or :data:`ANY`.
        latest: who was started last comes first; otherwise who runs goes on, and then who was started first.
        uneven: let the threads that were started first go further at a time than the others.
    """

    def __init__(self, before: int, latest: bool = False, uneven: bool = False) -> None:
        self._before = before
        self._uneven = uneven
        self._passes_left: dict[str, int] = {}
        self._latest = latest
        self._starts_until: dict[str, int] = {}
        self._stopped: dict[str, None] = {}  # in the order in which they did
        self._times = 0
        self._went_on_at: dict[str, int] = {}  # thread times
        self._at_access = False

    def created(self, baton: Baton, thread: ManagedThread) -> None:
        starter = thread.name.rpartition(".")[0]
        self._starts_until.update((one.name, one.time + _STARTING) for one in baton.threads if one.name == starter)

    def next_question(self, baton: Baton, thread: ManagedThread) -> int:
        further = 1 if thread.time < _STEP_BY_STEP else _MOST_IN_ONE_GO
        return max(self._starts_until.get(thread.name, 0), thread.time + further)

    def about_to(self, touches: About) -> None:
        """The thread that is asked about next is going to touch this."""
        if self._before == CHANGES:
            self._at_access = any(changes for _, _, changes in touches)
        else:
            self._at_access = any(True for _ in touches)

    def choose(self, baton: Baton, question: Question) -> ManagedThread:
        thread = question.thread
        at_access, self._at_access = self._at_access, False
        if question.forced:
            self._starts_until.pop(thread.name, None)
        elif thread.time < self._starts_until.get(thread.name, 0):
            return question.default
        if self._times >= _MOST_STOPS:
            return question.default
        gives_way = question.default is not thread
        if self._stops_here(question, at_access) or (gives_way and not question.forced):
            self._stopped[thread.name] = None
        elif not gives_way:
            return thread
        chosen = self._next(baton, question)
        if gives_way and chosen is thread:
            chosen = question.default
        self._stopped.pop(chosen.name, None)
        self._went_on_at[chosen.name] = chosen.time
        return chosen

    def _stops_here(self, question: Question, at_access: bool) -> bool:
        thread = question.thread
        if at_access and self._passes_left.get(thread.name, 0):
            self._passes_left[thread.name] -= 1
        elif at_access:
            if self._uneven:
                self._passes_left[thread.name] = max(0, _FURTHEST - thread.path[-1])
            self._times += len(question.runnable) > 1
            return True
        return thread.time - self._went_on_at.get(thread.name, 0) >= _MOST_IN_ONE_GO

    def _next(self, baton: Baton, question: Question) -> ManagedThread:
        runnable = question.runnable
        free = [one for one in runnable if one.name not in self._stopped and baton.is_ready(one)]
        if free and self._latest:
            return free[-1]
        if free:
            return question.default if question.default in free else free[0]
        by_name = {one.name: one for one in runnable if one.name in self._stopped}
        stopped = [by_name[name] for name in self._stopped if name in by_name]
        if not stopped:
            return question.default
        return self._preferred(stopped)

    def _preferred(self, stopped: list[ManagedThread]) -> ManagedThread:
        """Who goes on of those that have stopped, who did so first at the front."""
        return stopped[0]
