"""The event loop of asyncio: the fork of a process goes on in the one that runs, and one that waits for ever is ended.

Rules of this module:

* asyncio forgets the running loop in a fork, or denies it, since a program that forks there means to leave it. A fork
  of a run is that run, so it keeps the loop, and what the loop is woken by.
* An epoll object is one for all forks, and what one of them registers the others are told: each gets its own.
* A loop that nothing will call, and that watches nothing but its own socket, can be woken only by a thread or a signal.
  There is one thread, so such a loop waits for ever where no signal is to come.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from typing import Any


def fork() -> int:
    """As :func:`os.fork`, with the event loop that runs."""
    loops = _Running()
    child = os.fork()
    if child == 0:
        loops.go_on()
    return child


class EndlessWaits:
    """Ends a run in which the event loop waits for what never comes.

    Args:
        ends: called then; does not return.
    """

    def __init__(self, ends: Callable[[], None]) -> None:
        self._ends = ends
        self._watched: set[type] = set()

    def watch(self) -> None:
        """Look at what loops wait for from now on; called when there may be one."""
        kind: Any = getattr(sys.modules.get("selectors"), "DefaultSelector", None)
        if kind is None or kind in self._watched:
            return
        self._watched.add(kind)
        select = kind.select

        def selected(selector: Any, timeout: float | None = None) -> Any:
            if timeout is None and _waits_for_ever(selector):
                self._ends()
            return select(selector, timeout)

        kind.select = selected


def _waits_for_ever(selector: Any) -> bool:
    events: Any = sys.modules.get("asyncio.events")
    loop: Any = None if events is None else events._get_running_loop()
    of_loop: Any = getattr(loop, "_selector", None)
    if of_loop is not selector or getattr(loop, "_signal_handlers", True):
        return False
    own: Any = getattr(loop, "_ssock", None)
    if own is None or [key.fd for key in selector.get_map().values()] != [own.fileno()]:
        return False
    child = signal.getsignal(signal.SIGCHLD)
    return child in (signal.SIG_DFL, signal.SIG_IGN) and not signal.getitimer(signal.ITIMER_REAL)[0]


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
