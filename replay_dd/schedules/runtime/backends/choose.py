"""Chooses the back end for this interpreter, and says why."""

from __future__ import annotations

import sys

from ..accelerator import accelerator, accelerator_reason
from ..points.bytecode import SYNC
from .base import Backend

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ..baton.scheduler import Scheduler


def load_backend() -> Any:
    """The module with the back ends for this interpreter."""
    if sys.version_info >= (3, 12):
        from . import monitoring as module
    else:
        from . import tracing as module
    return module


def choose_backend(scheduler: Scheduler, granularity: str) -> tuple[Backend, str]:
    """The back end for this interpreter, and the reason for it."""
    if granularity == SYNC:
        return Backend(), "only operations on locks, files and sleeps count"
    version = "{}.{}".format(*sys.version_info[:2])
    if sys.version_info >= (3, 12):
        why = f"Python {version} has sys.monitoring"
    else:
        why = f"Python {version} has no sys.monitoring (it came with 3.12)"
    module = load_backend()
    backend_class: Callable[[Scheduler, str], Backend] = (
        module.PythonBackend if accelerator is None else module.AcceleratedBackend
    )
    return backend_class(scheduler, granularity), f"{why}; {accelerator_reason}"
