"""Calls that the runtime does not control: detected when they block with the baton, which is then taken from them.

Rules of this module:

* A thread that waits at its gate checks at intervals whether the thread with the baton stands still: no yield point,
  no processor time for half a second of real time. Then it blocks in C, perhaps waiting for another thread of the
  program. The baton is taken from it, a forced switch; the thread is *away*. The checks are made by the counter
  (``wait_at`` in counter.py): as they happen in real time, they create no objects.
* It keeps the baton, however long it takes, where no thread of the program can be what it waits for: a disk, another
  machine, or whoever reads the standard output.
* If all others sleep, the one that wakes first gets the baton once the call has blocked for as long as that sleep, and
  for at least two seconds: most calls return earlier, and then the run does not depend on how long they took.
* The log notes where. In a replay, real time decides nothing: the baton is taken from that call even if it returns at
  once, and from no other. A call is found again by the thread time at which it begins, and by how often the thread has
  met the runtime since; what lies between there and the call is not done without the baton.
* A thread that was away asks for the baton at its next yield point or operation, and waits there. Between the return of
  its call and that point it touches nothing that others see, if it is counted code.
* A thread that the runtime did not start is reported if it runs counted code.
* Anything that releases the GIL (a write to the channel) may let the stuck thread continue; so it loses its identity
  first. It may also have gone on between two instructions here; without a GIL it may continue at any moment. So after
  it has lost its identity, it is looked at once more: if it still has the baton and is still in that call (without the
  accelerator: if it has used no processor time), it meets us at its next yield point; if not, it keeps the baton. Only
  one waiting thread looks at a time, and what both sides change, they change under a lock.
* Such a thread also runs at the same time as the one with the baton, from the return of its call to that yield point.
"""

from __future__ import annotations

import _thread
import sys
import time

from ..accelerator import accelerator
from ..accelerator.own_memory import use_own
from ..channel import ARRIVAL, NOTE
from ..compat import FREE_THREADED
from ..counting.counter import fold
from ..points.place import Place
from ..points.place_record import place_record
from .moments import AWAY, OutsideWait, is_away
from .patience import EXACT_PATIENCE_S, OUTSIDE
from .strategy import Question
from .thread import allocate_real_lock, contacts

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from types import CodeType, FrameType
    from typing import Any

    from .moments import Moments
    from .scheduler import Scheduler
    from .thread import ManagedThread

_LOOK_EVERY_S = 0.25
_LOOK_EVERY_FOLLOWING_S = 0.01  # where the log says that a call will be stuck
_STILL_NS = 450_000_000  # what STILL_LOOKS take at least
_EXACT_STILL_NS = int(EXACT_PATIENCE_S * 1e9)  # where the log says that it will not
_BEFORE_SLEEPERS_NS = 2_000_000_000
_ENDED = -1  # in the place of a thread's processor time

_get_ident = _thread.get_ident
_thread_clock, _processor_ns = time.pthread_getcpuclockid, time.clock_gettime_ns


class _Call(OutsideWait):
    """A call that the runtime does not control, as a wait of the thread that is in it."""

    __slots__ = ("answer",)

    def __init__(self, moments: Moments, thread: ManagedThread, system_call: int) -> None:
        what = "a call that replay-dd does not control to return"
        super().__init__(moments, thread, lambda: thread.returned, [], OUTSIDE, what)
        self.answer = (AWAY, thread.time, contacts(thread), system_call)

    def answer_at_end(self) -> object:
        return self.answer


