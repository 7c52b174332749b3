"""The back ends for Python 3.12 and later: ``sys.monitoring``.

Each code object is looked at when it first starts: only counted code gets instruction (or line) events, and those that
are no yield point are switched off for good the first time they come.

When code that one tool monitors gets a second tool (a trace function or a profiler of the program's is one), the
interpreter forgets the instruction events of the first (https://github.com/python/cpython/issues/157900). So just
before the program traces itself for the first time, a second tool of ours joins, which does nothing, and all events are
restarted. Not sooner: what the interpreter then allocates for each function stands among the program's objects.
"""

from __future__ import annotations

import _thread
import sys

from ..accelerator.own_memory import use_own
from ..constants import DIGEST_PRIME
from ..counting.counter import fold
from ..counting.digest import MASK
from ..points.bytecode import LINE
from ..points.places import COUNTED
from ..points.tables import add_code, find_in_advance, numbers_of
from .base import Backend

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from types import CodeType, FrameType
    from typing import Any

    from ..baton.scheduler import Scheduler

_TOOL_IDS = (4, 3, 5, 2, 1, 0)  # those without a fixed use first; the others if the program took these


class PythonBackend(Backend):
    """Counts with monitoring callbacks in Python."""

    name = "sys.monitoring"

    def __init__(self, scheduler: Scheduler, granularity: str) -> None:
        self._scheduler = scheduler
        self._granularity = granularity
        self._numbers: dict[int, dict[int, int]] = {}
        self._kept: list[CodeType] = []
        self._tools: list[int] = []  # none yet: a program that starts no thread ends without
        self._monitoring: Any = sys.monitoring  # type: ignore[attr-defined,unused-ignore]  # from 3.12 on

    def prepare(self, frame: FrameType | None) -> None:
        find_in_advance(self._scheduler.places, frame, self._granularity)

    def begin(self) -> None:
        monitoring = self._monitoring
        events = monitoring.events
        own = self._join()
        for event in (events.PY_START, events.PY_RESUME):
            monitoring.register_callback(own, event, self._start_callback())
        monitoring.register_callback(own, events.PY_THROW, self._on_throw)
        is_line = self._granularity == LINE
        counting = events.LINE if is_line else events.INSTRUCTION
        monitoring.register_callback(own, counting, self._callback(is_line))
        self._wanted = self._local_events(own, counting)
        monitoring.set_events(own, events.PY_START | events.PY_RESUME | events.PY_THROW)
        frame: FrameType | None = sys._getframe(1)
        while frame is not None:
            self._on_start(frame.f_code, 0)
            frame = frame.f_back

    def _local_events(self, own: int, counting: int) -> int:
        """The events of counted code; ``counting`` is the one that counts, and has its callback already."""
        return counting

    def _free_tools(self) -> list[int]:
        return [tool for tool in _TOOL_IDS if self._monitoring.get_tool(tool) is None]

    def _join(self) -> int:
        """Become one more tool."""
        tool = self._free_tools()[0]
        self._monitoring.use_tool_id(tool, "replay-dd")
        self._tools.append(tool)
        return tool

    def program_traces(self) -> None:
        if len(self._tools) == 1 and self._free_tools():
            monitoring = self._monitoring
            second = self._join()
            monitoring.register_callback(second, monitoring.events.PY_START, self._start_callback())
            monitoring.set_events(second, monitoring.events.PY_START)
            monitoring.restart_events()

    def end(self) -> None:
        for tool in self._tools:
            self._monitoring.set_events(tool, 0)
            self._monitoring.free_tool_id(tool)
        self._tools = []

    def _start_callback(self) -> Any:
        """What is called when a function starts that was not switched off."""
        return self._on_start

    def _on_throw(self, code: CodeType, offset: int, error: BaseException) -> None:
        self._on_start(code, offset)

    def _on_start(self, code: CodeType, offset: int) -> Any:
        before = use_own(True)  # a copy of a process may know the answers already
        wants = id(code) not in self._numbers and self._scheduler.places.kind(code.co_filename) == COUNTED
        if wants:
            self._kept.append(code)
            self._numbers[id(code)] = numbers_of(self._scheduler.places, code, self._granularity)
            self._remember(code)
        use_own(before)
        if wants:
            self._monitoring.set_local_events(self._tools[0], code, self._wanted)
        return self._monitoring.DISABLE

    def _remember(self, code: CodeType) -> None:
        """For back ends that keep the numbers elsewhere."""

    def _callback(self, is_line: bool) -> Any:
        scheduler, counter = self._scheduler, self._scheduler.counter
        all_numbers = self._numbers
        disable = self._monitoring.DISABLE
        get_ident = _thread.get_ident

        def on_event(code: CodeType, position: int) -> Any:
            number = all_numbers[id(code)].get(position)
            if number is None:
                return disable
            thread = counter.current
            if thread.ident != get_ident():
                if not counter.stranger(code):
                    return None
                thread = counter.current
            if thread.atomic:
                return None
            time = thread.time = thread.time + 1
            counter.digest = ((counter.digest ^ number ^ thread.hash) * DIGEST_PRIME) & MASK
            if time >= thread.ask_at:
                scheduler.at_question(thread, code, position, is_line)
            return None

        def on_watched_event(code: CodeType, position: int) -> Any:
            """Also counts visits: slower, so for a profile and for the one run that verifies a log."""
            number = all_numbers[id(code)].get(position)
            if number is None:
                return disable
            if counter.current.ident != get_ident() and not counter.stranger(code):
                return None
            thread = counter.current
            if not thread.atomic:
                fold(counter, thread, number)
                if thread.time >= thread.ask_at or counter.notable:
                    scheduler.at_question(thread, code, position, is_line)
            return None

        return on_event if counter.watched is None and not counter.noting else on_watched_event


class AcceleratedBackend(PythonBackend):
    """Counts with monitoring callbacks in C."""

    name = "sys.monitoring in C"

    def _start_callback(self) -> Any:
        counter = self._scheduler.counter
        counter.learn, counter.kinds = self._on_start, self._scheduler.places.kinds
        return counter.on_start

    def _remember(self, code: CodeType) -> None:
        add_code(self._scheduler.counter, code, self._numbers[id(code)], self._granularity)

    def _callback(self, is_line: bool) -> Any:
        counter = self._scheduler.counter
        return counter.on_line if is_line else counter.on_instruction
