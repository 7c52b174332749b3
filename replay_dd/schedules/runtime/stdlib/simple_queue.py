"""``queue.SimpleQueue`` under the scheduler.

The original is written in C and blocks on a lock of its own while holding the baton. Like the original, this one never
blocks in ``put``, so finalizers and signal handlers can call it.
"""

from __future__ import annotations

import sys
from _collections import deque  # type: ignore[import-not-found]  # what `collections` takes it from

from .lock_operations import ask, caller, deadline_after
from .locks import made_at

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from typing import Any

    from ..baton.scheduler import Scheduler
    from ..baton.thread import ManagedThread


def adapt_queue(scheduler: Scheduler, module: Any) -> None:
    """Put the stand-in into a module ``_queue``; there may be several, if the program imports it afresh."""
    module.SimpleQueue = make_simple_queue(scheduler, module.Empty)


def make_simple_queue(scheduler: Scheduler, empty: type[Exception]) -> Any:
    """The class that stands in for ``_queue.SimpleQueue``.

    Args:
        scheduler: whom its operations ask.
        empty: the exception of its module.
    """
    counter = scheduler.counter

    class SimpleQueue:
        """Stands in for ``_queue.SimpleQueue``."""

        __slots__ = ("__weakref__", "_items", "_made")

        def __init__(self) -> None:
            self._items: deque[Any] = deque()
            self._made = caller(sys._getframe(1))

        def __getstate__(self) -> object:
            name = "_queue.SimpleQueue" if type(self) is SimpleQueue else type(self).__name__
            raise TypeError(f"cannot pickle '{name}' object")

        def ready_for(self, thread: ManagedThread) -> bool:
            return bool(self._items)

        def explain(self) -> str:
            return f"waits for an item in the SimpleQueue{made_at(self._made)}"

        def put(self, item: Any, block: bool = True, timeout: float | None = None) -> None:
            if counter.counting:  # earlier, a collection in here could run a finalizer that puts its item first
                if not counter.pass_operation():
                    ask()
                if scheduler.history is not None:
                    scheduler.history.put(self, sys._getframe(1))
            self._items.append(item)

        def put_nowait(self, item: Any) -> None:
            if counter.counting:  # earlier, a collection in here could run a finalizer that puts its item first
                if not counter.pass_operation():
                    ask()
                if scheduler.history is not None:
                    scheduler.history.put(self, sys._getframe(1))
            self._items.append(item)

        def get(self, block: bool = True, timeout: float | None = None) -> Any:
            if block:
                if timeout is not None and timeout < 0:
                    raise ValueError("'timeout' must be a non-negative number")
                deadline = None if timeout is None else deadline_after(timeout)
                if not self._items or not counter.pass_operation():
                    ask(self, deadline)
            elif not counter.pass_operation():
                ask()
            if not self._items:
                raise empty
            return self._items.popleft()

        def get_nowait(self) -> Any:
            if not counter.pass_operation():
                ask()
            if not self._items:
                raise empty
            return self._items.popleft()

        def qsize(self) -> int:
            scheduler.operation(sys._getframe(1))
            return len(self._items)

        def empty(self) -> bool:
            scheduler.operation(sys._getframe(1))
            return not self._items

        __class_getitem__: Any = classmethod(type(list[int]))

    SimpleQueue.__module__, SimpleQueue.__qualname__ = "_queue", "SimpleQueue"
    return SimpleQueue
