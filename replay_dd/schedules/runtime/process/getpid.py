"""``os.getpid``, watched: a program that knows its process id cannot be forked for each run."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from collections.abc import Callable

    from ..baton.scheduler import Scheduler

_NAMING = "logging"  # only formats the process id into a message


def getpid_replacement(scheduler: Scheduler, effects: list[str]) -> Callable[[], int]:
    """``os.getpid``; a program that asked before its first thread would have another process id in a copy."""
    real = os.getpid

    def getpid() -> int:
        if not scheduler.counting and not effects and sys._getframe(1).f_globals.get("__name__") != _NAMING:
            effects.append("it asked for the number of its process before its first thread")
        return real()

    return getpid
