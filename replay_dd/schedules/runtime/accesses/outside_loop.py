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


def outside_of_loop(own: object, name: str, called: str) -> Access | None:
    """What a method does to an object of asyncio whose event loop the present thread does not run; None if it does.

    Args:
        own: the object.
        name: of the method.
        called: the name of the object.
    """
    if name not in _NAMES:
        return None
    loop = own if is_loop(own) else _loop_of(own)
    wakes = _LOOP_WAKES if loop is own else _WAKES.get(values.class_name(_base(own)), ())
    if name not in wakes or (loop is not None and (values.own_values(loop) or {}).get("_thread_id") is None):
        return None
    module = sys.modules.get("_asyncio")
    running = None if module is None else module._get_running_loop()
    if running is not None and (loop is None or running is loop):
        return None
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
