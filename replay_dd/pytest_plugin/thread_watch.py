"""Notes whether the program starts threads. Python 3.11 has no audit event for that."""

from __future__ import annotations

import _thread
import threading
from collections.abc import Callable
from typing import Any

# How `threading` starts threads, in one version or another, and everyone else.
_WHERE = (
    (threading, "_start_new_thread"),
    (threading, "_start_joinable_thread"),
    (_thread, "start_new_thread"),
    (_thread, "start_joinable_thread"),
)


class ThreadWatch:
    """Stands before the functions that start threads.

    Attributes:
        started: whether one was called since this was last set to False.
    """

    def __init__(self) -> None:
        self.started = False
        self._real = [(module, name, getattr(module, name)) for module, name in _WHERE if hasattr(module, name)]
        for module, name, real in self._real:
            setattr(module, name, self._noting(real))

    def _noting(self, real: Callable[..., Any]) -> Callable[..., Any]:
        def start(*arguments: Any, **named: Any) -> Any:
            self.started = True
            return real(*arguments, **named)

        start.__name__ = start.__qualname__ = real.__name__
        return start

    def end(self) -> None:
        """Take them out of the way."""
        for module, name, real in self._real:
            setattr(module, name, real)
