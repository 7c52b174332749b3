"""The back end for Python 3.12 and later: ``sys.monitoring``.

Each code object is looked at when it first starts: only counted code gets instruction (or line) events, and those that
are no yield point are switched off for good the first time they come.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from .places import COUNTED, FOLD, MASK
from .yieldpoints import LINE, SYNC, points

if TYPE_CHECKING:
    from types import CodeType, FrameType

    from .scheduler import Scheduler

_TOOL_ID = 4  # 0, 1, 2 and 5 are for debuggers, coverage, profilers and optimisers


class MonitoringBackend:
    """Counts with monitoring callbacks."""

    name = "sys.monitoring"

    def __init__(self, scheduler: Scheduler, granularity: str) -> None:
        self._scheduler = scheduler
        self._granularity = granularity
        self._numbers: dict[int, dict[int, int]] = {}
        self._kept: list[CodeType] = []
        self._begun = False  # a program that starts no thread ends without
        self._monitoring: Any = sys.monitoring  # type: ignore[attr-defined,unused-ignore]  # from 3.12 on

    def begin(self) -> None:
        if self._granularity == SYNC:
            return
        self._begun = True
        monitoring = self._monitoring
        events = monitoring.events
        monitoring.use_tool_id(_TOOL_ID, "replay-dd")
        starts = events.PY_START | events.PY_RESUME | events.PY_THROW
        for event in (events.PY_START, events.PY_RESUME):
            monitoring.register_callback(_TOOL_ID, event, self._on_start)
        monitoring.register_callback(_TOOL_ID, events.PY_THROW, self._on_throw)
        if self._granularity == LINE:
            monitoring.register_callback(_TOOL_ID, events.LINE, self._make_on_line())
        else:
            monitoring.register_callback(_TOOL_ID, events.INSTRUCTION, self._make_on_instruction())
        monitoring.set_events(_TOOL_ID, starts)
        frame: FrameType | None = sys._getframe(1)
        while frame is not None:
            self._on_start(frame.f_code, 0)
            frame = frame.f_back

    def thread_started(self) -> None:
        pass

    def end(self) -> None:
        if self._begun:
            self._begun = False
            self._monitoring.set_events(_TOOL_ID, 0)
            self._monitoring.free_tool_id(_TOOL_ID)

    def _on_throw(self, code: CodeType, offset: int, error: BaseException) -> None:
        self._on_start(code, offset)

    def _on_start(self, code: CodeType, offset: int) -> Any:
        if id(code) not in self._numbers and self._scheduler.places.kind(code.co_filename) == COUNTED:
            self._kept.append(code)
            self._numbers[id(code)] = self._numbers_of(code)
            events = self._monitoring.events
            wanted = events.LINE if self._granularity == LINE else events.INSTRUCTION
            self._monitoring.set_local_events(_TOOL_ID, code, wanted)
        return self._monitoring.DISABLE

    def _numbers_of(self, code: CodeType) -> dict[int, int]:
        place_hash = self._scheduler.places.place_hash
        if self._granularity == LINE:
            lines = {line for _, _, line in code.co_lines() if line is not None}
            return {line: place_hash(code, line) for line in lines}
        return {offset: place_hash(code, offset) for offset in points(code, self._granularity)}

    def _make_on_instruction(self) -> Any:
        scheduler = self._scheduler
        all_numbers = self._numbers
        disable = self._monitoring.DISABLE

        def on_instruction(code: CodeType, offset: int) -> Any:
            number = all_numbers[id(code)].get(offset)
            if number is None:
                return disable
            thread = scheduler.current
            if thread.atomic:
                return None
            time = thread.time = thread.time + 1
            scheduler.digest = ((scheduler.digest ^ number ^ thread.hash) * FOLD) & MASK
            if time >= thread.ask_at:
                scheduler.at_question(thread, code, offset, False)
            return None

        return on_instruction

    def _make_on_line(self) -> Any:
        scheduler = self._scheduler
        all_numbers = self._numbers

        def on_line(code: CodeType, line: int) -> Any:
            thread = scheduler.current
            if thread.atomic:
                return
            number = all_numbers[id(code)].get(line, 0)
            time = thread.time = thread.time + 1
            scheduler.digest = ((scheduler.digest ^ number ^ thread.hash) * FOLD) & MASK
            if time >= thread.ask_at:
                scheduler.at_question(thread, code, line, True)

        return on_line
