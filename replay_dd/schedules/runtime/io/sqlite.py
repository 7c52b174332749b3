"""SQLite: waiting for a database lock gives up the baton; dates and random numbers are virtual.

Rules of this module:

* SQLite itself decides whether a statement waits for a lock, and for how long. If waiting cannot help, as two threads
  wait for each other, it raises at once. Otherwise it sleeps, retries, and raises when its sleeps add up to the timeout
  of the connection (``timeout``, ``PRAGMA busy_timeout``). Only the sleeps are replaced, in ``sqlite.c``.
* A sleep after a refused lock lasts until no other connection of this process holds a conflicting lock. It ends on the
  virtual clock only when nobody else can run; otherwise every choice of a schedule could bring the timeout nearer, and
  statements would fail although no time has passed.
* A lock that nobody in this process holds belongs to another process. Waiting for it takes real time. The log notes
  each request that was refused for that reason, by its number among those of the thread, and the thread time. In a
  replay these requests are refused, and no others: SQLite gets the lock as soon as it is free.
* What a transaction reads while another process is about to write decides whether it may write. So the log notes that,
  too, and whether the other process was done before the request was granted. It also notes where a transaction may not
  write, as another process did so after it had read.
* While it waits, the thread is inside SQLite and holds its connection. Exceptions cannot pass through SQLite; they are
  deferred.
* SQLite's ``date('now')`` and the like read the virtual clock; its ``random()`` is seeded from the seed of the run.
* Without this part of the accelerator, SQLite is one more library that blocks in C; see stuck_calls.py.
"""

from __future__ import annotations

import sys

from ..accelerator import accelerator
from ..baton.moments import OutsideWait
from ..baton.patience import OUTSIDE
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

# The first part of the answer to a request for a lock, where another process plays a part; the second is its number.
REFUSED = "refused"
HELD = "held"  # it lets a transaction read while that process is about to write
DONE = "done"  # follows HELD if that process was done before the request was granted
OLD = "old"  # it is for writing, and that process has changed what the transaction had read

# The levels of locks for reading, and for writing later; the lock for writing of a write-ahead log.
_TO_READ, _TO_WRITE, _WAL_WRITE = 1, 2, 1
# What to do about a request for a lock: see sqlite.c.
_NOTHING, _REFUSE, _WATCH_WRITER, _IS_OLD = 0, 1, 2, 3


class _LockOfAThread(Patient):
    """Waits until no thread of this process holds a conflicting lock."""

    __slots__ = ("_lock",)

    def __init__(self, lock: Lock) -> None:
        self._lock = lock

    def ready_for(self, thread: ManagedThread) -> bool:
        return not accelerator.database_lock_is_held(*self._lock)

    def explain(self) -> str:
        return "waits for a database lock"


class _LockOfAProcess(Patient, OutsideWait):
    """Waits until no other process holds a conflicting lock."""

    __slots__ = ("_lock", "answer")

    def __init__(self, moments: Moments, thread: ManagedThread, lock: Lock, microseconds: int) -> None:
        what = "a database lock that another process holds"
        super().__init__(moments, thread, self._is_free, [], OUTSIDE, what)
        self._lock = lock
        self.answer = (microseconds, thread.time)

    def _is_free(self) -> bool:
        return not accelerator.database_lock_is_held_elsewhere(*self._lock)

    def answer_at_deadline(self) -> object:
        return self.answer

    def is_free_soon(self, limit_s: float) -> bool:
        """Wait in real time until nobody holds it; False if that takes too long."""
        return self._moments.look(self) or self.wait_for_it(limit_s)


class _Sleep(Patient):
    """SQLite sleeps for another reason."""

    __slots__ = ()

    def ready_for(self, thread: ManagedThread) -> bool:
        return False

    def explain(self) -> str:
        return "sleeps in SQLite"


def _lock_for_writing(lock: Lock) -> Lock | None:
    """The lock of a process that is about to write, if this one is requested for reading."""
    number, level, wal, shared = lock
    if level == _TO_READ:
        return number, _TO_WRITE, 0, 0
    return (number, 0, _WAL_WRITE, 0) if wal and shared else None


