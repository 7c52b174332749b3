"""What every yield point needs: the numbers of the running thread, and the digest.

Rules of this module:

* ``ThreadCounts`` and ``Counter`` exist twice, here in Python and in ``accelerator/counting.c``. Both do the same: the
  same thread times, digests and questions. The rest of the runtime uses either one alike.
"""

from __future__ import annotations

import time

from ..accelerator import accelerator
from ..constants import (
    AT_PLACES,
    BUSY_PERCENT,
    BY_THREAD,
    DIGEST_PRIME,
    EARLIEST_LOOK_NS_PER_S,
    NOTED_VISITS,
    STILL_LOOKS,
)
from .digest import MASK

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

_clock_ns, _thread_clock, _processor_ns = time.monotonic_ns, time.pthread_getcpuclockid, time.clock_gettime_ns


class PythonThreadCounts:
    """The numbers of a thread that every yield point needs.

    Attributes:
        time: yield points passed.
        ask_at: the thread time at which the scheduler is to be asked.
        atomic: above 0 inside an import: no yield points.
        hash: what the thread adds to the digest.
        ident: the thread's identity, as ``_thread.get_ident`` tells it; 0 where it is to ask for the baton at its next
            yield point, as its call was stuck, or is going to be.
        handle: the same, except while it is away without the baton.
        uncounted: operations so far that were not yield points.
        contacts: how often it met the runtime since its last yield point.
        contacts_at: the time as of which that is.
        place: where it does its operation, or None.
    """

    __slots__ = ("ask_at", "atomic", "contacts", "contacts_at", "handle", "hash", "ident", "place", "time", "uncounted")

    def __init__(self) -> None:
        self.time = 0
        self.ask_at = 0
        self.atomic = 0
        self.hash = 0
        self.ident = 0
        self.handle = 0
        self.uncounted = self.contacts = self.contacts_at = 0
        self.place: Any = None


class PythonCounter:
    """Counts and folds yield points.

    Attributes:
        current: the thread that has the baton.
        digest: the rolling digest.
        question: called with thread, code, position and is_line when a question is due.
        stranger: called with the code where a thread without the baton reaches a yield point; tells whether it has
            it now.
        watched: the numbers of places whose visits are counted, or None.
        visits: how often each thread visited each watched place.
        counting: whether yield points count: from the start of the first thread.
        busy: whether the scheduler is at work.
        over: whether the program has ended.
        every_operation: whether the strategy wants to be asked at each operation.
        noting: at which visits of places to ask, too: 0 for none; ``BY_THREAD`` or ``BY_PLACE`` for the first ones and
            those that double their number, of each thread or of all together; or ``AT_PLACES``.
        notable: whether the last yield point was such a visit.
        idle: whether the thread with the baton really waits, and nothing is wrong with that.
    """

    __slots__ = (
        *("busy", "counting", "current", "digest", "every_operation", "idle", "left_out", "notable", "noted", "noting"),
        *("over", "question", "stranger", "visits", "watched"),
        *("_looks", "_seen", "_seen_ns", "_seen_processor_ns", "_seen_time", "_still_since_ns"),
    )

    def __init__(self, current: Any, disable: object = None) -> None:
        self.current = current
        self.digest = 0
        self.question: Any = None
        self.stranger: Any = None
        self.watched: set[int] | None = None
        self.visits: dict[tuple[object, int], int] = {}
        self.counting = self.busy = self.over = self.every_operation = self.idle = self.notable = False
        self.noting = 0
        self.noted: dict[int, int] = {}
        self.left_out: set[int] = set()
        self._seen: Any = None
        self._looks = self._seen_time = self._seen_ns = self._seen_processor_ns = self._still_since_ns = 0

    def wait_at(
        self,
        acquire: Callable[[bool, float], bool],
        arguments: tuple[bool, float],
        least_ns: int,
        opens: Callable[[], None] | None = None,
    ) -> int:
        """Wait for a lock, and check at each timeout whether the thread with the baton stands still.

        Args:
            acquire: acquires the lock.
            arguments: its arguments: True, and the seconds between two checks.
            least_ns: report nothing shorter.
            opens: called first, if given.

        Returns:
            0 if the lock was acquired, else for how many nanoseconds that thread has stood still.
        """
        if opens is not None:
            opens()
        while not acquire(*arguments):
            still_ns = self._look(arguments[1])
            if still_ns and still_ns >= least_ns:
                return still_ns
        return 0

    def _look(self, every_s: float) -> int:
        holder = self.current
        if self.over or self.busy or self.idle or holder.atomic or not holder.handle:
            self._seen = None
            return 0
        now_ns = _clock_ns()
        try:
            processor_ns = _processor_ns(_thread_clock(holder.handle))
        except OSError:  # others run between two instructions here, and it has just ended
            self._seen = None
            return 0
        if self._seen is holder and self._seen_time == holder.time:
            passed_ns = now_ns - self._seen_ns
            if passed_ns < every_s * EARLIEST_LOOK_NS_PER_S:
                return 0
            used_ns = processor_ns - self._seen_processor_ns
            self._looks = self._looks + 1 if used_ns * 100 < passed_ns * BUSY_PERCENT else 0
        else:
            self._seen, self._looks = holder, 0
        self._seen_time, self._seen_ns, self._seen_processor_ns = holder.time, now_ns, processor_ns
        if self._looks == 0:
            self._still_since_ns = now_ns
        return now_ns - self._still_since_ns if self._looks >= STILL_LOOKS else 0

    def pass_operation(self) -> bool:
        """Pass the yield point of an operation that can proceed, if the strategy need not be asked.

        Returns:
            Whether it was passed: never here, as Python would be no faster than the scheduler.
        """
        return False

    def ask_at_places(self, numbers: Iterable[int]) -> None:
        """Ask also at each visit of places with these numbers."""
        self.noted.update(dict.fromkeys(numbers, 1))
        self.noting = AT_PLACES

    def leave_out(self, numbers: Iterable[int]) -> None:
        """Take no visit of places with these numbers for notable."""
        self.left_out.update(numbers)

    def position_of(self, frame: Any) -> int:
        """Where the frame of an operation stands, as the log has it."""
        position: int = frame.f_lasti
        return position

    def know(self, code: object, position: int, place: object, number: int) -> None:
        """Learn what :meth:`pass_operation` needs to know of a place; no place: any position of library code."""

    def know_library(self, frame: object, last: object) -> None:
        """The same of all code from one frame to another one, left out, or None: it is library code."""


def _fold(counter: Any, thread: Any, number: int) -> None:
    """Pass one yield point of a thread at the place with this number."""
    thread.time += 1
    counter.digest = ((counter.digest ^ number ^ thread.hash) * DIGEST_PRIME) & MASK
    counter.notable = False
    if counter.noting == AT_PLACES:
        counter.notable = number in counter.noted
    elif counter.noting and number not in counter.left_out:
        key = number ^ thread.hash if counter.noting == BY_THREAD else number
        visits = counter.noted[key] = counter.noted.get(key, 0) + 1
        counter.notable = visits <= NOTED_VISITS or not visits & (visits - 1)
    watched = counter.watched
    if watched is not None and number in watched:
        counter.visits[thread, number] = counter.visits.get((thread, number), 0) + 1


ThreadCounts: Any = PythonThreadCounts if accelerator is None else accelerator.ThreadCounts
Counter: Any = PythonCounter if accelerator is None else accelerator.Counter
fold: Any = _fold if accelerator is None else accelerator.fold
