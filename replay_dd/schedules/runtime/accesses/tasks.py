"""Which task of an event loop a thread runs.

Only functions and dictionaries of the interpreter are asked, and only those of the standard event loops: a loop that
hashes itself in its own way is left alone.
"""

from __future__ import annotations

import sys

from .values import in_class

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from types import CodeType

_COROUTINE = 0x80  # of the flags of a function's code: `async def`


def is_coroutine(code: CodeType) -> bool:
    """Whether this is the code of a coroutine.

    Args:
        code: of any function.
    """
    return bool(code.co_flags & _COROUTINE)


def running_task() -> object | None:
    """The task that the present thread runs; None if it runs none, or if that is not known."""
    module = sys.modules.get("_asyncio")
    if module is None:
        return None
    loop = module._get_running_loop()
    if loop is None or in_class(type(loop), "__hash__")[0] is not object:
        return None
    ask = getattr(module, "current_task", None)  # from Python 3.12 on, in C
    task: object | None = module._current_tasks.get(loop) if ask is None else ask(loop)
    return task
