"""How yield points are noticed: one interface, a back end for each kind of interpreter.

A back end calls back before each yield point of counted code: it adds one to the running thread's time, folds the place
into the digest, and asks the scheduler when the strategy's next question is due. It is switched on when the program
starts its first thread, so that imports and set-up cost nothing.
"""

from __future__ import annotations

from ..accelerator import accelerator, accelerator_reason
from ..compat import HAS_MONITORING, NAME
from ..points.bytecode import SYNC

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ..baton.scheduler import Scheduler


class Backend:
    """Notices yield points. This base notices none.

    It serves granularity ``sync``, where operations are the only yield points: they tell the scheduler themselves.
    """

    name = "operations"

    def begin(self) -> None:
        """Start to count, in the calling thread and in all that start later."""

    def thread_started(self) -> None:
        """Called in each new thread, before its function."""

    def program_traces(self) -> None:
        """The program is about to set or remove a trace function or a profiler."""

    def end(self) -> None:
        """Stop to count."""


def load_backend() -> Any:
    """The module with the back ends for this interpreter."""
    if HAS_MONITORING:
        from . import monitoring

        return monitoring
    from . import tracing

    return tracing


def choose_backend(scheduler: Scheduler, granularity: str) -> tuple[Backend, str]:
    """The back end for this interpreter, and the reason for it."""
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
