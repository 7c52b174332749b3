"""Notes whether a test has threads: whether it starts some, or others that were there before ran beside it.

Rules of this module:

* Python 3.11 has no audit event for the start of a thread.
* A thread that was asleep all the time did not meet the test: that of a server to which it did not talk, or one that an
  earlier test has left behind. Where the system does not tell, a thread counts as one that ran.
* A test may have put others in the place of files: what looks at threads was bound when this module was loaded.
"""

from __future__ import annotations

import _thread
import threading
from collections.abc import Callable
from os import O_RDONLY, close, open, read
from threading import enumerate as running_threads
from typing import Any
from weakref import WeakSet

# How `threading` starts threads, in one version or another, and everyone else.
_WHERE = (
    (threading, "_start_new_thread"),
    (threading, "_start_joinable_thread"),
    (_thread, "start_new_thread"),
    (_thread, "start_joinable_thread"),
)
_TIMEOUT = "pytest_timeout"  # limits tests by threads of its own, where it is told to, or signals cannot be had
_RUNNABLE = b"R"
_MOST_BYTES = 4096


class ThreadWatch:
    """Stands before the functions that start threads.

    Attributes:
        started: whether one was called since the test has begun.
    """

    def __init__(self) -> None:
        self.started = False
        self._of_pytest: WeakSet[threading.Thread] = WeakSet()
        self._progress: dict[threading.Thread, bytes] = {}
        self._real = [(module, name, getattr(module, name)) for module, name in _WHERE if hasattr(module, name)]
        for module, name, real in self._real:
            setattr(module, name, self._noting(real))

    def leave_out(self) -> None:
        """From now on, threads that run at the moment are none of a test's business: those of plugins, of workers."""
        self._of_pytest.update(running_threads())

    def begin(self) -> None:
        """A test begins."""
        self.started = False
        self._progress = {thread: _progress(thread) for thread in self._others()}

    def others_ran(self) -> bool:
        """Whether other threads ran since the test has begun, or are about to."""
        now = self._others()
        ended = self._progress.keys() - now
        return bool(ended) or any(map(self._ran, now))

    def _ran(self, thread: threading.Thread) -> bool:
        before = self._progress.get(thread)
        return not before or _progress(thread) != before or _is_runnable(thread)

    def _others(self) -> set[threading.Thread]:
        current = threading.current_thread()
        return {one for one in running_threads() if one is not current and one not in self._of_pytest}

    def _noting(self, real: Callable[..., Any]) -> Callable[..., Any]:
        def start(*arguments: Any, **named: Any) -> Any:
            thread: Any = getattr(arguments[0] if arguments else None, "__self__", None)
            if getattr(getattr(thread, "function", None), "__module__", "") == _TIMEOUT:
                self._of_pytest.add(thread)
            else:
                self.started = True
            return real(*arguments, **named)

        start.__name__ = start.__qualname__ = real.__name__
        return start

    def end(self) -> None:
        """Take them out of the way."""
        for module, name, real in self._real:
            setattr(module, name, real)


def _progress(thread: threading.Thread) -> bytes:
    """How long it has run so far, and how often; empty if that is unknown."""
    return _told(thread, "schedstat")


def _is_runnable(thread: threading.Thread) -> bool:
    """Whether it does not wait for anything, as soon as a lock was released for it; also if that is unknown."""
    state = _told(thread, "stat").rpartition(b")")[2].split()  # its name is in parentheses
    return not state or state[0] == _RUNNABLE


def _told(thread: threading.Thread, what: str) -> bytes:
    try:
        descriptor = open(f"/proc/self/task/{thread.native_id}/{what}", O_RDONLY)
        try:
            return read(descriptor, _MOST_BYTES)
        finally:
            close(descriptor)
    except OSError:  # it has ended: before it was opened, or after that
        return b""
