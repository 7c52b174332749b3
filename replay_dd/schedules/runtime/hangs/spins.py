"""Notices that a thread spins: it goes round in a loop that only another thread can end.

Rules of this module:

* A thread spins if, without waiting, it comes to the same place with all that it can see as it was. It marks where it
  stands whenever it has run for twice as long as at the last mark (Brent's way to meet circles; see circles.py).
* All that follows is that another thread runs, which is never wrong. So twice the same is enough.
* A thread in a `for` loop does not spin: programs that are to take time count in one. Nor does one that reads the
  clock.
"""

from __future__ import annotations

import sys

from ..baton.garbage import COLLECT_EVERY
from ..points.frames import RUNTIME, program_frame
from .loops import Loops
from .state import state_of, values_of

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from types import FrameType

    from ..baton.scheduler import Scheduler
    from ..baton.thread import ManagedThread

_MOST_LOOKS = 3  # at states that turned out to be others, for each mark


class Spins:
    """Asked whenever a thread has passed :data:`COLLECT_EVERY` more yield points.

    Args:
        scheduler: who runs.
    """

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler
        self._loops = Loops()
        self._thread: ManagedThread | None = None
        self._since = -1
        self._next_mark = 0
        self._where: list[object] = []
        self._state: list[object] | None = None
        self._readings = 0
        self._looks = 0

    def spins(self, thread: ManagedThread) -> bool:
        """Whether a thread has come round once more with nothing changed, while no other one ran."""
        scheduler = self._scheduler
        if scheduler.moments.real_time:
            return False
        if thread is not self._thread or thread.base_time != self._since:
            self._thread, self._since = thread, thread.base_time
            self._next_mark, self._state = thread.time, None
        if thread.time >= self._next_mark:
            self._next_mark = thread.time + max(COLLECT_EVERY, thread.time - self._since)
            self._mark(thread)
            return False
        if self._state is None or self._looks == _MOST_LOOKS or scheduler.clock.readings != self._readings:
            return False
        frame = self._frame(thread)
        if _where(frame) != self._where:
            return False
        self._looks += 1
        return state_of(_roots(frame)) == self._state

    def _mark(self, thread: ManagedThread) -> None:
        frame = self._frame(thread)
        self._where, self._looks, self._readings = _where(frame), 0, self._scheduler.clock.readings
        self._state = state_of(_roots(frame)) if self._is_in_loop(frame) else None

    def _frame(self, thread: ManagedThread) -> FrameType | None:
        return program_frame(sys._current_frames().get(thread.ident))

    def _is_in_loop(self, frame: FrameType | None) -> bool:
        """Whether the innermost loop of the functions that a thread is in is no `for` loop."""
        while frame is not None:
            is_for = None if frame.f_code.co_filename.startswith(RUNTIME) else self._loops.innermost(frame)
            if is_for is not None:
                return not is_for
            frame = frame.f_back
        return False


def _where(frame: FrameType | None) -> list[object]:
    where: list[object] = []
    while frame is not None:
        where += [id(frame.f_code), frame.f_lasti]
        frame = frame.f_back
    return where


def _roots(frame: FrameType | None) -> list[object]:
    roots: list[object] = []
    while frame is not None:
        if not frame.f_code.co_filename.startswith(RUNTIME):
            roots += values_of(frame)
        frame = frame.f_back
    return roots
