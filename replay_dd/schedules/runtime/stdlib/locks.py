"""Locks under the scheduler.

``Lock`` and ``RLock`` stand in for the types of ``_thread``. Nearly everything else in ``threading``, ``queue`` and
``concurrent.futures`` is built on these two in Python, and so comes under the scheduler by itself. Their state is
plain attributes: only the thread with the baton touches it. To the program they show the names of the originals.

If an operation can proceed and the strategy need not be asked, the accelerator passes its yield point (``_passes``).
That is nearly every operation.
"""

from __future__ import annotations

import sys

from ..accelerator.own_memory import use_own
from ..baton.thread_life import come_up
from ..compat import (
    HAS_JOINABLE_THREADS,
    LONG_TIMEOUT,
    NEGATIVE_TIMEOUT,
    RLOCK_HAS_LOCKED,
    RLOCK_TAKES_NOTHING,
    uncontended_locks,
)
from ..observing import attribute, is_a
from ..points.frames import RUNTIME
from ..points.place import line_of
from ..points.places import COUNTED

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType
    from typing import Any, Self

    from ..baton.scheduler import Scheduler
    from ..baton.thread import ManagedThread, Waitable
    from ..points.place import Place

    Made = tuple[str, int, str]  # short file, line, function

_scheduler: Scheduler
_counter: Any  # the scheduler's
_passes: Callable[[], bool]  # its pass_operation
_TIMEOUT_MAX = 9_223_372_036.0  # threading.TIMEOUT_MAX: what fits 64 bits of nanoseconds


def use_scheduler(scheduler: Scheduler) -> None:
    """Make the locks of this process use this scheduler."""
    global _scheduler, _counter, _passes
    _scheduler = scheduler
    _counter = scheduler.counter
    _passes = _counter.pass_operation


def _ask(waiting: Waitable | None = None, deadline: int | None = None) -> bool:
    """Pass the operation of our caller's caller."""
    before = use_own(True)  # this call raises an audit event
    frame = sys._getframe(2)
    use_own(before)
    return _scheduler.operation(frame, waiting, deadline)


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


class Lock:
    """Stands in for ``_thread.lock``."""

    __slots__ = ("__weakref__", "_ends_with", "_holder", "_made", "_number", "_taken")
    _made_so_far = 0

    def __init__(self) -> None:
        self._set_up(sys._getframe(1))

    def __init_subclass__(cls) -> None:
        raise TypeError("type '_thread.lock' is not an acceptable base type")

    def _set_up(self, frame: FrameType) -> None:
        # Until 3.12 `threading` keeps locks in a set and checks them in its order, which must not depend on addresses.
        Lock._made_so_far += 1
        self._number = Lock._made_so_far
        self._holder: ManagedThread | None = None
        self._taken: Place | None = None
        self._made = caller(frame)
        self._ends_with: ManagedThread | None = None  # the thread that is joined through this lock

    def ready_for(self, thread: ManagedThread) -> bool:
        return self._holder is None

    def explain(self) -> str:
        if self._ends_with is not None:
            return f"waits for thread {self._ends_with.name} to end"
        return _explain("Lock", self._made, self._holder, self._taken)

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        if self._holder is not None or timeout != -1 or not _passes():
            deadline = _deadline(blocking, timeout)
            if not blocking:
                _ask()
                if self._holder is not None:
                    return False
            elif not _ask(self, deadline):
                return False
        self._holder = thread = _counter.current
        self._taken = thread.place
        return True

    def release(self) -> None:
        if self._holder is None:
            raise RuntimeError("release unlocked lock")
        if not _passes():
            _ask()
        self._holder = self._taken = None

    def locked(self) -> bool:
        frame = sys._getframe(1)
        # Until 3.12 `threading` checks the locks of all threads at every join: that is no operation of the joining one.
        if _scheduler.places.kind(frame.f_code.co_filename) == COUNTED:
            _scheduler.operation(frame)
        return self._holder is not None

    def __enter__(self) -> bool:
        if (self._holder is None and _passes()) or _ask(self):
            self._holder = thread = _counter.current
            self._taken = thread.place
        return True

    def __exit__(self, *_: object) -> None:
        if self._holder is None:
            raise RuntimeError("release unlocked lock")
        if not _passes():
            _ask()
        self._holder = self._taken = None

    def _at_fork_reinit(self) -> None:
        self._holder = self._taken = None

    def __hash__(self) -> int:
        return self._number

    def __getstate__(self) -> object:
        raise TypeError("cannot pickle '_thread.lock' object")

    acquire_lock = acquire
    release_lock = release
    locked_lock = locked

    def __repr__(self) -> str:
        state = "unlocked" if self._holder is None else "locked"
        return f"<{state} _thread.lock object at {id(self):#x}>"


