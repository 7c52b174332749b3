"""The times of files on the virtual clock, as programs compare them with each other.

Rules of this module:

* Only files that change during the run get other times: when the virtual clock stood at the moment of the change. All
  others keep theirs, also if they changed after the date at which the clock starts (as the log is replayed later):
  caches keep them for other processes.
* A later time never gets an earlier one. A time that was told once is told again.
* Between two jumps of the virtual clock, whatever changes has one time: how much real time passes in between, and
  whether the system's clock ticks, is a matter of luck. What changes after the program has looked at such a time is
  later, though: else the program would miss it.
* The system stamps files with a clock that ticks every few milliseconds. What changes before and after such a moment
  would get one time if both came within a tick. So where the program has opened a file for writing, or has looked, it
  waits for the next tick; a few times only, as long as the program has not looked at such times.
* What the program itself sets stays as it is, and what child processes see is the system's.
* The import system asks for real times, as it compares them with those in the bytecode that it keeps.
"""

from __future__ import annotations

import os
import sys
import time
from bisect import bisect_left, bisect_right

from ..accelerator import accelerator
from ..accelerator.own_memory import use_own
from .replacing import names_of_class

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType
    from typing import Any

    from ..baton.clock import Clock

_APART_NS = 1_000  # between two times that differ: what a float of seconds since 1970 can still tell apart
_MOMENT_NS = 1_000_000  # readings of the clock that take no longer than that belong to the last jump
_WAITS_UNASKED = 20
_MOST_WAITS = 1_000
_COARSE = 5  # CLOCK_REALTIME_COARSE, which file systems ask; module `time` has no name for it
# Functions of `os.path` and methods of `pathlib.Path` that look at no times; the program's own of these names may.
_ONLY_ASK_WHETHER = frozenset(
    ("exists", "lexists", "isfile", "isdir", "islink", "getsize", "is_file", "is_dir", "is_symlink")
)
_OF_PATHS = ("genericpath", "posixpath", "pathlib")
_TICK_S = 0.0005  # how long a look for the next tick waits; a tick takes 1 to 10 milliseconds
_LOOKS = 100

# Taken before the program, or the runtime, puts others in their place.
_stat, _utime = os.stat, os.utime
_date_ns, _real_time_ns, _real_sleep = time.clock_gettime_ns, time.time_ns, time.sleep
_BEFORE_TIMES = ("st_mode", "st_ino", "st_dev", "st_nlink", "st_uid", "st_gid", "st_size")
_FURTHER = [name for name in dir(os.stat_result) if name.startswith("st_") and name not in _BEFORE_TIMES]


