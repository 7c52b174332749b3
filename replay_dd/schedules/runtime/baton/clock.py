"""The virtual clock of the target.

It starts at a recorded date and advances only by what the program does: each reading takes a little, and it jumps to
the next deadline when every thread waits. So a timeout is a matter of the schedule. Real time counts only while every
thread waits for something outside: what that took is in the log.

On request (``--real-clock``) programs read the real clock. The virtual one then only orders deadlines, and
moments.py records when they passed.
"""

from __future__ import annotations

import time

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from collections.abc import Callable

READING_NS = 10_000  # what one reading of the clock takes, so that loops that wait for a time end
NO_ALARM = 1 << 62

real_clock_ns = time.monotonic_ns  # before the runtime puts its own in place


class Clock:
    """Virtual time in nanoseconds since the program started.

    Args:
        start_ns: the date at the start, in nanoseconds since 1970.
    """

    def __init__(self, start_ns: int) -> None:
        self.start_ns = start_ns
        self.now_ns = 0
        self.jumped_ns = 0  # how much of that it has jumped
        self.alarm_ns = NO_ALARM
        self.ring: Callable[[], None] = lambda: None  # called when the time of the alarm has come
        self.jumped: Callable[[], None] = lambda: None  # called when it has jumped
        self.readings = 0  # how often somebody has asked what time it is

    def read(self) -> int:
        """Virtual nanoseconds since the start; reading takes a moment."""
        self.readings += 1
        return self.pass_moment()

    def pass_moment(self) -> int:
        """As :meth:`read`, for a call whose caller does not learn the time."""
        self.now_ns += READING_NS
        if self.now_ns >= self.alarm_ns:
            self.ring()
        return self.now_ns

    def read_date(self) -> int:
        """Virtual nanoseconds since 1970."""
        return self.start_ns + self.read()

    def jump_to(self, deadline_ns: int) -> None:
        """All wait, or the schedule wants it: let the time until a deadline pass."""
        if deadline_ns > self.now_ns:
            self.jumped_ns += deadline_ns - self.now_ns
            self.now_ns = deadline_ns
            self.jumped()
        if self.now_ns >= self.alarm_ns:
            self.ring()

    def pass_by(self, duration_ns: int) -> None:
        """So much real time has passed while all waited for something outside; not a choice of the schedule."""
        if duration_ns:
            self.now_ns += duration_ns
            self.jumped()
        if self.now_ns >= self.alarm_ns:
            self.ring()


class _Never:
    """What a sleeping thread waits for: only its deadline wakes it."""

    def ready_for(self, thread: object) -> bool:
        return False

    def explain(self) -> str:
        return "sleeps"


NEVER_READY = _Never()
