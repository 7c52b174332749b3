"""The virtual clock of the target.

It starts at a recorded moment and moves only by what the program does: each reading takes a little, and it jumps to
the next deadline when every thread waits. Real time plays no part, so a time-out is a matter of the schedule.
"""

from __future__ import annotations

import sys
import time

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from collections.abc import Callable

    from .scheduler import Scheduler

READING_NS = 10_000  # what one reading of the clock takes, so that loops that wait for a time end
NO_ALARM = 1 << 62
_MONOTONIC_OFFSET_NS = 1_000_000_000_000


class Clock:
    """Virtual time in nanoseconds since the program started.

    Args:
        start_ns: the date at the start, in nanoseconds since 1970.
    """

    def __init__(self, start_ns: int) -> None:
        self.start_ns = start_ns
        self.now_ns = 0
        self.alarm_ns = NO_ALARM
        self.ring: Callable[[], None] = lambda: None  # called when the time of the alarm has come

    def read(self) -> int:
        """Virtual nanoseconds since the start; reading takes a moment."""
        self.now_ns += READING_NS
        if self.now_ns >= self.alarm_ns:
            self.ring()
        return self.now_ns

    def jump_to(self, deadline_ns: int) -> None:
        """All wait, or the schedule wants it: let the time until a deadline pass."""
        self.now_ns = max(self.now_ns, deadline_ns)
        if self.now_ns >= self.alarm_ns:
            self.ring()


class _Never:
    """What a sleeping thread waits for: only its deadline wakes it."""

    def ready_for(self, thread: object) -> bool:
        return False

    def explain(self) -> str:
        return "sleeps"


NEVER_READY = _Never()


def replacements(clock: Clock, scheduler: Scheduler) -> dict[str, Callable[..., object]]:
    """The functions of module ``time`` that read the clock or wait, on virtual time."""
    real_localtime, real_gmtime, real_strftime = time.localtime, time.gmtime, time.strftime
    real_ctime, real_asctime = time.ctime, time.asctime

    def date_ns() -> int:
        return clock.start_ns + clock.read()

    def monotonic_ns() -> int:
        return _MONOTONIC_OFFSET_NS + clock.read()

    def sleep(seconds: float, /) -> None:
        wait_ns = _nanoseconds(seconds)
        if wait_ns < 0:
            raise ValueError("sleep length must be non-negative")
        frame = sys._getframe(1)
        deadline = clock.read() + wait_ns
        if wait_ns == 0:
            scheduler.operation(frame, gives_way=True)
        else:
            scheduler.operation(frame, NEVER_READY, deadline)

    def now_s() -> float:
        return date_ns() / 1e9

    return {
        "time": now_s,
        "time_ns": date_ns,
        "monotonic": lambda: monotonic_ns() / 1e9,
        "monotonic_ns": monotonic_ns,
        "perf_counter": lambda: monotonic_ns() / 1e9,
        "perf_counter_ns": monotonic_ns,
        "sleep": sleep,
        "localtime": lambda seconds=None, /: real_localtime(now_s() if seconds is None else seconds),
        "gmtime": lambda seconds=None, /: real_gmtime(now_s() if seconds is None else seconds),
        "ctime": lambda seconds=None, /: real_ctime(now_s() if seconds is None else seconds),
        "asctime": lambda moment=None, /: real_asctime(real_localtime(now_s()) if moment is None else moment),
        "strftime": lambda form, moment=None, /: real_strftime(
            form, real_localtime(now_s()) if moment is None else moment
        ),
    }


def _nanoseconds(seconds: float) -> int:
    if isinstance(seconds, str) or (not hasattr(seconds, "__float__") and not hasattr(seconds, "__index__")):
        raise TypeError(f"'{type(seconds).__name__}' object cannot be interpreted as an integer")
    return int(seconds * 1_000_000_000)
