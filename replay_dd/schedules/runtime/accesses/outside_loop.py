"""Objects of asyncio that a thread uses which does not run their event loop.

Rules of this module:

* Only what may wake a task is told, of an object whose loop runs in another thread: nothing of asyncio is thread-safe
  but what says so in its name, and the loop, which may be asleep, does not notice.
* To which loop a queue or an event belongs is known once a task has waited for it. Until then, whoever runs no loop is
  outside.
"""

from __future__ import annotations

import sys

from . import values
from .access import CALLS, OBJECT, Access
from .loops import is_loop

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from typing import Any

_OUTSIDE = "outside of its event loop"
_WAKES = {
    "Queue": ("put_nowait", "get_nowait", "task_done"),
    "Event": ("set",),
    "Semaphore": ("release",),
    "BoundedSemaphore": ("release",),
    "Future": ("set_result", "set_exception", "cancel"),
    "Task": ("cancel",),
}
_LOOP_WAKES = ("call_soon", "call_later", "call_at", "create_task")
_NAMES = frozenset(name for names in (*_WAKES.values(), _LOOP_WAKES) for name in names)
_WITH_LOOP_IN_C = ("Future", "Task")


def is_outside_of_loop(own: object, name: str) -> bool:
    """Whether a method may wake a task of an event loop that the present thread does not run.

    Args:
        own: the object whose method it is; nearly always one that has nothing to do with asyncio.
        name: of the method.
    """
    if name not in _NAMES:
        return False
    loop = own if is_loop(own) else _loop_of(own)
    wakes = _LOOP_WAKES if loop is own else _WAKES.get(values.class_name(_base(own)), ())
    if name not in wakes or (loop is not None and (values.own_values(loop) or {}).get("_thread_id") is None):
        return False
    module = sys.modules.get("_asyncio")
    running = None if module is None else module._get_running_loop()
    return running is None or (loop is not None and running is not loop)


def of_call_outside(own: object, name: str, called: str) -> Access:
    """A call from outside of an event loop, as an access.

    Args:
        own: the object of asyncio.
        name: of the method.
        called: the name of the object.
    """
    access = Access(CALLS, OBJECT, own, "", called)
    access.writes = True
    access.detail = f"{name}() {_OUTSIDE}"
    return access


def _base(own: object) -> type:
    """The class of asyncio that an object is of, or is derived from."""
    kinds: Any = values.mro(type(own))
    return next((kind for kind in kinds if values.module_name(kind).startswith(("asyncio.", "_asyncio"))), object)


def _loop_of(own: Any) -> object:
    base = _base(own)
    if values.class_name(base) in _WITH_LOOP_IN_C and values.module_name(base) == "_asyncio":
        return base.get_loop(own)  # type: ignore[attr-defined]
    return (values.own_values(own) or {}).get("_loop")
