"""Locks under the scheduler.

``Lock`` and ``RLock`` stand in for the types of ``_thread``. Nearly everything else in ``threading``, ``queue`` and
``concurrent.futures`` is built on these two in Python, and so comes under the scheduler by itself. Their state is
plain attributes: only the thread with the baton touches it. To the program they show the names of the originals.

What they do most of all is in ``lock_operations.py``, and in C.
"""

from __future__ import annotations

import sys

from ..accelerator import accelerator
from ..baton.thread_life import come_up
from ..compat import HAS_JOINABLE_THREADS, RLOCK_HAS_LOCKED, uncontended_locks
from ..observing import attribute, is_a
from ..points.place import line_of
from ..points.places import COUNTED
from . import lock_operations
from .lock_operations import IN_C, LockOperations, RLockOperations, take

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from typing import Any

    from ..baton.scheduler import Scheduler
    from ..baton.thread import ManagedThread
    from ..points.place import Place
    from .lock_operations import Made

_scheduler: Scheduler


def use_scheduler(scheduler: Scheduler) -> None:
    """Make the locks of this process use this scheduler."""
    global _scheduler
    _scheduler = scheduler
    lock_operations.use_scheduler(scheduler, Lock)


class Uncontended:
    """Stands in for a lock of module ``threading`` that guards its own lists.

    Threads are never switched inside such a section, so the lock is always free, and taking it is not a yield point. A
    new thread takes it right after it has reported that it is up: there it stops, and its creator continues.
    """

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        come_up(_scheduler)
        return True

    def release(self) -> None:
        pass

    def __enter__(self) -> bool:
        come_up(_scheduler)
        return True

    def __exit__(self, *_: object) -> None:
        pass

    def _at_fork_reinit(self) -> None:
        pass


def adapt_threading_lists(module: Any) -> None:
    """Make the locks that guard ``threading``'s own lists always free."""
    for name in uncontended_locks():
        setattr(module, name, Uncontended())


class Lock(LockOperations):
    """Stands in for ``_thread.lock``."""

    __slots__ = ("__weakref__",)

    def __init_subclass__(cls) -> None:
        raise TypeError("type '_thread.lock' is not an acceptable base type")

    def ready_for(self, thread: ManagedThread) -> bool:
        return self._holder is None

    def explain(self) -> str:
        if self._ends_with is not None:
            return f"waits for thread {self._ends_with.name} to end"
        return _explain("Lock", self._made, self._holder, self._taken)

    def locked(self) -> bool:
        frame = sys._getframe(1)
        # Until 3.12 `threading` checks the locks of all threads at every join: that is no operation of the joining one.
        if _scheduler.places.kind(frame.f_code.co_filename) == COUNTED:
            _scheduler.operation(frame)
        return self._holder is not None

    def _at_fork_reinit(self) -> None:
        self._holder = self._taken = None

    def __hash__(self) -> int:
        return self._number

    def __getstate__(self) -> object:
        raise TypeError("cannot pickle '_thread.lock' object")

    acquire_lock = LockOperations.acquire
    release_lock = LockOperations.release
    locked_lock = locked

    def __repr__(self) -> str:
        state = "unlocked" if self._holder is None else "locked"
        return f"<{state} _thread.lock object at {id(self):#x}>"


def _allocate_lock() -> Lock:
    """Stands in for ``_thread.allocate_lock``."""
    lock: Lock = object.__new__(Lock)
    lock._set_up(sys._getframe(1))
    return lock


allocate_lock: Any = accelerator.allocate_lock if IN_C else _allocate_lock


def stand_ins() -> dict[str, Any]:
    """What stands in for the locks of ``_thread``."""
    names = {"allocate_lock": allocate_lock, "allocate": allocate_lock, "LockType": Lock, "RLock": RLock}
    if HAS_JOINABLE_THREADS:
        names["lock"] = Lock
    return names


def make_end_lock(thread: ManagedThread) -> Lock:
    """What a thread is joined through until 3.12: locked as long as it runs."""
    lock: Lock = allocate_lock()
    lock._ends_with = thread
    return lock


class RLock(RLockOperations):
    """Stands in for ``_thread.RLock``."""

    __slots__ = ("__weakref__",)

    def ready_for(self, thread: ManagedThread) -> bool:
        return self._holder is None or self._holder is thread

    def explain(self) -> str:
        return _explain("RLock", self._made, self._holder, self._taken)

    def locked(self) -> bool:
        """Only where the original has it, too."""
        frame = sys._getframe(1)
        if _scheduler.places.kind(frame.f_code.co_filename) == COUNTED:
            _scheduler.operation(frame)
        return self._count > 0

    def __getstate__(self) -> object:
        name = "_thread.RLock" if type(self) is RLock else type(self).__name__
        raise TypeError(f"cannot pickle '{name}' object")

    def _is_owned(self) -> bool:
        if _scheduler.history is not None:
            _scheduler.history.at_ownership_check(sys._getframe(1))
        return self._count > 0 and self._holder is _scheduler.present()

    def _recursion_count(self) -> int:
        return self._count if self._is_owned() else 0

    def _release_save(self) -> tuple[int, ManagedThread | None]:
        if self._count == 0:
            raise RuntimeError("cannot release un-acquired lock")
        _scheduler.operation(sys._getframe(1))
        state = (self._count, self._holder)
        self._count = 0
        self._holder = self._taken = None
        return state

    def _acquire_restore(self, state: tuple[int, ManagedThread | None]) -> None:
        _scheduler.operation(sys._getframe(1), self)
        self._count = 0
        take(self, state[0])

    def _at_fork_reinit(self) -> None:
        self._count = 0
        self._holder = self._taken = None

    def __repr__(self) -> str:
        state = "unlocked" if self._count == 0 else "locked"
        owner = 0 if self._holder is None else self._holder.ident
        return f"<{state} _thread.RLock object owner={owner} count={self._count} at {id(self):#x}>"


def holder_of(waiting: object) -> ManagedThread | None:
    """Who has a lock; None if nobody has, or if it is no lock."""
    return attribute(waiting, "_holder") if is_a(waiting, (Lock, RLock)) else None


def _no_instances(class_: type, *_: object, **__: object) -> Any:
    raise TypeError(f"cannot create '_thread.{class_.__name__}' instances")


Lock.__name__ = Lock.__qualname__ = "lock"
for _class in (Lock, RLock):
    _class.__module__ = "_thread"
if not RLOCK_HAS_LOCKED:
    del RLock.locked
if not HAS_JOINABLE_THREADS:  # where `threading.Lock` is a function
    Lock.__new__ = _no_instances  # type: ignore[assignment,method-assign]  # not to be called


def made_at(made: Made | None) -> str:
    """The same in words."""
    return "" if made is None else f" made at {made[0]}:{made[1]}"


def _explain(kind: str, made: Made | None, holder: ManagedThread | None, taken: Place | None) -> str:
    text = f"waits for the {kind}{made_at(made)}"
    if holder is None:
        return text
    state = "ended" if holder.ended else "has it"
    text += f", which thread {holder.name} took"
    if taken is not None:
        text += f" at {_scheduler.places.short(taken.code.co_filename)}:{line_of(taken)}"
    return text + (" and never released" if state == "ended" else "")
