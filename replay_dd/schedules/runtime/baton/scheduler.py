"""The deterministic scheduler: yield points and operations.

Rules of this module:

* A thread at a yield point has a *pending operation*. It is *ready* if that operation could proceed now (its lock is
  free, its deadline has passed). Only ready threads get the baton, so no operation is ever tried twice, and there is
  exactly one choice at each (thread, thread time).
* Thread time counts the yield points that a thread has passed. It depends only on that thread's own execution, not on
  who ran in between: an operation counts once, whether or not it had to wait.
* Everything that depends on the strategy happens in the runtime's own memory; see own_memory.py.
"""

from __future__ import annotations

import _thread
import sys

from ..accelerator import accelerator
from ..accelerator.own_memory import use_own
from ..constants import LIBRARY_SPIN_LIMIT, ROOM_FRAMES
from ..counting.counter import fold
from ..points.place import Place
from .answers import Answers
from .chooser import FOR_THE_TRACE, Chooser
from .garbage import COLLECT_EVERY, collect, collect_all
from .moments import OutsideWait
from .stack_room import need_room
from .thread import ManagedThread, meet

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType, FrameType, TracebackType
    from typing import Any

    from ..points.places import Places
    from .clock import Clock
    from .thread import Waitable

_get_ident = _thread.get_ident


