"""The back end of runs that report every instruction, for Python 3.12 and later."""

from __future__ import annotations

import _thread
import sys

from ..accelerator import accelerator
from ..accelerator.own_memory import use_own
from ..points.bytecode import LINE
from .monitoring import AcceleratedBackend, PythonBackend

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from types import CodeType, FrameType
    from typing import Any

    from ..baton.scheduler import Scheduler
    from .executed import ExecutedTrace

_get_ident = _thread.get_ident
_Counting: Any = PythonBackend if accelerator is None else AcceleratedBackend


class ExecutedBackend(_Counting):  # type: ignore[misc]  # one of two classes
    """Counts as any other back end does, but switches no instruction off.

    With the accelerator, what it takes to count and to report stands in the runtime's memory: a run that is looked at
    must find its objects where it finds them otherwise.

    Args:
        scheduler: the scheduler.
        granularity: of the yield points.
        executed: receives the instructions.
    """

    def __init__(self, scheduler: Scheduler, granularity: str, executed: ExecutedTrace) -> None:
        super().__init__(scheduler, granularity)
        self._executed = executed
        # Made here, in the runtime's turn: the run begins in the program's.
        self._call_callback = self._report_call
        if accelerator is not None:
            scheduler.counter.lines = granularity == LINE
            scheduler.counter.executed = self._report

    def _local_events(self, own: int, counting: int) -> int:
        monitoring = self._monitoring
        events = monitoring.events
        if self._granularity == LINE:
            monitoring.register_callback(own, events.INSTRUCTION, self._reporting(lambda code, offset: None))
        if not self._executed.wants_callees:
            return int(counting | events.INSTRUCTION)
        monitoring.register_callback(own, events.CALL, self._call_callback)
        return int(counting | events.INSTRUCTION | events.CALL)

    def _callback(self, is_line: bool) -> Any:
        count = super()._callback(is_line)
        return count if is_line else self._reporting(count)

    def _reporting(self, count: Any) -> Any:
        if accelerator is not None:
            return self._scheduler.counter.on_executed

        def on_instruction(code: CodeType, offset: int) -> Any:
            answer = count(code, offset)
            return None if self._report(code, offset) else answer

        return on_instruction

    def _report(self, code: CodeType, offset: int) -> bool:
        """Report an instruction of the calling frame, if the time has come; whether it has."""
        executed = self._executed
        if not executed.begun:
            if not executed.begins():
                return False
            self._monitoring.restart_events()  # what was switched off until now
        elif self._counts(code):
            frame: FrameType = sys._getframe(1 if accelerator is not None else 2)
            executed.instruction(code, offset, frame)
        return True

    def _report_call(self, code: CodeType, offset: int, callee: object, first: object) -> None:
        before = use_own(True)
        if self._executed.begun and self._counts(code):
            self._executed.called(code, offset, sys._getframe(1), callee)
        use_own(before)

    def _counts(self, code: CodeType) -> bool:
        """Whether the thread that runs this has the baton, and is where yield points are counted."""
        counter = self._scheduler.counter
        return bool(counter.counting and not counter.over and counter.current.ident == _get_ident())