class StuckCalls:
    """Finds threads that hold the baton while they block in C.

    Args:
        scheduler: who hands the baton around.

    Attributes:
        standard_streams: (device, inode) of the files that this process was started with.
    """

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler
        self._away: dict[int, ManagedThread] = {}
        self._foreign_told = False
        self._looking = allocate_real_lock()  # held by the thread that may take the baton
        self._returning = allocate_real_lock()  # held while it is settled whether a thread is away
        self.standard_streams: set[tuple[int, int]] = set()
        scheduler.look_every = (True, _LOOK_EVERY_S)
        scheduler.least_still_ns = _STILL_NS
        scheduler.found_still = self.found_still
        scheduler.come_back = self.come_back
        scheduler.counter.stranger = self.stranger
        scheduler.moments.somebody_is_away = lambda: any(not t.expects_to_be_away for t in self._away.values())

    def follow(self, records: list[tuple[Any, ...]]) -> None:
        """Take the baton where it was taken in another run, and check more often if it was at all."""
        follows = any(record[0] == ARRIVAL and is_away(record[-1]) for record in records)
        scheduler = self._scheduler
        scheduler.look_every = (True, _LOOK_EVERY_FOLLOWING_S if follows else _LOOK_EVERY_S)
        scheduler.least_still_ns = 0 if follows else _STILL_NS
        scheduler.expect_stuck = self.expect_stuck if follows else None

    # -- calls of which a log says that they were stuck --------------------------------------------------------------

    def expect_stuck(self, thread: ManagedThread) -> None:
        """A thread goes on to code of the program; if that is the call in which it was stuck, it will be away."""
        answer = self._recorded(thread)
        if answer is None or answer[2] != contacts(thread) or thread.ident != _get_ident():
            return
        self._away[thread.ident] = thread
        thread.ident = 0  # so that it asks for the baton after the call
        thread.expects_to_be_away = True
        self._set_place(thread, sys._getframe(1))

    def _recorded(self, thread: ManagedThread) -> tuple[Any, ...] | None:
        """What the log says about a stuck call of a thread between this yield point and the next one."""
        expected = self._scheduler.moments.expected.get((thread.name, thread.waits + 1))
        if expected is None or not is_away(expected.answer) or expected.answer[1] != thread.time:
            return None
        answer: tuple[Any, ...] = expected.answer
        return answer

    # -- taking the baton away ---------------------------------------------------------------------------------------

    def found_still(self, still_ns: int) -> None:
        """Called by a waiting thread that has found the thread with the baton standing still for this long."""
        if self._looking.acquire(False):
            try:
                self._look_at_holder(still_ns)
            finally:
                self._looking.release()

    def _look_at_holder(self, still_ns: int) -> None:
        scheduler = self._scheduler
        holder = scheduler.current
        if scheduler.busy or scheduler.over or not holder.handle:
            return  # without a GIL, it may have gone on since
        expects = holder.expects_to_be_away
        least_ns = _EXACT_STILL_NS if self._scheduler.moments.patience.exact and not expects else _STILL_NS
        if still_ns < least_ns and not expects:
            return
        number, is_outside = self._system_call(holder)
        if expects:
            # It may not have come to that call yet.
            answer = self._recorded(holder)
            if answer is None or (still_ns < _STILL_NS and answer[3] != number):
                return
        elif is_outside:
            return
        self._take_from(holder, still_ns, number)

    def _system_call(self, thread: ManagedThread) -> tuple[int, bool]:
        """The number of the system call that a thread is in, and whether only the world outside can end it."""
        if accelerator is None:
            return -1, False  # the part in Python would release the GIL
        found: tuple[int, bool] = accelerator.system_call(thread.handle, self.standard_streams)
        return found

    def _take_from(self, holder: ManagedThread, still_ns: int, system_call: int) -> bool:
        """Take the baton from a thread that has stood still for this long, if another thread can use it."""
        scheduler = self._scheduler
        handle, expected = holder.handle, holder.expects_to_be_away
        processor_ns = _processor_time(handle)
        holder.expects_to_be_away = holder.returned = False
        self._away[handle] = holder
        holder.ident = holder.handle = 0
        if handle != _get_ident() and not self._is_still_in(holder, handle, system_call, processor_ns):
            self._give_back(holder, handle, expected)
            return False
        scheduler.busy = True
        wait = _Call(scheduler.moments, holder, system_call)
        holder.waiting = wait
        # What is ready now counts as arrived at the yield point of this switch, not at the one before the call.
        holder.time += scheduler.counting
        scheduler.moments.happenings.at_choice()
        ready = [thread for thread in scheduler.threads if thread is not holder and scheduler.is_ready(thread)]
        holder.time -= scheduler.counting
        scheduler.ready = ready
        if not ready and (expected or still_ns >= _BEFORE_SLEEPERS_NS):
            until_ns = scheduler.clock.now_ns + still_ns
            sleepers = scheduler.early_sleepers([])
            ready = [t for t in sleepers if expected or (t.deadline is not None and t.deadline <= until_ns)]
        if not ready:
            # Nobody can use the baton.
            holder.waits -= 1
            holder.waiting = None
            scheduler.busy = False
            self._give_back(holder, handle)
            return False
        if wait.expected is not None and not expected:
            wait.leave()
        if not expected:
            self._set_place(holder, sys._current_frames().get(handle))
        self._tell(holder)
        if scheduler.counting:
            # Its place is no part of the digest: where the call returned before anybody looked, it is not known.
            fold(scheduler.counter, holder, 0)
        default = scheduler.next_after(holder, ready)
        with self._returning:
            scheduler.hand_on(Question(holder, ready, default, forced=True, place=holder.place))
            scheduler.let_go(holder)
        return True

    def _is_still_in(self, holder: ManagedThread, handle: int, system_call: int, processor_ns: int) -> bool:
        """Whether a thread that has just lost its identity is still where it was seen before that.

        Args:
            holder: the thread.
            handle: its identity until then.
            system_call: the one that it was in, as far as that can be told.
            processor_ns: the processor time that it had used.
        """
        if self._scheduler.current is not holder or self._scheduler.busy:
            return False  # it has handed the baton on, or is about to
        if not FREE_THREADED:
            return True
        if accelerator is None:
            return processor_ns == _processor_time(handle) != _ENDED
        return bool(accelerator.system_call(handle, self.standard_streams) == (system_call, False))

    def _give_back(self, holder: ManagedThread, handle: int, expected: bool = False) -> None:
        """Let a thread keep the baton that was to be taken from it; ``expected``: for now."""
        with self._returning:
            if holder.returned:
                holder.gate.release()
            elif expected:
                holder.expects_to_be_away = True
                holder.handle = handle
            else:
                # In this order: without a GIL, the thread finds itself in one of both at any moment.
                if not holder.ended:
                    holder.ident = holder.handle = handle
                del self._away[handle]

    def _set_place(self, thread: ManagedThread, frame: FrameType | None) -> None:
        """Note where a thread is stuck, or going to be: where its code of the program stands."""
        _, user_frame = self._scheduler.places.user_frame(frame)
        thread.place = None
        if user_frame is not None:
            thread.place = Place(user_frame.f_code, user_frame.f_lasti, reachable=True)

    def _tell(self, holder: ManagedThread) -> None:
        """Report where a thread is stuck."""
        scheduler = self._scheduler
        where = "in the library"
        if holder.place is not None:
            record = place_record(scheduler.places, 0, holder.place)
            where = f"at {record[2]}:{record[4]}"
        scheduler.send(
            NOTE, "away", f"a call {where} blocked outside replay-dd's control; other threads ran in the meantime"
        )

    def come_back(self) -> bool:
        """Called by a thread without the baton: if it was away, it waits for the baton.

        Returns:
            Whether the calling thread has the baton now.
        """
        scheduler = self._scheduler
        ident = _get_ident()
        thread = self._away.get(ident)
        if thread is None or scheduler.over:
            return FREE_THREADED and scheduler.current.ident == ident  # it was looked at, and kept the baton
        if thread.expects_to_be_away and not self._leave_late(thread, ident):
            return True
        with self._returning:
            if ident not in self._away:
                return True  # likewise
            thread.returned = True
        scheduler.wait_for_baton(thread)
        self._away.pop(ident, None)
        thread.ident = thread.handle = ident
        wait = thread.waiting
        thread.waiting = None
        if isinstance(wait, _Call):
            scheduler.moments.answered(wait, wait.answer)
        scheduler.resumed(thread)
        use_own(False)
        return True

    def _leave_late(self, thread: ManagedThread, ident: int) -> bool:
        """The call of a thread has returned sooner than in the recorded run: let the others run as they did then.

        Returns:
            Whether another thread has the baton now.
        """
        before = use_own(True)
        answer = self._recorded(thread)
        if answer is not None and self._take_from(thread, 0, answer[3]):
            return True
        self._away.pop(ident, None)
        thread.expects_to_be_away = False
        thread.ident = thread.handle = ident
        del answer  # while our own memory is used
        use_own(before)
        return False

    def stranger(self, code: CodeType) -> bool:
        """Counted code runs in a thread without the baton; returns like :meth:`come_back`."""
        if self.come_back():
            return True
        scheduler = self._scheduler
        ident = _get_ident()
        if not self._foreign_told and not scheduler.over and all(t.ident != ident for t in scheduler.known.values()):
            self._foreign_told = True
            where = f"{code.co_qualname} in {scheduler.places.short(code.co_filename)}"
            scheduler.send(
                NOTE,
                "foreign",
                f"a thread that replay-dd did not start ran code of the program ({where}) outside its control",
            )
        return False


def _processor_time(handle: int) -> int:
    """The processor time of a thread, in nanoseconds."""
    try:
        return _processor_ns(_thread_clock(handle))
    except OSError:
        return _ENDED