class Scheduler(Chooser):
    """Counts yield points, and asks the strategy when a choice is due.

    Args:
        clock: the virtual clock.
        places: what code is counted.
        send: writes a record for the tool.
        end_deadlocked: ends the process when all threads wait for each other; does not return.
        disable: what the back end's callback answers where there is no yield point.

    Attributes:
        deliver_signals: calls the program's signal handlers, in the main thread; see signals.py.
        holds_signals: whether that has to wait.
        answers: lets them come before other threads run, if a run asks for that.
        count_again: lets a back end that has to be set again, as `sys.call_tracing` sets nothing, count once more.
        unwinds: called with a `SystemExit` that may end the program, and its traceback, by back ends that see it.
        collects: whether garbage is collected at fixed thread times.
    """

    def __init__(
        self,
        clock: Clock,
        places: Places,
        send: Callable[..., None],
        end_deadlocked: Callable[[], None],
        disable: object = None,
    ) -> None:
        super().__init__(clock, places, send, end_deadlocked, disable)
        self.counter.question = self.at_question
        self.deliver_signals: Callable[[], None] | None = None
        self.holds_signals = False
        self.answers = Answers(self.moments)
        self.count_again: Callable[[], None] = lambda: None
        self.unwinds: Callable[[Any, TracebackType | None], None] = lambda error, trace: None
        self.collects = False

    # -- yield points ------------------------------------------------------------------------------------------------

    def at_question(self, thread: ManagedThread, code: CodeType, position: int, is_line: bool) -> None:
        """The running thread has reached the thread time of the strategy's next question."""
        if self.busy or self.over or (thread.starting is not None and not thread.starting()):
            return
        if self.traced_left:
            self.traced_left -= 1
            self.log.yield_point(thread, Place(code, position, is_line))
            if thread.ask_at == FOR_THE_TRACE and thread.time < thread.due_at and self.guard is None:
                return
        observer = self.observer
        if observer is not None and self.guard is None and thread.ask_at > 0 and thread.time < thread.due_at:
            observer.at_access(thread, code, position)
            thread.ask_at = min(thread.due_at, observer.next_time(thread))
            return
        try:
            need_room(ROOM_FRAMES)
        except RecursionError:
            return  # no switch here, so a replay has none here either
        needed = None
        if self.guard is not None:
            needed = self.guard.at_instruction(thread, code, position, is_line)
            if thread.ask_at > 0 and thread.time < thread.due_at and (needed is None or needed.ready_for(thread)):
                if needed is not None:
                    self.guard.enter(thread, needed)
                if observer is not None:
                    observer.at_access(thread, code, position)
                thread.ask_at = FOR_THE_TRACE if self.traced_left else thread.time + 1
                return
        if thread.time % COLLECT_EVERY == 0 and self.collects:
            self.busy = True
            use_own(False)  # finalizers are the program's
            collect(thread.time)
            use_own(True)
            self.busy = False
        place = Place(code, position, is_line)
        if needed is None:
            self.choose_next(thread, place, forced=False)
        else:
            self._wait_to_enter(thread, place, needed)
        if thread.collects:
            self._collect_inside_report(thread)
        if thread.signalled:
            self._deliver_inside_report()  # before the instruction is done, and what it accesses is told
        if observer is not None:
            observer.at_access(thread, code, position)
        if self.expect_stuck is not None:
            self.expect_stuck(thread)
        use_own(False)
        if thread.exception is not None:
            _raise(thread)

    def _deliver_inside_report(self) -> None:
        """Call signal handlers at a yield point that the interpreter reports: meanwhile it would report no other."""
        if self.deliver_signals is not None:
            self._call_inside_report(self.deliver_signals)

    def _collect_inside_report(self, thread: ManagedThread) -> None:
        thread.collects = False
        if self.collects:
            self._call_inside_report(collect_all)

    def _call_inside_report(self, function: Callable[[], None]) -> None:
        """Call what runs the program's code, with yield points; see decision 0266."""

        def call_counted() -> None:
            self.count_again()
            function()

        use_own(False)
        try:
            sys.call_tracing(call_counted, ())
        finally:
            use_own(True)

    def _wait_to_enter(self, thread: ManagedThread, place: Place, needed: Waitable) -> None:
        """Choose who runs next, and return when this thread has what it needs before it goes on."""
        thread.waiting = needed
        ready = needed.ready_for(thread)
        try:
            self.choose_next(thread, place, forced=not ready)
            while not needed.ready_for(thread) and not self.over:  # a signal woke it
                self._deliver_inside_report()
                self.pass_yield_point(thread)
                self.choose_next(thread, place, forced=True)
        finally:
            thread.waiting = None
        if self.guard is not None:
            self.guard.enter(thread, needed)

    def operation(
        self,
        frame: FrameType | None,
        waiting: Waitable | None = None,
        deadline: int | None = None,
        gives_way: bool = False,
    ) -> bool:
        """A yield point before an operation on a lock, a file, the clock.

        Args:
            frame: where to start looking for the code that performs the operation.
            waiting: what the operation needs, or None if it can always proceed.
            deadline: virtual time in nanoseconds at which it stops waiting.
            gives_way: other ready threads go first (``time.sleep(0)``).

        Returns:
            True if the operation can proceed, False if the deadline passed first.
        """
        if waiting is None and not gives_way and frame is not None and self.counter.pass_operation():
            return True
        # Only from here on: under another strategy the accelerator may have passed this operation.
        before = use_own(True)
        try:
            outside = self.outside  # before others run and do something
            if self.observer is not None and waiting is not None:
                self.observer.before_operation(self.current, frame, waiting)
            if self.history is not None and waiting is not None and not self.busy:
                self.history.before_operation(self.current, frame, waiting)
            done = self._ask(frame, waiting, deadline, gives_way)
            if self.history is not None and not self.busy and not self.over:
                self.history.after_operation(self.current, frame, waiting, done)
            if self.observer is not None and not self.busy and not self.over:
                self.observer.at_operation(self.current, frame, waiting, done, outside)
            return done
        finally:
            if self.expect_stuck is not None:
                self.expect_stuck(self.current)
            # Not before the first thread: a frame that is freed in the program's turn moves its garbage collections.
            if self.executed is not None and self.counting:
                self.executed.operation(self.current, sys._getframe(1))
            use_own(before)  # an import by the runtime itself takes locks, and goes on in its turn

    def wait_for_outside(self, frame: FrameType | None, wait: OutsideWait, timeout_s: float | None) -> bool:
        """A yield point that lasts until a wait is over; False if the timeout, in virtual seconds, expired first.

        Raises:
            Exception: what polling raised.
        """
        deadline = None
        if timeout_s is not None:
            deadline = self.clock.now_ns + int(timeout_s * 1_000_000_000)
        self.in_system_call = True
        self.answers.before(wait, timeout_s)
        arrived = self.operation(frame, wait, deadline)
        self.in_system_call = False
        if not arrived:
            before = use_own(True)
            self.moments.came_too_late(wait, self.places.line_of_program(frame))
            use_own(before)
        elif wait.problem is not None:
            self.moments.answered(wait, None)
            raise wait.problem
        return arrived

    def _ask(self, frame: FrameType | None, waiting: Waitable | None, deadline: int | None, gives_way: bool) -> bool:
        thread = self.present()
        ready = waiting is None or waiting.ready_for(thread)
        if self.executed is not None:
            self.executed.waits = not ready
        if self.over or self.busy or thread.ident != _get_ident():
            return ready
        meet(thread)
        need_room(ROOM_FRAMES)
        if self.guard is not None:
            waiting = self.guard.at_operation(thread, waiting)
            ready = waiting is None or waiting.ready_for(thread)
        # A lock that a condition reacquires is acquired whatever happens: its caller relies on that.
        if thread.exception is not None and waiting is not None and not _takes_back(sys._getframe(2)):
            use_own(False)
            _raise(thread)
        asks, spins = self._pass_operation(thread, frame, ready and not gives_way)
        while asks:
            thread.waiting = waiting
            thread.deadline = deadline
            if deadline is not None:
                self.moments.started(thread, deadline)
            try:
                self.choose_next(thread, thread.place, forced=not ready, gives_way=gives_way, spins=spins)
            finally:
                thread.waiting = thread.deadline = None
            if thread.collects:
                self._collect_at_operation(thread)
            if thread.signalled and self.deliver_signals is not None:
                use_own(False)
                self.deliver_signals()
                use_own(True)
            if waiting is None or self._has_come(waiting, thread):
                return True
            if self.over or (deadline is not None and deadline <= self.clock.now_ns):
                return False
            # A signal woke it, or others came while finalizers ran. The wait continues as another operation.
            ready = False
            self.pass_yield_point(thread)
        return True

    def _collect_at_operation(self, thread: ManagedThread) -> None:
        thread.collects = False
        if self.collects:
            use_own(False)  # finalizers are the program's
            collect_all()
            use_own(True)

    def _has_come(self, waiting: Waitable, thread: ManagedThread) -> bool:
        """Whether a wait was over at the last choice.

        What has arrived from outside since then is too late: a replay would find it there from the start.
        """
        if isinstance(waiting, OutsideWait) and not self.over:
            return bool(waiting.arrived_by)
        return waiting.ready_for(thread)

    def _pass_operation(self, thread: ManagedThread, frame: FrameType | None, goes_on: bool) -> tuple[bool, bool]:
        """Count an operation; ``goes_on`` says that it can proceed and nobody goes first.

        Returns:
            Whether to choose who runs next, and whether the thread has been running for too long.
        """
        before_run = not self.counting and goes_on and thread.starter is None
        if before_run and frame is not None and frame.f_code.co_filename in self.places.importing:
            return False, False  # a program's imports take thousands of locks, and nobody asks where
        counted, user_frame = self.places.user_frame(frame)
        if user_frame is not None:
            thread.place = place = Place(user_frame.f_code, self.counter.position_of(user_frame), reachable=True)
        if before_run:
            return False, False
        if user_frame is not None:
            if counted and accelerator is not None and not self.counter.every_operation:
                number = self.places.place_hash(place.code, place.mark)
                self.counter.know(place.code, place.position, place, number)
                self.counter.know_library(sys._getframe(), user_frame)
        elif accelerator is not None and not self.counter.every_operation:
            self.counter.know_library(sys._getframe(), None)
        if not goes_on:
            if self.counting:
                self.pass_yield_point(thread)
            return True, False
        if thread.starter is not None:
            return thread.starting is None or thread.starting(), False
        if not self.counting or thread.atomic:
            return False, False
        spins = False
        if not counted:
            thread.uncounted += 1
            spins = thread.uncounted % LIBRARY_SPIN_LIMIT == 0
            if not spins:
                return False, False
        self.pass_yield_point(thread)
        # With a guard, every yield point asks, but not the strategy.
        due_at = thread.ask_at if self.guard is None or thread.ask_at <= 0 else thread.due_at
        return spins or self.counter.every_operation or thread.time >= due_at, spins

    def pass_yield_point(self, thread: ManagedThread) -> None:
        """Count an operation of a thread."""
        before = use_own(True)
        place = thread.place
        if self.traced_left:
            self.traced_left -= 1
            self.log.yield_point(thread, place)
        fold(self.counter, thread, 0 if place is None else self.places.place_hash(place.code, place.mark))
        use_own(before)


def _takes_back(frame: FrameType | None) -> bool:
    """Whether a condition performs this operation; its frame is at most a few above the lock's own functions."""
    for _ in range(3):
        if frame is not None and frame.f_code.co_name == "_acquire_restore":
            return True
        frame = None if frame is None else frame.f_back
    return False


def _raise(thread: ManagedThread) -> None:
    """Raise what another thread set in this one; a class is instantiated, as the interpreter does."""
    exception, thread.exception = thread.exception, None
    raise exception
