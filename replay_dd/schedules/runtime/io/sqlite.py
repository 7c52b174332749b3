"""SQLite: a thread that waits for the lock on a database gives the baton away; the date and random numbers are ours.

Rules of this module:

* SQLite itself decides whether a statement waits for a lock, and for how long. Where waiting cannot help, as two
  threads wait for each other, it raises at once. Else it sleeps, tries again, and raises when its sleeps add up to the
  time-out of the connection (``timeout``, ``PRAGMA busy_timeout``). Only the sleeps are replaced, in ``sqlite.c``.
* A sleep that follows a refused lock lasts until no other connection of this process has a lock that conflicts with it.
  It ends on the virtual clock only when nobody else can run: else each choice of a schedule could bring the time-out
  nearer, and statements would fail for want of a time that never passed.
* A lock that nobody in this process has is another process's. Waiting for it takes real time. What SQLite gets when it
  then asks again, it gets in a replay, too.
* Meanwhile the thread is inside SQLite and holds its connection. Exceptions cannot pass through there; they wait.
* SQLite's ``date('now')`` and the like read the virtual clock; its ``random()`` is seeded from the seed of the run.
* Without the accelerator SQLite is a library like others that wait in C; see stuck_calls.py.
"""

from __future__ import annotations

import sys

from ..accelerator import accelerator
from ..baton.moments import OUTSIDE, OutsideWait
from ..baton.thread import Patient

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ..baton.moments import Moments
    from ..baton.scheduler import Scheduler
    from ..baton.thread import ManagedThread
    from .descriptors import Descriptors

    Lock = tuple[int, int, int, int]  # as the accelerator knows it


_FIRST_SLEEP_US = 1000  # of the sleeps for one statement, which get longer


class _LockOfAThread(Patient):
    """Waits until no thread of this process has a lock that stands in the way."""

    __slots__ = ("_lock",)

    def __init__(self, lock: Lock) -> None:
        self._lock = lock

    def ready_for(self, thread: ManagedThread) -> bool:
        return not accelerator.database_lock_is_held(*self._lock)

    def explain(self) -> str:
        return "waits for a lock on a database"


class _LockOfAProcess(Patient, OutsideWait):
    """Waits until no other process has one."""

    __slots__ = ("_lock", "answer")

    def __init__(self, moments: Moments, thread: ManagedThread, lock: Lock, microseconds: int) -> None:
        what = "a lock on a database that another process has"
        super().__init__(moments, thread, self._is_free, [], OUTSIDE, what)
        self._lock = lock
        self.answer = (microseconds, thread.time)

    def _is_free(self) -> bool:
        return not accelerator.database_lock_is_held_elsewhere(*self._lock)

    def answer_at_deadline(self) -> object:
        return self.answer

    def before_another_try(self) -> None:
        """SQLite has slept, and asks for the lock once more; in a replay it gets the answer that it got."""
        if self.expected is None:
            return
        if self._was_refused_again():
            accelerator.refuse_database_lock(*self._lock)
        else:
            self.wait_really()

    def _was_refused_again(self) -> bool:
        match self.next_answer():
            case (int(microseconds), int(time)):
                # The next wait is of the same statement: it was not the first sleep of one, and nothing lay between.
                return microseconds > _FIRST_SLEEP_US and time == self.answer[1] + 1
        return False


class _Sleep(Patient):
    """SQLite waits for something else."""

    __slots__ = ()

    def ready_for(self, thread: ManagedThread) -> bool:
        return False

    def explain(self) -> str:
        return "sleeps in SQLite"


class Databases:
    """Lets SQLite sleep under the scheduler.

    Args:
        scheduler: who hands the baton around.
        descriptors: who knows how to wait for other processes.
        date: what SQLite is to ask for the date, in nanoseconds since 1970; None leaves it real.
        seed: of its random numbers; None leaves them real.
    """

    def __init__(
        self, scheduler: Scheduler, descriptors: Descriptors, date: Callable[[], int] | None, seed: int | None
    ) -> None:
        self._scheduler = scheduler
        self._descriptors = descriptors
        self._date = date
        self._seed = seed

    def adapt(self, module: Any) -> None:
        """Adapt the SQLite that the module ``_sqlite3`` calls."""
        if hasattr(accelerator, "control_databases"):
            library = getattr(module, "__file__", None)
            accelerator.control_databases(library, self._sleep, self._date, self._seed)

    def _sleep(self, microseconds: int, lock: Lock | None) -> bool:
        """What SQLite calls to sleep; False where it is to sleep really.

        Args:
            microseconds: how long at most.
            lock: what was refused before.
        """
        if not self._descriptors.has_baton():
            return False
        thread = self._scheduler.current
        held_back, thread.exception = thread.exception, None
        try:
            self._wait(sys._getframe(1), microseconds, lock)
        except RecursionError:
            return False
        except BaseException as error:  # raised by a handler of a signal
            held_back = error
        finally:
            if held_back is not None:
                thread.exception = held_back
                thread.ask_at = 0  # at its next yield point
        return True

    def _wait(self, frame: Any, microseconds: int, lock: Lock | None) -> None:
        scheduler, moments = self._scheduler, self._scheduler.moments
        deadline = scheduler.clock.now_ns + microseconds * 1000
        if lock is None:
            scheduler.operation(frame, _Sleep(), deadline)
        elif accelerator.database_lock_is_held(*lock):
            scheduler.operation(frame, _LockOfAThread(lock), deadline)
        else:  # if nobody has it any more, it was another process
            wait = _LockOfAProcess(moments, scheduler.current, lock, microseconds)
            if scheduler.wait_for_outside(frame, wait, microseconds / 1e6):
                moments.answered(wait, wait.answer)
            wait.before_another_try()
