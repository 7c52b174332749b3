"""What threads touched in a run, who touches the same thing next, and who else could have run."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import NamedTuple

MOST_OTHERS = 3  # threads that may come next


class Touch(NamedTuple):
    """A thread is about to touch something that other threads may see.

    Attributes:
        thread: which thread.
        time: its thread time.
        global_time: yield points passed by all threads.
        place: the key of the place, the same in every run.
        thing: the identity of the object (-1 if unknown) and which part of it.
        changes: whether the access may change it.
        held: the locks that the thread holds, those taken first at the front.
    """

    thread: str
    time: int
    global_time: int
    place: int
    thing: tuple[int, str]
    changes: bool
    held: tuple[int, ...] = ()


class Alternative(NamedTuple):
    """Another thread than by default could have run next: where one could not go on, or for the first time.

    Attributes:
        thread: who ran until then.
        time: its thread time.
        global_time: yield points passed by all threads.
        to: who could have run; ``thread`` itself if its sleep or time-out can end early.
        forced: ``thread`` could not go on.
    """

    thread: str
    time: int
    global_time: int
    to: str
    forced: bool = True


class Touched:
    """All touches of one thing, in chronological order."""

    def __init__(self, touches: Sequence[Touch]) -> None:
        self.touches = touches
        self._times = [touch.global_time for touch in touches]
        self._first: dict[str, Touch] = {}  # of each thread
        for touch in touches:
            self._first.setdefault(touch.thread, touch)
        self._next = list(range(1, len(touches) + 1))  # where that thread touches it no longer
        for number in reversed(range(len(touches) - 1)):
            if touches[number].thread == touches[number + 1].thread:
                self._next[number] = self._next[number + 1]

    def others(self, touch: Touch) -> list[Touch]:
        """One of each of some other threads than that of this touch: by who is next, then by the others."""
        found: dict[str, Touch] = {}
        most = min(MOST_OTHERS, len(self._first) - 1)
        number = bisect_right(self._times, touch.global_time)
        while number < len(self.touches) and len(found) < most:
            other = self.touches[number]
            if other.thread != touch.thread:
                found.setdefault(other.thread, other)
            number = self._next[number]
        for thread, other in self._first.items():
            if len(found) < most and thread != touch.thread:
                found.setdefault(thread, other)
        return list(found.values())
