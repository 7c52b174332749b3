"""Exceptions that one thread sets in another, by way of ``ctypes.pythonapi.PyThreadState_SetAsyncExc``.

The interpreter raises such an exception in the other thread between any two instructions, as soon as that one runs;
until then Python 3.11 repeats the first instruction of the next traced function of *every* thread. Here the exception
waits with the scheduler's record of the thread, and is raised at the next yield point where the thread goes on: in code
that is counted, or before it waits for something, never between a wait and what the wait was for.
"""

from __future__ import annotations

import _thread

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from typing import Any

    from ..baton.scheduler import Scheduler

_NAME = "PyThreadState_SetAsyncExc"
_WORD = 1 << 64  # an identity may come as the negative number that has the same bits


def adapt_ctypes(scheduler: Scheduler, module: Any) -> None:
    """Put the stand-in into module ``ctypes``."""
    real = getattr(module.pythonapi, _NAME)
    setattr(module.pythonapi, _NAME, _StandIn(scheduler, real, module.py_object))


class _StandIn:
    """The foreign function; its argument types and the like are those of the original."""

    def __init__(self, scheduler: Scheduler, real: Any, py_object: type) -> None:
        vars(self).update(_scheduler=scheduler, _real=real, _py_object=py_object)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._real, name, value)

    def __call__(self, *arguments: Any) -> Any:
        scheduler = self._scheduler
        own = _thread.get_ident()
        if len(arguments) == 2 and scheduler.counting and not scheduler.over and scheduler.current.ident == own:
            ident = getattr(arguments[0], "value", arguments[0])
            for thread in scheduler.threads:
                if isinstance(ident, int) and thread.ident == ident % _WORD != own:
                    thread.exception = self._exception(arguments[1])
                    return 1
        return self._real(*arguments)

    def _exception(self, argument: Any) -> Any:
        """The exception that an argument holds; None where it takes an earlier one back."""
        try:
            return (argument.value if isinstance(argument, self._py_object) else argument) or None
        except ValueError:  # a null pointer
            return None
