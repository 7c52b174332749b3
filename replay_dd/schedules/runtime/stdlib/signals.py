"""Signals that the program handles in Python.

Rules of this module:

* The interpreter calls handlers in the main thread, between any two of its instructions. Here it calls a function of
  ours, which runs the program's handler only if the main thread has the baton and is not inside the runtime; otherwise
  the signal becomes *pending*. If the system would wake the main thread for it, that thread becomes ready, whatever it
  waits for; otherwise its wait continues (``interrupt_main``, and what other threads send to themselves).
* A signal that the program sends to itself is not really sent: it is pending at once, so only the schedule decides
  when its handler runs. An alarm rings on the virtual clock.
* Signals without a handler in Python, and blocked ones, are left to the system.
* A signal from outside becomes pending at the next choice, which is in the log; see ../baton/happenings.py. Where
  nobody can run any more, one of a child process may still come: that is waited for.
* A replay also writes to the descriptor that the program wants to be woken up by: then, or where it expects that.
* What the shell ignores (as for commands in the background, or under ``nohup``) is no business of the program's, which
  may ask for it: trio does.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # without the classes that `signal` adds
import _thread
import os
import posix
import sys

from ..baton.clock import NEVER_READY, NO_ALARM
from ..baton.patience import PATIENCE_S
from ..points.frames import RUNTIME, program_frame

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType
    from typing import Any

    from ..baton.moments import OutsideWait
    from ..baton.scheduler import Scheduler
    from .process_number import ProcessNumber


_GLANCE_S = 0.02  # between two looks at whether a child process still runs
_OF_CLOCKS = (_signal.SIGALRM, _signal.SIGPROF, _signal.SIGVTALRM)  # guards of real time, and profilers


class Signals:
    """Stands between the interpreter and the program's handlers.

    Args:
        scheduler: who hands the baton around.
        number: of this process.

    Attributes:
        children_run: whether a child process is still running.
        are_pair: whether two descriptors are the ends of one connection inside this process.
    """

    def __init__(self, scheduler: Scheduler, number: ProcessNumber) -> None:
        self._scheduler = scheduler
        self._number = number
        self._handlers: dict[int, Any] = {}
        self._pending: list[int] = []
        self._main = scheduler.main.ident  # while it is away, the scheduler has no identity for it
        self._wakeup = -1
        self._real_signal = _signal.signal
        self._real_getsignal = _signal.getsignal
        self._entry = self._arrived  # one object, to be recognised by identity
        self._alarm_every_ns = 0
        scheduler.deliver_signals = self.deliver
        scheduler.clock.ring = self._ring
        scheduler.wait_for_signal = self._wait_for_signal
        self.children_run: Callable[[], bool] = lambda: False
        self.are_pair: Callable[[int, int], bool] = lambda one, other: False
        self._happenings = scheduler.moments.happenings
        self._happenings.give = self._give
        self._written_ahead = 0  # how many signals that a replay has still to give have been written
        scheduler.moments.before_looking = self._write_ahead
        self._real_set_wakeup = _signal.set_wakeup_fd

    def follow(self) -> None:
        """A log may say when signals come; then the system writes nothing where the program wants to be woken up."""
        self._written_ahead = 0
        if self._wakeup >= 0 and self._happenings.next_signal:
            self._real_set_wakeup(-1)

    def replacements(self) -> dict[Any, dict[str, Any]]:
        """For each module, the functions that stand in for its own."""
        own = {
            "signal": self.signal,
            "getsignal": self.getsignal,
            "set_wakeup_fd": self._make_set_wakeup_fd(),
            "raise_signal": self._make_sender(_signal.raise_signal, lambda number: number, _wakes_nobody),
            "pthread_kill": self._make_sender(
                _signal.pthread_kill, lambda thread, number: number, lambda thread, number: thread == self._main
            ),
            "pause": self._make_pause(),
            "alarm": self._make_alarm(),
            "setitimer": self._make_setitimer(),
            "getitimer": self._make_getitimer(),
        }
        kill = self._make_sender(
            self._number.taking(posix.kill), lambda process, number: number if process == self._number.told else 0
        )
        interrupt_main = self._make_sender(_thread.interrupt_main, lambda number=_signal.SIGINT: number, _wakes_nobody)
        return {_signal: own, posix: {"kill": kill}, os: {"kill": kill}, _thread: {"interrupt_main": interrupt_main}}

    def take_over(self) -> None:
        """Stand before the handler that the interpreter itself has set."""
        if self._real_getsignal(_signal.SIGINT) is _signal.default_int_handler:
            self.signal(_signal.SIGINT, _signal.default_int_handler)

    # -- what the program calls --------------------------------------------------------------------------------------

    def signal(self, signalnum: int, handler: Any, /) -> Any:
        """Stands in for ``_signal.signal``."""
        is_function = callable(handler) and not isinstance(handler, int)
        before = self._real_signal(signalnum, self._entry if is_function else handler)
        if before is self._entry:
            before = self._handlers[signalnum]
        if is_function:
            self._handlers[int(signalnum)] = handler
        else:
            self._handlers.pop(signalnum, None)
        return before

    def getsignal(self, signalnum: int, /) -> Any:
        """Stands in for ``_signal.getsignal``."""
        return self._handlers.get(signalnum) or self._real_getsignal(signalnum)

    def _make_set_wakeup_fd(self) -> Any:
        def set_wakeup_fd(fd: int, /, **options: Any) -> int:
            self._real_set_wakeup(fd, **options)
            before, self._wakeup = self._wakeup, fd
            self.follow()
            return before

        return set_wakeup_fd

    def _make_sender(self, real: Any, number_of: Any, wakes: Any = None) -> Any:
        """A function that sends a signal: to this process by way of the schedule, to others really.

        Args:
            real: the original.
            number_of: tells the signal from the arguments; 0 where it is for others.
            wakes: tells whether the system interrupts a wait of the main thread; it always does if this is None.
        """

        def send(*arguments: Any) -> Any:
            try:
                number = number_of(*arguments)
                ours = number in self._handlers and self._scheduler.counting and not self._is_blocked(number)
            except TypeError:  # the real function will raise
                ours = False
            if not ours or not self._number.is_own() or self._scheduler.over:
                return real(*arguments)
            self._scheduler.operation(sys._getframe(1))
            self._note(int(number))
            self._write(number)
            self._here_and_now(wakes is None or wakes(*arguments))
            return None

        send.__name__ = send.__qualname__ = real.__name__
        return send

    def _make_pause(self) -> Any:
        real = _signal.pause

        def pause() -> None:
            scheduler = self._scheduler
            if not scheduler.counting or scheduler.current is not scheduler.main:
                real()
            elif not self._pending:
                scheduler.operation(sys._getframe(1), NEVER_READY)

        return pause

    # -- alarms ------------------------------------------------------------------------------------------------------

    def _make_alarm(self) -> Any:
        real = _signal.alarm

        def alarm(seconds: int, /) -> int:
            if not self._rings_for(sys._getframe(1)):
                left: int = real(seconds)
                return left
            left_s, _ = self._set_alarm(seconds, 0)
            return int(left_s) + (left_s > int(left_s))

        return alarm

    def _make_setitimer(self) -> Any:
        real = _signal.setitimer

        def setitimer(which: int, seconds: float, interval: float = 0.0, /) -> tuple[float, float]:
            if which != _signal.ITIMER_REAL or seconds < 0 or not self._rings_for(sys._getframe(1)):
                before: tuple[float, float] = real(which, seconds, interval)
                return before
            return self._set_alarm(seconds, interval)

        return setitimer

    def _make_getitimer(self) -> Any:
        real = _signal.getitimer

        def getitimer(which: int, /) -> tuple[float, float]:
            if which == _signal.ITIMER_REAL and self._rings_for(sys._getframe(1)):
                return self._alarm()
            left: tuple[float, float] = real(which)
            return left

        return getitimer

    def _rings_for(self, frame: FrameType) -> bool:
        """Whether an alarm is the program's own; that of a test runner guards real time."""
        counted, _ = self._scheduler.places.user_frame(frame)
        return counted and _signal.SIGALRM in self._handlers

    def _alarm(self) -> tuple[float, float]:
        clock = self._scheduler.clock
        left_ns = 0 if clock.alarm_ns == NO_ALARM else max(0, clock.alarm_ns - clock.now_ns)
        return left_ns / 1e9, self._alarm_every_ns / 1e9

    def _set_alarm(self, seconds: float, interval: float) -> tuple[float, float]:
        before = self._alarm()
        clock = self._scheduler.clock
        clock.alarm_ns = clock.now_ns + max(1, int(seconds * 1e9)) if seconds else NO_ALARM
        self._alarm_every_ns = int(interval * 1e9)
        return before

    def _ring(self) -> None:
        clock = self._scheduler.clock
        clock.alarm_ns = clock.now_ns + self._alarm_every_ns if self._alarm_every_ns else NO_ALARM
        if _signal.SIGALRM in self._handlers:
            self._arrived(_signal.SIGALRM, sys._getframe(1))

    # -- how handlers are called -------------------------------------------------------------------------------------

    def _is_blocked(self, number: int) -> bool:
        return number in _signal.pthread_sigmask(_signal.SIG_BLOCK, ())

    def _arrived(self, number: int, frame: FrameType | None) -> None:
        """What the interpreter calls, in the main thread."""
        scheduler = self._scheduler
        if not scheduler.counting or scheduler.over or not self._number.is_own():
            self._call(number, frame)
        elif number in _OF_CLOCKS:
            self._note(number)
            self._here_and_now(True)
        else:
            self._come(number)

    def _come(self, number: int) -> None:
        """A signal has come from outside."""
        scheduler, happenings = self._scheduler, self._happenings
        exact = scheduler.moments.patience.exact
        happenings.came(number, held=exact and number == _signal.SIGCHLD)
        main = scheduler.main
        if main.ident == _thread.get_ident() and scheduler.current is main and happenings.signal_came:
            main.ask_at = 0  # at its next yield point

    def _give(self, number: int) -> None:
        """A signal from outside becomes pending, and wakes the main thread; called at a choice."""
        main = self._scheduler.main
        self._note(number)
        main.signalled = main.interrupted = True
        if self._scheduler.moments.following and self._written_ahead:
            self._written_ahead -= 1
        elif self._scheduler.moments.following:
            self._write(number)

    def _write(self, number: int) -> None:
        if self._wakeup >= 0:
            os.write(self._wakeup, bytes((number,)))

    def _write_ahead(self, wait: OutsideWait) -> None:
        """A replay waits for something: perhaps for what the system wrote just before the program got a signal."""
        number, expected = self._happenings.next_signal, wait.expected
        if self._wakeup < 0 or not number or self._written_ahead or expected is None:
            return
        answer = expected.answer if isinstance(expected.answer, tuple) else [(one, 0) for one in wait.concerns]
        if any(self.are_pair(self._wakeup, one) for one, _ in answer) and not self._scheduler.moments.look(wait):
            self._written_ahead += 1
            self._write(number)

    def may_come(self) -> bool:
        """Whether a signal that the program handles may come from a child process."""
        scheduler = self._scheduler
        before = (scheduler.busy, scheduler.outside)
        scheduler.busy = True  # looking for children is no operation of the program
        try:
            return self._handles_any() and self.children_run()
        finally:
            scheduler.busy, scheduler.outside = before

    def _handles_any(self) -> bool:
        return any(handler is not _signal.default_int_handler for handler in self._handlers.values())

    def _wait_for_signal(self) -> bool:
        """Wait in real time for a signal that the program handles, as long as a child process runs; whether it came."""
        scheduler, main = self._scheduler, self._scheduler.main
        self._happenings.release()
        rest_s, may_come = PATIENCE_S, self._handles_any()
        while may_come and not main.signalled and not self._happenings.signal_came:
            may_come = rest_s > 0 and self.children_run()  # if not, what the last one sent may be on its way
            scheduler.moments.pause(_GLANCE_S)
            scheduler.when_asked()
            rest_s -= _GLANCE_S
        return main.signalled or self._happenings.signal_came

    def _here_and_now(self, interrupts: bool) -> None:
        """Call the handlers of what is pending, if this is the main thread's turn; else let it have one.

        Args:
            interrupts: whether the main thread is not to wait any longer.
        """
        scheduler = self._scheduler
        main = scheduler.main
        main.signalled = True
        main.interrupted = main.interrupted or interrupts
        if main.ident == _thread.get_ident() and scheduler.current is main and not scheduler.busy:
            frame: FrameType | None = sys._getframe(2)
            if frame is not None and not frame.f_code.co_filename.startswith(RUNTIME):
                self.deliver()
            else:
                main.ask_at = 0  # at its next yield point

    def deliver(self) -> None:
        """Call the handlers of all pending signals; called by the main thread with the baton in hand.

        Raises:
            BaseException: what a handler raises.
        """
        if self._scheduler.holds_signals:
            return
        self._scheduler.main.signalled = self._scheduler.main.interrupted = False
        frame = program_frame(sys._getframe(1))
        while self._pending:
            self._call(self._pending.pop(0), frame)

    def _note(self, number: int) -> None:
        # As in the interpreter: the lowest number first, and each once until it is handled.
        if number not in self._pending:
            self._pending.append(number)
            self._pending.sort()

    def _call(self, number: int, frame: FrameType | None) -> None:
        handler = self._handlers.get(number)
        if handler is not None:
            handler(number, frame)


def ignore_no_signals() -> None:
    """Begin with the handlers of a command in the foreground, whoever has started this process."""
    for number in (_signal.SIGINT, _signal.SIGQUIT, _signal.SIGHUP, _signal.SIGTERM):
        if _signal.getsignal(number) == _signal.SIG_IGN:
            _signal.signal(number, _signal.default_int_handler if number == _signal.SIGINT else _signal.SIG_DFL)


def _wakes_nobody(*_: object) -> bool:
    return False
