"""The event loop of asyncio that runs while a process is forked: the fork goes on in it.

Rules of this module:

* asyncio forgets the running loop in a fork, or denies it, since a program that forks there means to leave it. A fork
  of a run is that run, so it keeps the loop, and what the loop is woken by.
* An epoll object is one for all forks, and what one of them registers the others are told: each gets its own.
"""

from __future__ import annotations

import os
import signal
import sys
from typing import Any


def fork() -> int:
    """As :func:`os.fork`, with the event loop that runs."""
    loops = _Running()
    child = os.fork()
    if child == 0:
        loops.go_on()
    return child


class _Running:
    """What asyncio has to be given back in a fork."""

    def __init__(self) -> None:
        self._events: Any = sys.modules.get("asyncio.events")
        self._loop: Any = None if self._events is None else self._events._get_running_loop()
        if self._loop is None:
            return
        self._policy: Any = getattr(self._events, "_event_loop_policy", None)
        self._of_thread: Any = getattr(self._policy, "_local", None)
        self._woken_by = signal.set_wakeup_fd(-1)
        signal.set_wakeup_fd(self._woken_by, warn_on_full_buffer=False)

    def go_on(self) -> None:
        """Give it back."""
        if self._loop is None:
            return
        if self._of_thread is not None:
            self._policy._local = self._of_thread
        signal.set_wakeup_fd(self._woken_by, warn_on_full_buffer=False)
        self._own_selector()
        self._events._set_running_loop(self._loop)

    def _own_selector(self) -> None:
        shared: Any = getattr(self._loop, "_selector", None)
        selectors = sys.modules["selectors"]
        if type(shared) is not getattr(selectors, "EpollSelector", None):
            return
        own = selectors.EpollSelector()
        for key in list(shared.get_map().values()):
            own.register(key.fileobj, key.events, key.data)
        self._loop._selector = own