class FileTimes:
    """When files have changed, by the virtual clock.

    Args:
        clock: the virtual clock.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._began_ns = _real_time_ns()
        # Files that change from a moment on, by the system's clock, have changed when the virtual one stood there.
        self._from = [self._began_ns]
        self._virtual = [0]
        self._may_change = False  # whether a file was opened for writing since the last jump
        self._last_change_ns = 0  # the last jump that came after such an opening, by the system's clock
        self._waits = 0
        self._is_asked = False  # whether the program has looked at the time of a file that changed during the run
        self._is_looked_at = False  # or even of one that has changed since the clock stands where it does
        self._real: list[int] = []  # the system's times that were told, sorted
        self._told: list[int] = []  # and as what
        self._set: set[int] = set()

    @property
    def unchanged_s(self) -> int:
        """Files that have not changed since are of no interest, in whole seconds since 1970."""
        return self._began_ns // 1_000_000_000

    def about_to_change(self) -> None:
        """The program is about to open a file for writing, or to change one in another way."""
        before = use_own(True)
        if self._is_looked_at or self._clock.now_ns - self._virtual[-1] >= _MOMENT_NS:
            self._begin_moment()
        self._may_change = True
        use_own(before)

    def _begin_moment(self) -> None:
        """What changes from now on has changed at what the clock shows now."""
        tick = _tick()
        if self._may_change:
            self._last_change_ns = _real_time_ns()
            if self._waits < (_MOST_WAITS if self._is_asked else _WAITS_UNASKED):
                self._waits += 1
                tick = _tick_after(self._last_change_ns)
        later_ns = self._virtual[-1] + _APART_NS if self._is_looked_at else 0
        self._stands_from(max(tick, self._last_change_ns + 1), max(self._clock.now_ns, later_ns))
        self._may_change = self._is_looked_at = False

    def _stands_from(self, real_ns: int, virtual_ns: int) -> None:
        while len(self._from) > 1 and self._from[-1] >= real_ns:
            self._from.pop()
            self._virtual.pop()
        self._from.append(real_ns)
        self._virtual.append(virtual_ns)

    def virtual(self, real_ns: int) -> int:
        """What the program is told for a time of the system's, both in nanoseconds since 1970."""
        if real_ns < self._began_ns or real_ns in self._set or real_ns > _real_time_ns():
            return real_ns
        place = bisect_left(self._real, real_ns)
        if self._real[place : place + 1] != [real_ns]:
            self._real.insert(place, real_ns)
            stood_ns = self._clock.start_ns + self._virtual[bisect_right(self._from, real_ns) - 1]
            self._told.insert(place, self._between(place, stood_ns))
        return self._told[place]

    def _between(self, place: int, wanted_ns: int) -> int:
        """A time not before that of the file that changed before, and not after that of the one that changed next."""
        earliest = self._told[place - 1] if place else wanted_ns
        latest = self._told[place] if place < len(self._told) else wanted_ns
        return max(min(wanted_ns, latest), earliest)

    def told(self, result: Any) -> Any:
        """What ``os.stat`` gives the program, for what the system has given."""
        before = use_own(True)
        real = (result.st_atime_ns, result.st_mtime_ns, result.st_ctime_ns)
        changed_ns = max(real[1:])  # whether the system notes that a file was read depends on when it was read before
        if changed_ns >= self._began_ns and not _only_asks_whether(sys._getframe(1)):
            self._is_asked = True
            self._is_looked_at = self._is_looked_at or changed_ns >= self._from[-1]
        times = [self.virtual(ns) for ns in real]
        use_own(before)
        fields = {name: getattr(result, name) for name in _FURTHER}
        for name, ns in zip(("st_atime", "st_mtime", "st_ctime"), times, strict=True):
            fields[name], fields[name + "_ns"] = ns // 1_000_000_000 + 1e-9 * (ns % 1_000_000_000), ns
        return type(result)((*result[: len(_BEFORE_TIMES)], *(ns // 1_000_000_000 for ns in times)), fields)

    def replacements(self) -> dict[str, Any]:
        """The functions of ``os`` that tell or set times of files; from now on, the clock tells of its jumps."""
        self._clock.jumped = self._begin_moment
        stand_ins = {name: self._telling(getattr(os, name)) for name in ("stat", "lstat", "fstat")}

        def utime(path: Any, times: Any = None, **options: Any) -> None:
            self._set_times(path, times, options)

        return {**stand_ins, "utime": _built_in(_utime, utime)}

    def _telling(self, original: Callable[..., Any]) -> Any:
        if accelerator is not None:
            found = accelerator.changed_since(original, self.unchanged_s, self.told)
            return accelerator.built_in(original, found) or found

        def stat(*arguments: Any, **options: Any) -> Any:
            return self.told(original(*arguments, **options))

        return stat

    def _set_times(self, path: Any, times: Any, options: dict[str, Any]) -> None:
        self.about_to_change()
        _utime(path, times, **options)
        if times is None and options.get("ns") is None:
            return
        before = use_own(True)
        try:
            result = _stat(path, **{name: value for name, value in options.items() if name != "ns"})
            self._set.update((result.st_atime_ns, result.st_mtime_ns))
        except OSError:
            pass  # another process has removed it meanwhile
        use_own(before)

    def adapt(self) -> None:
        """Let entries of folders tell the same, and the import system ask for real times."""
        import _frozen_importlib_external

        _frozen_importlib_external._path_stat = _stat  # type: ignore[attr-defined]
        for functions in (os.supports_dir_fd, os.supports_fd, os.supports_follow_symlinks):
            functions.update([now for original, now in ((_stat, os.stat), (_utime, os.utime)) if original in functions])
        methods, told = names_of_class(os.DirEntry), self.told
        real_stat: Any = methods.get("stat")

        def stat(self: Any, *, follow_symlinks: bool = True) -> Any:
            return told(real_stat(self, follow_symlinks=follow_symlinks))

        if real_stat is not None:
            methods["stat"] = stat


def _only_asks_whether(frame: FrameType) -> bool:
    callers = (frame, frame.f_back)  # methods of paths call another one
    return any(
        caller is not None
        and caller.f_code.co_name in _ONLY_ASK_WHETHER
        and str(caller.f_globals.get("__name__")).partition(".")[0] in _OF_PATHS
        for caller in callers
    )


def _built_in(original: Any, stand_in: Callable[..., Any]) -> Any:
    return stand_in if accelerator is None else accelerator.built_in(original, stand_in) or stand_in


def _tick() -> int:
    return _date_ns(_COARSE)


def _tick_after(moment_ns: int) -> int:
    for _ in range(_LOOKS):
        if _tick() > moment_ns:
            break
        _real_sleep(_TICK_S)
    return _tick()
