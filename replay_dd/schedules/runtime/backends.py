"""How yield points are noticed: one interface, a back end for each kind of interpreter.

A back end calls back before each yield point of counted code: it adds one to the running thread's time, folds the place
into the digest, and asks the scheduler when the strategy's next question is due. It is switched on when the program
starts its first thread, so that imports and set-up cost nothing.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from .scheduler import Scheduler


class Backend(Protocol):
    """Notices yield points."""

    name: str

    def begin(self) -> None:
        """Start to count, in the calling thread and in all that start later."""

    def thread_started(self) -> None:
        """Called in each new thread, before its function."""

    def end(self) -> None:
        """Stop to count."""


def choose_backend(scheduler: Scheduler, granularity: str) -> tuple[Backend, str]:
    """The back end for this interpreter, and the reason for it."""
    version = "{}.{}".format(*sys.version_info[:2])
    if sys.version_info >= (3, 12):
        from .backend_monitoring import MonitoringBackend

        return MonitoringBackend(scheduler, granularity), f"Python {version} has sys.monitoring"
    from .backend_trace import TraceBackend

    return TraceBackend(scheduler, granularity), f"Python {version} has no sys.monitoring (it came with 3.12)"
