"""What nearly every use of a lock does: make it, acquire and release it, enter and leave it.

``PythonLock`` and ``PythonRLock`` exist twice, here and as ``Lock`` and ``RLock`` in ``accelerator/locks.c``. Those in
C perform an operation themselves if it can proceed and the strategy need not be asked, as nearly always. Else they call
the functions of these classes with their own locks, which keep their state under the same names.
"""

from __future__ import annotations

import sys

from ..accelerator import accelerator
from ..accelerator.own_memory import use_own
from ..compat import LONG_TIMEOUT, NEGATIVE_TIMEOUT, RLOCK_TAKES_NOTHING
from ..points.frames import RUNTIME

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType, FrameType
    from typing import Any, Self

    from ..baton.scheduler import Scheduler
    from ..baton.thread import ManagedThread
    from ..points.place import Place

    Made = tuple[str, int, str]  # short file, line, function

_scheduler: Scheduler
_counter: Any  # the scheduler's
_passes: Callable[[], bool]  # its pass_operation
_all_made: dict[Made, Made] = {}  # all that the accelerator was told
_TIMEOUT_MAX = 9_223_372_036.0  # threading.TIMEOUT_MAX: what fits 64 bits of nanoseconds


def use_scheduler(scheduler: Scheduler, lock_class: Any) -> None:
    """Make the locks of this process use this scheduler.

    Args:
        scheduler: the scheduler.
        lock_class: what stands in for ``_thread.lock``.
    """
    global _scheduler, _counter, _passes
    _scheduler = scheduler
    _counter = scheduler.counter
    _passes = _counter.pass_operation
    if IN_C:
        accelerator.use_locks(_counter, PythonLock, PythonRLock, lock_class, _where_made)


def ask(waiting: Any = None, deadline: int | None = None) -> bool:
    """Pass the operation of our caller's caller, which may need the lock that it waits for."""
    before = use_own(True)  # this call raises an audit event
    frame = sys._getframe(2)
    use_own(before)
    return _scheduler.operation(frame, waiting, deadline)


def _tell_taken(lock: Any) -> None:
    """Tell the observer of a lock that our caller's caller has not waited for: the operation itself names none."""
    observer = _scheduler.observer
    if observer is not None:
        before = use_own(True)
        observer.at_operation(_scheduler.current, sys._getframe(2), lock, True, None)
        use_own(before)


def _deadline(blocking: bool, timeout: float) -> int | None:
    if not blocking:
        if timeout != -1:
            raise ValueError("can't specify a timeout for a non-blocking call")
        return None
    if timeout < 0:
        if timeout != -1:
            raise ValueError(NEGATIVE_TIMEOUT)
        return None
    return deadline_after(timeout)


def deadline_after(timeout_s: float) -> int:
    """The virtual time at which a wait that starts now is over.

    Raises:
        OverflowError: it does not fit the clock, as in ``threading``.
    """
    if timeout_s > _TIMEOUT_MAX:
        raise OverflowError(LONG_TIMEOUT)
    return _scheduler.clock.now_ns + int(timeout_s * 1_000_000_000)


def caller(frame: FrameType) -> Made | None:
    """Where a lock was made, outside the library, and by which function; None if it replaces an earlier lock."""
    return _made_by(frame)[0]


def _made_by(frame: FrameType) -> tuple[Made | None, FrameType | None]:
    """The same, and the innermost frame outside the library, if any."""
    places = _scheduler.places
    _, user_frame = places.user_frame(frame)
    found = user_frame or frame
    if user_frame is None and frame.f_code.co_filename.startswith(RUNTIME):
        return None, None
    if frame.f_code.co_qualname == "RLock" and frame.f_back is not None:
        frame = frame.f_back  # that is a function of `threading`
    return (places.short(found.f_code.co_filename), found.f_lineno, frame.f_code.co_qualname), user_frame