def allocate_lock() -> Lock:
    """Stands in for ``_thread.allocate_lock``."""
    lock: Lock = object.__new__(Lock)
    lock._set_up(sys._getframe(1))
    return lock


def stand_ins() -> dict[str, Any]:
    """What stands in for the locks of ``_thread``."""
    names = {"allocate_lock": allocate_lock, "allocate": allocate_lock, "LockType": Lock, "RLock": RLock}
    if HAS_JOINABLE_THREADS:
        names["lock"] = Lock
    return names


def make_end_lock(thread: ManagedThread) -> Lock:
    """What a thread is joined through until 3.12: locked as long as it runs."""
    lock = allocate_lock()
    lock._ends_with = thread
    return lock


class RLock:
    """Stands in for ``_thread.RLock``."""

    __slots__ = ("__weakref__", "_count", "_holder", "_made", "_taken")

    _holder: ManagedThread | None
    _count: int
    _taken: Place | None
    _made: Made | None

    # As the original, which is complete before a class of the program initialises it, and ignores arguments until 3.14.
    def __new__(cls, *arguments: object, **named: object) -> Self:
        if (arguments or named) and RLOCK_TAKES_NOTHING and cls is RLock:
            raise TypeError("RLock() takes no arguments")
        self = object.__new__(cls)
        self._holder = None
        self._count = 0
        self._taken = None
        self._made = caller(sys._getframe(1))
        return self

    def ready_for(self, thread: ManagedThread) -> bool:
        return self._holder is None or self._holder is thread

    def explain(self) -> str:
        return _explain("RLock", self._made, self._holder, self._taken)

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        holder = self._holder
        if (holder is not None and holder is not _counter.current) or timeout != -1 or not _passes():
            deadline = _deadline(blocking, timeout)
            if not blocking:
                _ask()
                if not self.ready_for(_scheduler.current):
                    return False
            elif not _ask(self, deadline):
                return False
        self._take(1)
        return True

    def _take(self, count: int) -> None:
        thread = _counter.current
        if self._count == 0:
            self._holder = thread
            self._taken = thread.place
        self._count += count

    def release(self) -> None:
        if self._count == 0 or self._holder is not _scheduler.present():
            raise RuntimeError("cannot release un-acquired lock")
        if self._count == 1 and not _passes():
            _ask()
        self._count -= 1
        if self._count == 0:
            self._holder = self._taken = None

    def __enter__(self) -> bool:
        holder = self._holder
        if ((holder is None or holder is _counter.current) and _passes()) or _ask(self):
            self._take(1)
        return True

    def __exit__(self, *_: object) -> None:
        self.release()

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
        self._take(state[0])

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


def caller(frame: FrameType) -> Made | None:
    """Where a lock was made, outside the library, and by which function; None if it replaces an earlier lock."""
    places = _scheduler.places
    _, user_frame = places.user_frame(frame)
    found = user_frame or frame
    if user_frame is None and frame.f_code.co_filename.startswith(RUNTIME):
        return None
    if frame.f_code.co_qualname == "RLock" and frame.f_back is not None:
        frame = frame.f_back  # that is a function of `threading`
    return places.short(found.f_code.co_filename), found.f_lineno, frame.f_code.co_qualname


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
