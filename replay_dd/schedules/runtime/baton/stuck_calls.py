"""Calls that the runtime does not control: found out when they keep the baton, and told.

Rules of this module:

* A thread that waits at its gate looks now and then whether the one with the baton stands still: no yield point, and no
  processor time, for half a second of real time. Then that one waits in C, perhaps for another thread of the program.
  The baton is taken from it, which is a forced switch; it is *away*. The log's user is told where. The looks
  themselves are the counter's (``wait_at`` in counter.py): as they come in real time, they make no objects.
* If all others sleep, the one whose time comes first gets the baton when it has stood still for so long, and for two
  seconds: most calls return before, and then the run does not depend on how long they took.
* A thread that was away asks for the baton at its next yield point or operation, and waits there. Between the return of
  its call and that moment it touches nothing that others see, if it is counted code.
* A thread that is none of ours and runs counted code is told, too.
* All this is done with the interpreter's own lock in hand. Whatever lets go of that lock (a write to the channel) may
  let the thread in question go on; so it loses its identity first.
"""

from __future__ import annotations

import _thread
import sys

from ..accelerator.own_memory import use_own
from ..channel import NOTE
from ..points.place import Place
from .moments import OUTSIDE, OutsideWait
from .strategy import Question

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from types import CodeType, FrameType

    from .moments import Moments
    from .scheduler import Scheduler
    from .thread import ManagedThread

AWAY = "away"  # with the thread time of the call, the answer of a wait that was the runtime's doing
_LOOK_EVERY_S = 0.25
_LOOK_EVERY_FOLLOWING_S = 0.01  # where the log says that it will happen
_STILL_NS = 450_000_000  # what STILL_LOOKS take at least
_BEFORE_SLEEPERS_NS = 2_000_000_000

_get_ident = _thread.get_ident


class _Call(OutsideWait):
    """A call that the runtime does not control, as a wait of the thread that is in it."""

    __slots__ = ("answer",)

    def __init__(self, moments: Moments, thread: ManagedThread) -> None:
        what = "a call to return that replay-dd does not control"
        super().__init__(moments, thread, lambda: thread.returned, [], OUTSIDE, what)
        self.answer = (AWAY, thread.time)


class StuckCalls:
    """Finds threads that keep the baton while they wait in C.

    Args:
        scheduler: who hands the baton around.
    """

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler
        self._away: dict[int, ManagedThread] = {}
        self._foreign_told = False
        scheduler.look_every = (True, _LOOK_EVERY_S)
        scheduler.least_still_ns = _STILL_NS
        scheduler.found_still = self.found_still
        scheduler.come_back = self.come_back
        scheduler.counter.stranger = self.stranger

    def follow(self, answers: list[object]) -> None:
        """Look more often where a log says that threads will be away."""
        follows = any(isinstance(answer, (list, tuple)) and AWAY in answer for answer in answers)
        self._scheduler.look_every = (True, _LOOK_EVERY_FOLLOWING_S if follows else _LOOK_EVERY_S)
        self._scheduler.least_still_ns = 0 if follows else _STILL_NS

    def found_still(self, still_ns: int) -> None:
        """Called by a thread that waits for the baton and has found that the one with it stands still for so long."""
        holder = self._scheduler.current
        if still_ns >= _STILL_NS or self._is_expected(holder):
            self._take_from(holder, still_ns)

    def _is_expected(self, holder: ManagedThread) -> bool:
        """Whether a log says that this thread will be away now; any other one is given the usual time."""
        expected = self._scheduler.moments.expected.get((holder.name, holder.waits + 1))
        return expected is not None and expected.answer == (AWAY, holder.time)

    def _take_from(self, holder: ManagedThread, still_ns: int) -> None:
        """Take the baton from a thread that has stood still for so long, if anybody has use for it."""
        scheduler = self._scheduler
        ident = holder.ident
        holder.returned = False
        self._away[ident] = holder
        holder.ident = 0
        scheduler.busy = True
        wait = _Call(scheduler.moments, holder)
        holder.waiting = wait
        # Who is ready now came at the yield point that this switch will be, not at the one before the call.
        holder.time += scheduler.counting
        scheduler.moments.at_choice()
        ready = [thread for thread in scheduler.threads if thread is not holder and scheduler.is_ready(thread)]
        holder.time -= scheduler.counting
        if not ready and still_ns >= _BEFORE_SLEEPERS_NS:
            until_ns = scheduler.clock.now_ns + still_ns
            ready = [t for t in scheduler.early_sleepers([]) if t.deadline is not None and t.deadline <= until_ns]
        if not ready:
            # Nobody has use for the baton.
            holder.waits -= 1
            holder.waiting = None
            scheduler.busy = False
            if holder.returned:
                holder.gate.release()
            else:
                del self._away[ident]
                holder.ident = ident
            return
        if wait.expected is not None and wait.expected.answer != wait.answer:
            wait.leave()
        self._tell(holder, sys._current_frames().get(ident))
        if scheduler.counting:
            scheduler.pass_yield_point(holder)
        default = scheduler.next_after(holder, ready)
        scheduler.hand_on(Question(holder, ready, default, forced=True, place=holder.place))

    def _tell(self, holder: ManagedThread, frame: FrameType | None) -> None:
        """Note where a thread is stuck."""
        scheduler = self._scheduler
        _, user_frame = scheduler.places.user_frame(frame)
        if user_frame is not None:
            holder.place = Place(user_frame.f_code, user_frame.f_lasti, reachable=True)
            where = f"at {scheduler.places.short(user_frame.f_code.co_filename)}:{user_frame.f_lineno}"
        else:
            where = "in the library"
        scheduler.send(
            NOTE, "away", f"a call {where} waited outside of replay-dd's control; other threads ran meanwhile"
        )

    def come_back(self) -> bool:
        """Called by a thread that has not got the baton: if it was away, it waits for it.

        Returns:
            Whether the calling thread has the baton now.
        """
        scheduler = self._scheduler
        ident = _get_ident()
        thread = self._away.get(ident)
        if thread is None or scheduler.over:
            return False
        thread.returned = True
        scheduler.wait_for_baton(thread)
        del self._away[ident]
        thread.ident = ident
        wait = thread.waiting
        thread.waiting = None
        if isinstance(wait, _Call):
            scheduler.moments.answered(wait, wait.answer)
        scheduler.resumed(thread)
        use_own(False)
        return True

    def stranger(self, code: CodeType) -> bool:
        """Counted code runs in a thread that has not got the baton; as :meth:`come_back`."""
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
                f"a thread that replay-dd did not start ran code of the program ({where}), uncontrolled",
            )
        return False