def _where_made() -> tuple[Made | None, CodeType | None]:
    """Where a lock is made, and the code outside the library; for the accelerator, which asks in the runtime's turn."""
    frame = sys._getframe(1)
    made, user_frame = _made_by(frame)
    # Locks share these: with the last one that has it, a tuple would be freed in the program's turn.
    made = None if made is None else _all_made.setdefault(made, made)
    if user_frame is None:
        return made, None
    _counter.know_library(frame, user_frame)
    return made, user_frame.f_code


class PythonLock:
    """What of a lock exists twice."""

    __slots__ = ("_ends_with", "_holder", "_made", "_number", "_taken")
    _made_so_far = 0

    def __init__(self) -> None:
        self._set_up(sys._getframe(1))

    def _set_up(self, frame: FrameType) -> None:
        # Until 3.12 `threading` keeps locks in a set and checks them in its order, which must not depend on addresses.
        PythonLock._made_so_far += 1
        self._number = PythonLock._made_so_far
        self._holder: ManagedThread | None = None
        self._taken: Place | None = None
        self._made = caller(frame)
        self._ends_with: ManagedThread | None = None  # the thread that is joined through this lock

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        if self._holder is not None or timeout != -1 or not _passes():
            deadline = _deadline(blocking, timeout)
            if not blocking:
                ask()
                if self._holder is not None:
                    return False
                _tell_taken(self)
            elif not ask(self, deadline):
                return False
        self._holder = thread = _counter.current
        self._taken = thread.place
        return True

    def release(self) -> None:
        if self._holder is None:
            raise RuntimeError("release unlocked lock")
        if not _passes():
            ask()
        self._holder = self._taken = None

    def __enter__(self) -> bool:
        if (self._holder is None and _passes()) or ask(self):
            self._holder = thread = _counter.current
            self._taken = thread.place
        return True

    def __exit__(self, *_: object) -> None:
        if self._holder is None:
            raise RuntimeError("release unlocked lock")
        if not _passes():
            ask()
        self._holder = self._taken = None


class PythonRLock:
    """What of a reentrant lock exists twice."""

    __slots__ = ("_count", "_holder", "_made", "_taken")

    _holder: ManagedThread | None
    _count: int
    _taken: Place | None
    _made: Made | None

    # As the original, which is complete before a class of the program initialises it, and ignores arguments until 3.14;
    # since then, unless such a class takes them.
    def __new__(cls, *arguments: object, **named: object) -> Self:
        if (arguments or named) and RLOCK_TAKES_NOTHING and cls.__init__ is object.__init__:
            raise TypeError("RLock() takes no arguments")
        self = object.__new__(cls)
        self._holder = None
        self._count = 0
        self._taken = None
        self._made = caller(sys._getframe(1))
        return self

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        holder = self._holder
        if (holder is not None and holder is not _counter.current) or timeout != -1 or not _passes():
            deadline = _deadline(blocking, timeout)
            if not blocking:
                ask()
                if self._holder is not None and self._holder is not _counter.current:
                    return False
                _tell_taken(self)
            elif not ask(self, deadline):
                return False
        take(self, 1)
        return True

    def release(self) -> None:
        if self._count == 0 or self._holder is not _scheduler.present():
            raise RuntimeError("cannot release un-acquired lock")
        if self._count == 1 and not _passes():
            ask()
        self._count -= 1
        if self._count == 0:
            self._holder = self._taken = None

    def __enter__(self) -> bool:
        holder = self._holder
        if ((holder is None or holder is _counter.current) and _passes()) or ask(self):
            take(self, 1)
        return True

    def __exit__(self, *_: object) -> None:
        self.release()


def take(lock: PythonRLock, count: int) -> None:
    """Let the running thread have a reentrant lock."""
    thread = _counter.current
    if lock._count == 0:
        lock._holder = thread
        lock._taken = thread.place
    lock._count += count


# Without the insides of frames, the accelerator for 3.11 and 3.12 has no locks.
IN_C = accelerator is not None and accelerator.Lock is not None
if TYPE_CHECKING:
    LockOperations = PythonLock
    RLockOperations = PythonRLock
else:
    LockOperations = accelerator.Lock if IN_C else PythonLock
    RLockOperations = accelerator.RLock if IN_C else PythonRLock
