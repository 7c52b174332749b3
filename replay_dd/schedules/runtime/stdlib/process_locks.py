"""Locks and semaphores of ``multiprocessing`` that threads of one process use, as those of progress bars and loggers.

Rules of this module:

* As long as no other process has one, only threads of this process wait for it, and the schedule decides who gets it.
  From a fork on, or once it is pickled for a process, its threads wait for something outside, as long as they do; see
  shared_semaphores.py. So do those that wait for it already: otherwise it would look as if nobody was left who could
  wake them.
* The real one always has the value that the program sees, so that a child which gets it later finds it right.
* A lock has a stand-in of ``threading`` beside it: a thread has both or none. Stories and deadlocks tell of that one.
"""

from __future__ import annotations

import os
import sys

from .lock_operations import ask, caller, deadline_after
from .locks import RLock, allocate_lock, made_at
from .shared_semaphores import SharedSemaphores

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
    taken: dict[int, Any] = {}  # the stand-ins of locks that a thread has, by the handles of the locks
    outside = SharedSemaphores(descriptors, module.RECURSIVE_MUTEX)

    def is_shared(real: Any) -> bool:
        return descriptors.forked or real.handle in shared

    def is_ours(real: Any) -> bool:
        return not is_shared(real) and descriptors.has_baton()

    def make_methods(semaphore: Any) -> None:
        real_make_methods(semaphore)
        real = semaphore._semlock
        shared.discard(real.handle)  # that of a semaphore that is gone may come again
        if real.kind == module.RECURSIVE_MUTEX:
            methods = _of_lock(real, RLock(), taken, lambda: is_ours(real), outside)
        elif real.maxvalue == 1 and not real._is_at_zero():
            methods = _of_lock(real, allocate_lock(), taken, lambda: is_ours(real), outside)
        else:
            methods = _of_semaphore(real, lambda: is_shared(real), lambda: is_ours(real), outside)
        semaphore.acquire, semaphore.release = methods

    def wait_outside() -> None:
        for turn in taken.values():
            turn._at_fork_reinit()
        taken.clear()

    def getstate(semaphore: Any) -> Any:
        state = real_getstate(semaphore)
        handle = semaphore._semlock.handle
        shared.add(handle)
        if handle in taken:
            taken.pop(handle)._at_fork_reinit()
        return state

    def setstate(semaphore: Any, state: Any) -> None:
        real_setstate(semaphore, state)
        shared.add(semaphore._semlock.handle)

    made_in_c: Any = module._multiprocessing.SemLock

    class SemLock(made_in_c):  # type: ignore[misc]
        """Of a semaphore, what the library looks at beside ``acquire`` and ``release``."""

        __slots__ = ()
        _is_at_zero = made_in_c._is_zero

        def __new__(cls, *arguments: Any) -> Any:
            descriptors.before_opening()
            return super().__new__(cls, *arguments)

        def _is_zero(self) -> bool:
            return bool(outside.look(super()._is_zero)) if is_shared(self) else super()._is_zero()

        def _get_value(self) -> int:
            return outside.look(super()._get_value) if is_shared(self) else super()._get_value()

    SemLock.__module__, SemLock.__qualname__ = made_in_c.__module__, made_in_c.__qualname__
    module._multiprocessing.SemLock = SemLock
    class_._make_methods, class_.__getstate__, class_.__setstate__ = make_methods, getstate, setstate
    os.register_at_fork(after_in_parent=wait_outside)
    class_.__enter__ = lambda semaphore: semaphore.acquire()
    class_.__exit__ = lambda semaphore, *_: semaphore.release()


def _of_lock(
    real: Any, turn: Any, taken: dict[int, Any], is_ours: Callable[[], bool], outside: SharedSemaphores
) -> tuple[Any, Any]:
    """``acquire`` and ``release`` of a lock, whose threads take turns; ``taken`` has the turn while a thread has it."""

    def acquire(block: bool = True, timeout: float | None = None) -> bool:
        if not is_ours():
            return outside.acquire(real, block, timeout)
        if not turn.acquire(bool(block), -1 if timeout is None or not block else max(timeout, 0)):
            return False
        if is_ours() and real.acquire(False):
            taken[real.handle] = turn
            return True
        turn._at_fork_reinit()  # while this thread waited for its turn, another process was given the lock
        return outside.acquire(real, block, timeout)

    def release() -> None:
        if turn._holder is not None and (type(turn) is not RLock or real._is_mine()):
            turn.release()
            taken.pop(real.handle, None)
        real.release()  # who may not release it is told so

    return acquire, release


class _Semaphore:
    """What a thread waits for until a semaphore is above zero."""

    __slots__ = ("_is_shared", "_made", "_real")

    def __init__(self, real: Any, is_shared: Callable[[], bool]) -> None:
        self._real = real
        self._is_shared = is_shared
        self._made = caller(sys._getframe(1))

    def ready_for(self, thread: ManagedThread) -> bool:
        return not self._real._is_at_zero() or self._is_shared()

    def explain(self) -> str:
        return f"waits for the Semaphore{made_at(self._made)} to be released"


def _of_semaphore(
    real: Any, is_shared: Callable[[], bool], is_ours: Callable[[], bool], outside: SharedSemaphores
) -> tuple[Any, Any]:
    """``acquire`` and ``release`` of a semaphore."""
    waiting = _Semaphore(real, is_shared)

    def acquire(block: bool = True, timeout: float | None = None) -> bool:
        if not is_ours():
            return outside.acquire(real, block, timeout)
        if not block:
            ask()
        elif not ask(waiting, None if timeout is None else deadline_after(max(timeout, 0))):
            return False
        # If another process was given the semaphore while this thread waited, it may be at zero again.
        return bool(real.acquire(False)) if is_ours() else outside.acquire(real, block, timeout)

    def release() -> None:
        if is_ours():
            ask()
        real.release()

    return acquire, release
