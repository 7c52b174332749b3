"""``time`` and ``datetime`` on the virtual clock.

Clocks are built-in functions, as the originals: extension modules that put theirs in the place of these (time-machine)
write into them without asking what they are. Without the accelerator they are functions of Python.
"""

from __future__ import annotations

import sys
import time
from _operator import index

from ..accelerator import accelerator
from ..baton.clock import NEVER_READY, Clock
from ..observing import is_a
from .replacing import names_of_class

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ..baton.scheduler import Scheduler

MONOTONIC_OFFSET_NS = 1_000_000_000_000


_replaced: list[object] = []


def sleep_replacement(clock: Clock, scheduler: Scheduler) -> Callable[[float], None]:
    """``time.sleep`` under the scheduler."""

    def sleep(seconds: float, /) -> None:
        wait_ns = _nanoseconds(seconds)
        if wait_ns < 0:
            raise ValueError("sleep length must be non-negative")
        frame = sys._getframe(1)
        deadline = clock.pass_moment() + wait_ns
        if wait_ns == 0:
            scheduler.operation(frame, gives_way=True)
        else:
            scheduler.operation(frame, NEVER_READY, deadline)

    return sleep


def replacements(clock: Clock) -> dict[str, Callable[..., object]]:
    """The functions of module ``time`` that read a clock, on virtual time."""
    real_localtime, real_gmtime, real_strftime = time.localtime, time.gmtime, time.strftime
    real_ctime, real_asctime = time.ctime, time.asctime
    real_gettime_ns = time.clock_gettime_ns
    dates = {getattr(time, name, None) for name in ("CLOCK_REALTIME", "CLOCK_TAI")}
    names = ("CLOCK_MONOTONIC", "CLOCK_MONOTONIC_RAW", "CLOCK_BOOTTIME", "CLOCK_HIGHRES", "CLOCK_UPTIME")
    monotonic = {getattr(time, name, None) for name in names}

    read = clock.read

    def monotonic_ns() -> int:
        return MONOTONIC_OFFSET_NS + read()

    def monotonic_s() -> float:
        return (MONOTONIC_OFFSET_NS + read()) / 1e9

    def clock_gettime_ns(clk_id: int, /) -> int:
        if clk_id in dates:
            return clock.read_date()
        if clk_id in monotonic:
            return monotonic_ns()
        real_gettime_ns(clk_id)  # there may be no such clock
        return clock.read()

    def now_s() -> float:
        return clock.read_date() / 1e9

    stand_ins: dict[str, Callable[..., object]] = {
        "time": now_s,
        "time_ns": clock.read_date,
        "monotonic": monotonic_s,
        "monotonic_ns": monotonic_ns,
        "perf_counter": monotonic_s,
        "perf_counter_ns": monotonic_ns,
        "process_time": lambda: clock.read() / 1e9,
        "process_time_ns": clock.read,
        "thread_time": lambda: clock.read() / 1e9,
        "thread_time_ns": clock.read,
        "clock_gettime": lambda clk_id, /: clock_gettime_ns(clk_id) / 1e9,
        "clock_gettime_ns": clock_gettime_ns,
        "localtime": lambda seconds=None, /: real_localtime(now_s() if seconds is None else seconds),
        "gmtime": lambda seconds=None, /: real_gmtime(now_s() if seconds is None else seconds),
        "ctime": lambda seconds=None, /: real_ctime(now_s() if seconds is None else seconds),
        "asctime": lambda moment=None, /: real_asctime(real_localtime(now_s()) if moment is None else moment),
        "strftime": lambda form, moment=None, /: real_strftime(
            form, real_localtime(now_s()) if moment is None else moment
        ),
    }
    return {name: _built_in(getattr(time, name), stand_in) or stand_in for name, stand_in in stand_ins.items()}


def adapt_datetime(clock: Clock, module: Any) -> None:
    """Let ``datetime.now`` and ``utcnow`` ask the virtual clock, which ``today`` does by itself through ``time``.

    What the program puts in the place of ``time.time`` does not count, as it does not otherwise: a clock that the
    program has frozen may itself ask these.

    They are written in C and ask the system.
    """
    class_ = module.datetime
    methods = names_of_class(class_)
    if "now" not in methods:
        return
    real_utcnow = methods["utcnow"].__get__(None, class_)
    utc = module.timezone.utc

    def now(cls: Any, tz: Any = None) -> Any:
        return cls.fromtimestamp(clock.read_date() / 1e9, tz)

    def utcnow(cls: Any) -> Any:
        real_utcnow()  # it may warn
        return cls.fromtimestamp(clock.read_date() / 1e9, utc).replace(tzinfo=None)

    # Nobody has looked these methods up yet; what the interpreter might still point to must stay.
    _replaced.extend((methods["now"], methods["utcnow"]))
    for name, function in (("now", now), ("utcnow", utcnow)):
        methods[name] = _built_in(methods[name], function) or classmethod(function)


def _built_in(original: object, stand_in: Callable[..., object]) -> Any:
    """A built-in function, or method of a class, that calls another function; None where there can be none."""
    return None if accelerator is None else accelerator.built_in(original, stand_in)


def _nanoseconds(seconds: float) -> int:
    if is_a(seconds, float):
        return int(float.__float__(seconds) * 1_000_000_000)
    return index(seconds) * 1_000_000_000  # type: ignore[arg-type]
