"""Locks and semaphores of ``multiprocessing`` that threads of one process use, as those of progress bars and loggers.

Rules of this module:

* As long as no other process has one, only threads of this process wait for it, and the schedule decides who gets it.
  From a fork on, or once it is pickled for a process, its calls are left alone: they wait in C, as long as they do.
* The real one always has the value that the program sees, so that a child which gets it later finds it right.
* A lock has a stand-in of ``threading`` beside it: a thread has both or none. Stories and deadlocks tell of that one.
"""

from __future__ import annotations

import sys

from .lock_operations import ask, caller, deadline_after
from .locks import RLock, allocate_lock, made_at

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ..baton.thread import ManagedThread
    from ..io.descriptors import Descriptors


def adapt_process_locks(descriptors: Descriptors, module: Any) -> None:
    """Let the locks and semaphores of ``multiprocessing.synchronize`` give up the baton while a thread waits."""
    class_ = module.SemLock
    real_make_methods, real_getstate, real_setstate = class_._make_methods, class_.__getstate__, class_.__setstate__
    shared: set[int] = set()  # by the handles of the semaphores

    def is_ours(real: Any) -> bool:
        return not descriptors.forked and real.handle not in shared and descriptors.has_baton()

    def make_methods(semaphore: Any) -> None:
        real_make_methods(semaphore)
        real = semaphore._semlock
        if real.kind == module.RECURSIVE_MUTEX:
            methods = _of_lock(real, RLock(), lambda: is_ours(real))
        elif real.maxvalue == 1 and not real._is_zero():
            methods = _of_lock(real, allocate_lock(), lambda: is_ours(real))
        else:
            methods = _of_semaphore(real, lambda: is_ours(real))
        semaphore.acquire, semaphore.release = methods

    def getstate(semaphore: Any) -> Any:
        state = real_getstate(semaphore)
        shared.add(semaphore._semlock.handle)
        return state

    def setstate(semaphore: Any, state: Any) -> None:
        real_setstate(semaphore, state)
        shared.add(semaphore._semlock.handle)

    class_._make_methods, class_.__getstate__, class_.__setstate__ = make_methods, getstate, setstate
    class_.__enter__ = lambda semaphore: semaphore.acquire()
    class_.__exit__ = lambda semaphore, *_: semaphore.release()


def _of_lock(real: Any, turn: Any, is_ours: Callable[[], bool]) -> tuple[Any, Any]:
    """``acquire`` and ``release`` of a lock, whose threads take turns."""

    def acquire(block: bool = True, timeout: float | None = None) -> bool:
        if not is_ours():
            return bool(real.acquire(block, timeout))
        if not turn.acquire(bool(block), -1 if timeout is None or not block else max(timeout, 0)):
            return False
        if real.acquire(False):
            return True
        turn.release()  # while this thread waited for its turn, another process was given the lock
        return bool(real.acquire(block, timeout))

    def release() -> None:
        if turn._holder is not None and (type(turn) is not RLock or real._is_mine()):
            turn.release()
        real.release()  # who may not release it is told so

    return acquire, release


class _Semaphore:
    """What a thread waits for until a semaphore is above zero."""

    __slots__ = ("_made", "_real")

    def __init__(self, real: Any) -> None:
        self._real = real
        self._made = caller(sys._getframe(1))

    def ready_for(self, thread: ManagedThread) -> bool:
        return not self._real._is_zero()

    def explain(self) -> str:
        return f"waits for the Semaphore{made_at(self._made)} to be released"


def _of_semaphore(real: Any, is_ours: Callable[[], bool]) -> tuple[Any, Any]:
    """``acquire`` and ``release`` of a semaphore."""
    waiting = _Semaphore(real)

    def acquire(block: bool = True, timeout: float | None = None) -> bool:
        if not is_ours():
            return bool(real.acquire(block, timeout))
        if not block:
            ask()
        elif not ask(waiting, None if timeout is None else deadline_after(max(timeout, 0))):
            return False
        # If another process was given the semaphore while this thread waited, it may be at zero again.
        return bool(real.acquire(block and not is_ours(), timeout))

    def release() -> None:
        if is_ours():
            ask()
        real.release()

    return acquire, release
