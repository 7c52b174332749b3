"""The back ends for Python 3.11: a trace function with line or opcode events.

Not used on 3.12 and later, where settrace delivers fewer events the first time a function runs.
"""

from __future__ import annotations

import _thread
import sys

from .backends import Backend
from .counting import FOLD, MASK, fold
from .places import COUNTED
from .tables import add_code, numbers_of
from .yieldpoints import LINE

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from types import CodeType, FrameType
    from typing import Any

    from .scheduler import Scheduler


class PythonBackend(Backend):
    """Counts with a trace function in Python."""

    name = "settrace"

    def __init__(self, scheduler: Scheduler, granularity: str) -> None:
        self._scheduler = scheduler
        self._granularity = granularity
        self._tracers: dict[int, tuple[CodeType, Any]] = {}

    def begin(self) -> None:
        frame: FrameType | None = sys._getframe(1)
        while frame is not None:
            self._trace_call(frame, "call", None)
            frame = frame.f_back
        sys.settrace(self._trace_call)

    def thread_started(self) -> None:
        sys.settrace(self._trace_call)

    def end(self) -> None:
        sys.settrace(None)

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

        def trace(frame: FrameType, event: str, argument: object) -> Any:
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
                        counter.digest = ((counter.digest ^ number ^ thread.hash) * FOLD) & MASK
                        if time >= thread.ask_at:
                            scheduler.at_question(thread, code, position, is_line)
            return trace

        def watching_trace(frame: FrameType, event: str, argument: object) -> Any:
            """Also counts visits: slower, so for the one run that verifies a log."""
            if event == wanted:
                position = frame.f_lineno if is_line else frame.f_lasti
                number = numbers.get(position)
                if counter.current.ident != get_ident() and (number is None or not counter.stranger(code)):
                    return watching_trace
                thread = counter.current
                if number is not None and not thread.atomic:
                    fold(counter, thread, number)
                    if thread.time >= thread.ask_at:
                        scheduler.at_question(thread, code, position, is_line)
            return watching_trace

        return trace if counter.watched is None else watching_trace


class AcceleratedBackend(Backend):
    """Counts with a trace function in C."""

    name = "C trace function"

    def __init__(self, scheduler: Scheduler, granularity: str) -> None:
        self._scheduler = scheduler
        self._granularity = granularity
        self._counter = scheduler.counter
        self._counter.lines = granularity == LINE
        self._counter.learn = self._learn

    def begin(self) -> None:
        frame: FrameType | None = sys._getframe(1)
        while frame is not None:
            self._learn(frame.f_code)
            counted = self._scheduler.places.kind(frame.f_code.co_filename) == COUNTED
            frame.f_trace_lines = counted and self._granularity == LINE
            frame.f_trace_opcodes = counted and self._granularity != LINE
            frame = frame.f_back
        self._counter.start_tracing()

    def thread_started(self) -> None:
        self._counter.start_tracing()

    def end(self) -> None:
        self._counter.stop_tracing()

    def _learn(self, code: CodeType) -> None:
        scheduler = self._scheduler
        counted = scheduler.places.kind(code.co_filename) == COUNTED
        numbers = numbers_of(scheduler.places, code, self._granularity) if counted else {}
        add_code(self._counter, code, numbers, self._granularity)
