"""Notices that a program goes round in a circle that it cannot leave: a livelock, or a loop without end.

It marks a state of the program and waits for the same state to come again. The mark is renewed whenever the number of
choices has doubled, so a circle of any length is met, wherever it begins: R. P. Brent, "An improved Monte Carlo
factorization algorithm" (BIT 20, 1980).

Rules of this module:

* A state is what the code of the threads can see: where each of them stands and for how long it still sleeps, the
  variables of its functions, and all that can be reached from there; see state.py.
* A circle counts only if it is fair, that is if every thread that could run in it did; if nothing in it read the clock
  or drew random numbers; and if nothing from outside can end it: no wait for a descriptor, no child process, no thread
  that is not under control, no alarm, no code that asks for files or connections, wherever the circle leads through it.
  In doubt there is none.
* A `for` loop ends with its iterator, which is not looked into: a thread that stands in one may leave it.
* What other objects in C keep to themselves stays unseen. So one round proves nothing, and many are waited for.
* Only what does not depend on who asks is counted: threads that have to wait or give way, and every so many yield
  points. So a replay, whose strategy asks elsewhere, ends at the same point.
"""

from __future__ import annotations

import os
import sys

from ..baton.clock import NO_ALARM
from ..baton.moments import OutsideWait
from ..observing import is_a
from ..points.frames import RUNTIME, program_frame
from .loops import Loops, asks_outside
from .state import state_of, values_of

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from collections.abc import Callable

    from ..baton.scheduler import Scheduler
    from ..baton.thread import ManagedThread
    from ..points.place import Place

FIRST_MARK = 64  # choices: most programs that end come to fewer
ROUNDS = 10  # each may need some switches, all of which are then in the log
_COMPUTING = 4  # choices that many yield points without any count for
TRACED_ROUNDS = 4  # at the end, for the lines that come round
_TRACED_POINTS = 4_000
_MOST_LOOKS = 3  # at states that turned out to be others, for each mark: each costs up to some milliseconds


class Circles:
    """Looks whether the program comes to a state again.

    Args:
        scheduler: who runs.
        end: ends the process; does not return.
    """

    def __init__(self, scheduler: Scheduler, end: Callable[[], None]) -> None:
        self._scheduler = scheduler
        self._end = end
        self._choices = 0
        self._next_mark = FIRST_MARK
        self._position: tuple[object, ...] = ()
        self._where: tuple[list[object], list[object]] | None = None
        self._state: list[object] | None = None
        self._looks = 0
        self._rounds = 0
        self._first_round = 0
        self._loops = Loops()
        self._round = 0  # a hash of what was passed in it
        self._forget_round()

    def at_choice(self, thread: ManagedThread, place: Place | None, ready: list[ManagedThread], waits: bool) -> None:
        """A thread has to wait or gives way, or computes; ends the program if it has come round too often."""
        self._choices += 1 if waits else _COMPUTING
        if self._choices < FIRST_MARK:
            return
        if self._state is None and self._choices < self._next_mark:
            return
        position = (thread, None if place is None else (place.code, place.position))
        self._round = hash((self._round, position))
        self._ran.add(thread)
        self._could.update(ready)
        if self._choices >= self._next_mark:
            self._next_mark *= 2
            self._mark(position)
        elif self._state is not None and position == self._position:
            self._compare()

    def _forget_round(self) -> None:
        self._round = 0
        self._ran: set[ManagedThread] = set()
        self._could: set[ManagedThread] = set()
        self._readings = self._readings_now()

    def _readings_now(self) -> tuple[int, ...]:
        """How often somebody has read what a state does not show."""
        scheduler = self._scheduler
        waits = sum(thread.waits for thread in scheduler.threads)
        return scheduler.clock.readings, scheduler.outside_events, waits

    def _mark(self, position: tuple[object, ...]) -> None:
        self._position, self._where = position, self._where_now()
        self._state = None if self._where is None else state_of(self._where[1])
        self._looks = self._rounds = self._first_round = 0
        self._forget_round()

    def _compare(self) -> None:
        if self._looks >= _MOST_LOOKS:
            self._state = None
            return
        where = self._where_now()
        if where is None or self._where is None or where[0] != self._where[0]:
            self._rounds = 0
            return
        if state_of(where[1]) != self._state:
            self._looks += 1
            self._rounds = 0
            return
        same = self._rounds == 0 or self._round == self._first_round
        fair = self._could <= self._ran and all(one in self._ran for one in self._sleepers())
        if not same or not fair or self._readings != self._readings_now():
            self._looks += 1
            self._rounds = 0
            self._forget_round()
            return
        self._rounds += 1
        self._first_round = self._round
        if self._rounds == ROUNDS - TRACED_ROUNDS:
            self._scheduler.traced_left = max(self._scheduler.traced_left, _TRACED_POINTS)
            self._scheduler.log.to_pass = _TRACED_POINTS
            self._scheduler.log.passed.clear()
        elif self._rounds >= ROUNDS:
            if any(asks_outside(code) for code in self._scheduler.log.passed):
                self._state = None
            elif not self._could_be_ended_from_outside():
                self._end()
        self._forget_round()

    def _sleepers(self) -> list[ManagedThread]:
        return [thread for thread in self._scheduler.threads if thread.deadline is not None]

    # -- the state -----------------------------------------------------------------------------------------------------

    def _where_now(self) -> tuple[list[object], list[object]] | None:
        """Where the threads stand, and the values of their variables; None if something unseen may change those."""
        scheduler = self._scheduler
        if scheduler.moments.real_time or scheduler.clock.alarm_ns < NO_ALARM:
            return None
        frames = sys._current_frames()
        parts: list[object] = []
        roots: list[object] = []
        for thread in scheduler.threads:
            waiting = thread.waiting
            if is_a(waiting, OutsideWait):
                return None
            left_ns = None if thread.deadline is None else thread.deadline - scheduler.clock.now_ns
            parts += [thread.name, id(waiting), left_ns]
            frame = program_frame(frames.get(thread.ident))
            while frame is not None:
                code = frame.f_code
                if not code.co_filename.startswith(RUNTIME):
                    if thread in self._ran and self._loops.may_be_left(frame):
                        return None
                    parts += [id(code), frame.f_lasti]
                    roots += values_of(frame)
                frame = frame.f_back
        return parts, roots

    def _could_be_ended_from_outside(self) -> bool:
        try:
            tasks = os.listdir("/proc/self/task")
            children = [_text(f"/proc/self/task/{task}/children") for task in tasks]
        except OSError:
            return True
        return len(tasks) > len(self._scheduler.threads) or any(children)


def _text(path: str) -> str:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        return os.read(descriptor, 100).decode()
    finally:
        os.close(descriptor)
