"""Event loops of asyncio that one thread may close while another one uses them.

Rules of this module:

* Only what the standard library's own loops have is told, and classes of the program that are derived from them.
* Mostly the library closes a loop, in ``asyncio.run()``. That is seen as the end of the socket that wakes the loop, for
  which nobody else has a use: the loop lets go of it as the very first step.
* A loop lives no longer for being watched. One that nobody refers to when its end is told is not told.
"""

from __future__ import annotations

import sys
from _weakref import ReferenceType as _Reference

from . import values
from .access import CALLS, OBJECT, Access
from .dying import way_to

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from collections.abc import Callable

    from ..baton.thread import ManagedThread
    from .dying import Way

    Closed = tuple[ManagedThread, Way, object]

_USES = (
    *("call_soon", "call_soon_threadsafe", "call_later", "call_at", "create_task", "run_in_executor"),
    *("run_until_complete", "run_forever", "stop", "is_closed", "is_running", "run_coroutine_threadsafe"),
)
_ASKS = ("is_closed", "is_running", "stop")  # allowed when it is closed
_WAKES = "_csock"


def is_loop(thing: object) -> bool:
    """Whether it is an event loop of asyncio.

    Args:
        thing: anything.
    """
    return _is_derived(thing, "asyncio.base_events", "BaseEventLoop")


def takes_callbacks(thing: object) -> bool:
    """Whether it is an event loop for asyncio, whoever wrote it: some are in C, and tell nothing of what they keep.

    Args:
        thing: anything.
    """
    return _is_derived(thing, "asyncio.events", "AbstractEventLoop")


def _is_derived(thing: object, module_name: str, class_name: str) -> bool:
    module = sys.modules.get(module_name)
    base = None if module is None else vars(module).get(class_name)
    return base is not None and base in values.mro(type(thing))


def of_loop(loop: object, name: str, called: str) -> Access | None:
    """What a method does to an event loop, or a function that gets one; None where that is not known.

    Args:
        loop: the event loop.
        name: of the method or function.
        called: the name of the loop.
    """
    if name not in _USES and name != "close":
        return None
    access = Access(CALLS, OBJECT, loop, "", called)
    access.reads, access.writes = name != "close", name == "close"
    access.detail = f"{name}()"
    closed = (values.own_values(loop) or {}).get("_closed")
    if name == "is_closed":
        access.old = closed
    elif closed is True and name not in (*_ASKS, "close"):
        access.old = values.MISSING
    return access


class ClosingLoops:
    """Knows who closes the event loops that threads run.

    Args:
        running: tells the thread that runs.
    """

    def __init__(self, running: Callable[[], ManagedThread]) -> None:
        self._running = running
        self._watched: dict[int, _Reference[object]] = {}
        self._closed: list[tuple[ManagedThread, Way, _Reference[object]]] = []

    def watch_running(self) -> None:
        """Note where the loop is closed that the present thread runs, if it runs one."""
        module = sys.modules.get("_asyncio")
        loop = None if module is None else module._get_running_loop()
        if loop is not None and id(loop) not in self._watched and is_loop(loop):
            self._watch(loop)

    def _watch(self, loop: object) -> None:
        wakes = (values.own_values(loop) or {}).get(_WAKES)
        if wakes is None:
            return

        number, known = id(loop), _Reference(loop)

        def ends(_: object, is_over: Callable[[], bool] = sys.is_finalizing) -> None:
            watched = self._watched.pop(number, None)
            if watched is not None and known() is not None and not is_over():
                self._closed.append((self._running(), way_to(sys._getframe().f_back), known))

        self._watched[number] = _Reference(wakes, ends)

    def closed(self) -> list[Closed]:
        """What was closed since the last call: the thread, its stack, the loop."""
        ends, self._closed = self._closed, []
        found = [(thread, way, known()) for thread, way, known in ends]
        return [(thread, way, loop) for thread, way, loop in found if loop is not None]
