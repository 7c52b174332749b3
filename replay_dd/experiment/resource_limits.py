"""The limits of resources under which a program runs: the same in each run, as far as the system allows it.

Rules of this module:

* The limit of the stack decides where the system puts libraries and the stacks of threads (and "unlimited" puts them
  elsewhere altogether), so it moves what is compared by its address: classes, functions in C. It counts when the
  program starts, so it is set in this process for that long. All others are set once the program has started.
* Only soft limits are kept: what a program is given, not what it may ask for. A hard limit below one is not exceeded.
"""

from __future__ import annotations

import contextlib
import resource
import threading
from collections.abc import Iterator, Mapping

UNLIMITED = -1
STACK = "stack"
_KINDS = {
    STACK: resource.RLIMIT_STACK,
    "open_files": resource.RLIMIT_NOFILE,
    "file_size": resource.RLIMIT_FSIZE,
    "data": resource.RLIMIT_DATA,
    "address_space": resource.RLIMIT_AS,
}
NAMES = tuple(_KINDS)

_setting = threading.Lock()  # the limits of this process belong to all its threads


def current() -> dict[str, int]:
    """The soft limits of this process, in bytes or numbers of files; UNLIMITED where there is none."""
    return {name: _plain(resource.getrlimit(kind)[0]) for name, kind in _KINDS.items()}


def out_of_reach(wanted: Mapping[str, int]) -> dict[str, int]:
    """The limits that are wanted higher than this process may raise them, and how high it may."""
    hard = {name: _plain(resource.getrlimit(_KINDS[name])[1]) for name in wanted}
    return {name: hard[name] for name, limit in wanted.items() if _clamped(limit, hard[name]) != limit}


@contextlib.contextmanager
def at_start(wanted: Mapping[str, int]) -> Iterator[None]:
    """Set what counts when a program starts, for as long as this block starts one."""
    if STACK not in wanted:
        yield
        return
    with _setting:
        soft, hard = resource.getrlimit(resource.RLIMIT_STACK)
        resource.setrlimit(resource.RLIMIT_STACK, (_of_system(_clamped(wanted[STACK], _plain(hard))), hard))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_STACK, (soft, hard))


def set_for(process: int, wanted: Mapping[str, int]) -> None:
    """Set the other limits of a process that has started."""
    for name, limit in wanted.items():
        with contextlib.suppress(OSError, ValueError):  # it has ended, or belongs to somebody else now
            soft, hard = resource.prlimit(process, _KINDS[name])
            now = _clamped(limit, _plain(hard))
            if now != _plain(soft):
                resource.prlimit(process, _KINDS[name], (_of_system(now), hard))


def _plain(limit: int) -> int:
    return UNLIMITED if limit == resource.RLIM_INFINITY else limit


def _of_system(limit: int) -> int:
    return resource.RLIM_INFINITY if limit == UNLIMITED else limit


def _clamped(limit: int, hard: int) -> int:
    """The nearest limit that is allowed."""
    if hard == UNLIMITED:
        return limit
    return hard if limit == UNLIMITED else min(limit, hard)
