"""The back ends for Python 3.11: a trace function with line or opcode events.

Not used on 3.12 and later, where settrace delivers fewer events the first time a function runs.

A thread has one trace function. If the program sets its own (a debugger, a measurement of coverage), that one takes the
place of ours until the program removes it; the log says so. The program does not see ours.
"""

from __future__ import annotations

import _thread
import sys

from ..accelerator.own_memory import use_own
from ..channel import NOTE
from ..constants import DIGEST_PRIME
from ..counting.counter import fold
from ..counting.digest import MASK
from ..points.bytecode import LINE
from ..points.places import COUNTED
from ..points.tables import add_code, find_in_advance, numbers_of
from .base import Backend

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from types import CodeType, FrameType, TracebackType
    from typing import Any

    from ..baton.scheduler import Scheduler


# The program finds others in their places.
_settrace, _gettrace = sys.settrace, sys.gettrace

_DISPLACED = (
    "the program traces itself, as debuggers and tools for coverage do; on Python 3.11 replay-dd meanwhile sees only "
    "operations of it, so switch that off, or use Python 3.12"
)


class _TracingBackend(Backend):
    """What both have in common: they share the threads' trace functions with the program."""

    def __init__(self, scheduler: Scheduler, granularity: str) -> None:
        self._scheduler = scheduler
        self._granularity = granularity
        sys.settrace, sys.gettrace = self._set_for_program, self._get_for_program

    def prepare(self, frame: FrameType | None) -> None:
        find_in_advance(self._scheduler.places, frame, self._granularity)

    def begin(self) -> None:
        if _gettrace() is not None:
            self._scheduler.send(NOTE, "traced", _DISPLACED)
            return
        self._trace_stack(sys._getframe(1))
        self.thread_started()

    def end(self) -> None:
        _settrace(None)

    def _trace_stack(self, frame: FrameType | None) -> None:
        """Have the functions that run already traced."""
        raise NotImplementedError

    def _is_ours(self, function: object) -> bool:
        raise NotImplementedError

    def _set_for_program(self, function: Any, /) -> None:
        scheduler = self._scheduler
        if not scheduler.counting or scheduler.over:
            _settrace(function)
            return
        frame: FrameType | None = sys._getframe(1)
        bottom = frame
        if function is None:
            while frame is not None:
                frame.f_trace = None
                frame = frame.f_back
            self._trace_stack(bottom)
            self.thread_started()
            return
        while frame is not None:
            frame.f_trace_lines, frame.f_trace_opcodes = True, False
            frame = frame.f_back
        scheduler.send(NOTE, "traced", _DISPLACED)
        _settrace(function)

    def _get_for_program(self) -> Any:
        found = _gettrace()
        return None if self._is_ours(found) else found


class PythonBackend(_TracingBackend):
    """Counts with a trace function in Python."""

    name = "settrace"

    def __init__(self, scheduler: Scheduler, granularity: str) -> None:
        super().__init__(scheduler, granularity)
        self._tracers: dict[int, tuple[CodeType, Any]] = {}

    def thread_started(self) -> None:
        _settrace(self._trace_call)

    def _trace_stack(self, frame: FrameType | None) -> None:
        while frame is not None:
            self._trace_call(frame, "call", None)
            frame = frame.f_back

    def _is_ours(self, function: object) -> bool:
        return function == self._trace_call

    def _trace_call(self, frame: FrameType, event: str, argument: object) -> Any:
        code = frame.f_code
        known = self._tracers.get(id(code))
        if known is None:
            known = self._tracers[id(code)] = (code, self._make_tracer(code))
        tracer = known[1]
        if tracer is not None:
            frame.f_trace = tracer
            frame.f_trace_lines = self._granularity == LINE
            frame.f_trace_opcodes = self._granularity != LINE
        return tracer

    def _make_tracer(self, code: CodeType) -> Any:
        scheduler, counter = self._scheduler, self._scheduler.counter
        if scheduler.places.kind(code.co_filename) != COUNTED:
            return None
        is_line = self._granularity == LINE
        get_ident = _thread.get_ident
        wanted = "line" if is_line else "opcode"
        numbers = numbers_of(scheduler.places, code, self._granularity)

        def trace(frame: FrameType, event: str, argument: Any) -> Any:
            if event == wanted:
                position = frame.f_lineno if is_line else frame.f_lasti
                number = numbers.get(position)
                if number is not None:
                    thread = counter.current
                    if thread.ident != get_ident():
                        if not counter.stranger(code):
                            return trace
                        thread = counter.current
                    if not thread.atomic:
                        time = thread.time = thread.time + 1
                        counter.digest = ((counter.digest ^ number ^ thread.hash) * DIGEST_PRIME) & MASK
                        if time >= thread.ask_at:
                            scheduler.at_question(thread, code, position, is_line)
            elif event == "exception":
                self._unwinds(frame, *argument)
            return trace

        def watching_trace(frame: FrameType, event: str, argument: Any) -> Any:
            """Also counts visits: slower, so for a profile and for the one run that verifies a log."""
            if event == wanted:
                position = frame.f_lineno if is_line else frame.f_lasti
                number = numbers.get(position)
                if counter.current.ident != get_ident() and (number is None or not counter.stranger(code)):
                    return watching_trace
                thread = counter.current
                if number is not None and not thread.atomic:
                    fold(counter, thread, number)
                    if thread.time >= thread.ask_at or counter.notable:
                        scheduler.at_question(thread, code, position, is_line)
            elif event == "exception":
                self._unwinds(frame, *argument)
            return watching_trace

        return trace if counter.watched is None and not counter.noting else watching_trace

    def _unwinds(self, frame: FrameType, error_type: Any, error: Any, trace: TracebackType | None) -> None:
        """Where counted code that is called by no other counted code has an exception: it may end the program."""
        caller, places = frame.f_back, self._scheduler.places
        outermost = caller is None or places.kind(caller.f_code.co_filename) != COUNTED
        if outermost and issubclass(error_type, SystemExit):
            self._scheduler.unwinds(error, trace)


class AcceleratedBackend(_TracingBackend):
    """Counts with a trace function in C."""

    name = "C trace function"

    def __init__(self, scheduler: Scheduler, granularity: str) -> None:
        super().__init__(scheduler, granularity)
        self._counter = scheduler.counter
        self._counter.lines = granularity == LINE
        self._counter.learn = self._learn
        self._counter.kinds = scheduler.places.kinds

    def thread_started(self) -> None:
        self._counter.start_tracing()

    def _trace_stack(self, frame: FrameType | None) -> None:
        before = use_own(True)
        while frame is not None:
            self._learn(frame.f_code)
            counted = self._scheduler.places.kind(frame.f_code.co_filename) == COUNTED
            frame.f_trace_lines = counted and self._granularity == LINE
            frame.f_trace_opcodes = counted and self._granularity != LINE
            frame = frame.f_back
        use_own(before)

    def _is_ours(self, function: object) -> bool:
        return function is self._counter

    def _learn(self, code: CodeType) -> None:
        counted = self._scheduler.places.kind(code.co_filename) == COUNTED
        add_code(self._counter, code, self._numbers_of(code) if counted else {}, self._granularity)

    def _numbers_of(self, code: CodeType) -> dict[int, int]:
        """The yield points of counted code; code without any is not traced."""
        return numbers_of(self._scheduler.places, code, self._granularity)
