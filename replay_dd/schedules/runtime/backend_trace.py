"""The back end for Python 3.11: ``sys.settrace`` with line or opcode events.

Not used on 3.12 and later, where settrace delivers fewer events the first time a function runs.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from .places import COUNTED, FOLD, MASK
from .yieldpoints import LINE, SYNC, points

if TYPE_CHECKING:
    from types import CodeType, FrameType

    from .scheduler import Scheduler


class TraceBackend:
    """Counts with a trace function."""

    name = "settrace"

    def __init__(self, scheduler: Scheduler, granularity: str) -> None:
        self._scheduler = scheduler
        self._granularity = granularity
        self._tracers: dict[int, tuple[CodeType, Any]] = {}

    def begin(self) -> None:
        if self._granularity == SYNC:
            return
        frame: FrameType | None = sys._getframe(1)
        while frame is not None:
            self._trace_call(frame, "call", None)
            frame = frame.f_back
        sys.settrace(self._trace_call)

    def thread_started(self) -> None:
        if self._granularity != SYNC:
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
        scheduler = self._scheduler
        if scheduler.places.kind(code.co_filename) != COUNTED:
            return None
        if self._granularity == LINE:
            return self._make_line_tracer(code)
        place_hash = scheduler.places.place_hash
        numbers = {offset: place_hash(code, offset) for offset in points(code, self._granularity)}

        def trace(frame: FrameType, event: str, argument: object) -> Any:
            if event == "opcode":
                number = numbers.get(frame.f_lasti)
                if number is not None:
                    thread = scheduler.current
                    if not thread.atomic:
                        time = thread.time = thread.time + 1
                        scheduler.digest = ((scheduler.digest ^ number ^ thread.hash) * FOLD) & MASK
                        if time >= thread.ask_at:
                            scheduler.at_question(thread, code, frame.f_lasti, False)
            return trace

        return trace

    def _make_line_tracer(self, code: CodeType) -> Any:
        scheduler = self._scheduler
        place_hash = scheduler.places.place_hash
        numbers: dict[int, int] = {}

        def trace(frame: FrameType, event: str, argument: object) -> Any:
            if event == "line":
                line = frame.f_lineno
                number = numbers.get(line)
                if number is None:
                    number = numbers[line] = place_hash(code, line)
                thread = scheduler.current
                if not thread.atomic:
                    time = thread.time = thread.time + 1
                    scheduler.digest = ((scheduler.digest ^ number ^ thread.hash) * FOLD) & MASK
                    if time >= thread.ask_at:
                        scheduler.at_question(thread, code, line, True)
            return trace

        return trace
