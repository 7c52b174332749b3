"""Chooses the back end for this interpreter, and says why."""

from __future__ import annotations

from ..accelerator import accelerator, accelerator_reason
from ..compat import HAS_MONITORING, NAME
from ..points.bytecode import SYNC
from .base import Backend

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ..baton.scheduler import Scheduler


def load_backend() -> Any:
    """The module with the back ends for this interpreter."""
    if HAS_MONITORING:
        from . import monitoring

        return monitoring
    from . import tracing

    return tracing


def load_executed_backend() -> Any:
    """The class of the back end for this interpreter that reports every instruction."""
    if HAS_MONITORING:
        from .executed_monitoring import ExecutedBackend

        return ExecutedBackend
    from . import executed_tracing

    return (
        executed_tracing.PythonExecutedBackend if accelerator is None else executed_tracing.AcceleratedExecutedBackend
    )


def choose_backend(scheduler: Scheduler, granularity: str) -> tuple[Backend, str]:
    """The back end for this interpreter, and the reason for it."""
    if scheduler.executed is not None:
        made: Backend = load_executed_backend()(scheduler, granularity, scheduler.executed)
        return made, "every instruction is reported"
    if granularity == SYNC:
        return Backend(), "only operations on locks, files and sleeps count"
    if HAS_MONITORING:
        why = f"Python {NAME} has sys.monitoring"
    else:
        why = f"Python {NAME} has no sys.monitoring (it came with 3.12)"
    module = load_backend()
    backend_class: Callable[[Scheduler, str], Backend] = (
        module.PythonBackend if accelerator is None else module.AcceleratedBackend
    )
    return backend_class(scheduler, granularity), f"{why}; {accelerator_reason}"