class Databases:
    """Lets SQLite sleep under the scheduler.

    Args:
        scheduler: who hands the baton around.
        descriptors: who knows how to wait for other processes.
        date: returns the date for SQLite, in nanoseconds since 1970; None leaves it real.
        seed: for its random numbers; None leaves them real.
    """

    def __init__(
        self, scheduler: Scheduler, descriptors: Descriptors, date: Callable[[], int] | None, seed: int | None
    ) -> None:
        self._scheduler = scheduler
        self._descriptors = descriptors
        self._date = date
        self._seed = seed
        self._library: object = self  # not known
        # The last request during which another process is about to write: its thread, the thread time, and its number.
        self._held: tuple[str, int, int] | None = None

    def adapt(self, module: Any) -> None:
        """Adapt the SQLite that the module ``_sqlite3`` calls."""
        if hasattr(accelerator, "control_databases"):
            self._library = getattr(module, "__file__", None)
            self.follow()

    def follow(self) -> None:
        """Go by the log at requests for locks, if there is one; otherwise make it."""
        if self._library is not self:
            asked = self._repeat_answer if self._scheduler.moments.following else self._note_writer
            accelerator.control_databases(self._library, self._sleep, asked, self._told, self._date, self._seed)

    def _note_writer(self, _: None, request: int, lock: Lock) -> int:
        """Note where another process is about to write when a transaction begins to read.

        What that writes is not seen by the transaction, which may not write any more then. SQLite requests the lock
        once more if it saw the other process write meanwhile.
        """
        writing = _lock_for_writing(lock)
        if writing is None or not self._descriptors.has_baton():
            return _NOTHING
        this = self._this(request)
        if not accelerator.database_lock_is_held_elsewhere(*writing):
            if self._held == this:
                self._note(DONE, request, writing)
                self._held = None
            return _NOTHING
        if self._held != this:
            self._note(HELD, request, writing)
            self._held = this
        return _WATCH_WRITER

    def _repeat_answer(self, _: None, request: int, lock: Lock) -> int:
        """What became of a request for a lock, with this number among those of the thread, in the recorded run."""
        if not self._descriptors.has_baton():
            return _NOTHING
        writing = _lock_for_writing(lock)
        this = self._this(request)
        while writing is not None and self._held != this:
            if not self._expects(HELD, request):
                self._wait_until_free(writing, self._scheduler.moments.patience_s(OUTSIDE))
                break
            self._note(HELD, request, writing)
            if self._expects(DONE, request):
                self._note(DONE, request, writing)
            else:
                self._held = this
        for answer, what in ((REFUSED, _REFUSE), (OLD, _IS_OLD)):
            if self._expects(answer, request):
                self._note(answer, request, lock)
                return what
        return _NOTHING

    def _this(self, request: int) -> tuple[str, int, int]:
        thread = self._scheduler.current
        return thread.name, thread.time, request

    def _expects(self, what: str, request: int) -> bool:
        thread = self._scheduler.current
        expected = self._scheduler.moments.expected.get((thread.name, thread.waits + 1))
        return expected is not None and expected.answer == (what, request) and expected.time == thread.time

    def _told(self, what: str, request: int, lock: Lock) -> bool:
        """What became of a request: whether to repeat it, as it was granted in the recorded run.

        Args:
            what: REFUSED; DONE: the process that was seen to write is done; OLD: granted, but another process has
                changed what the transaction had read.
            request: its number among those of the thread.
            lock: what was requested.
        """
        if not self._descriptors.has_baton():
            return False
        if what == REFUSED:
            if accelerator.database_lock_is_held(*lock):
                return False
            moments = self._scheduler.moments
            if moments.following and self._wait_until_free(lock, moments.patience_s(OUTSIDE)):
                return True
        if what == DONE:
            self._held = None
        self._note(what, request, lock)
        return False

    def _wait_until_free(self, lock: Lock, limit_s: float) -> bool:
        thread = self._scheduler.current
        wait = _LockOfAProcess(self._scheduler.moments, thread, lock, 0)
        thread.waits -= 1  # the recorded run has no such wait
        return wait.is_free_soon(limit_s)

    def _note(self, what: str, request: int, lock: Lock) -> None:
        moments = self._scheduler.moments
        moments.answered(_LockOfAProcess(moments, self._scheduler.current, lock, 0), (what, request))

    def _sleep(self, microseconds: int, lock: Lock | None) -> bool:
        """What SQLite calls to sleep; False if it should sleep in real time.

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
        else:  # if nobody holds it any more, it was another process
            wait = _LockOfAProcess(moments, scheduler.current, lock, microseconds)
            if scheduler.wait_for_outside(frame, wait, microseconds / 1e6):
                moments.answered(wait, wait.answer)
