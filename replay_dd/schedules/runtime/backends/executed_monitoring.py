"""The back end of runs that report every instruction, for Python 3.12 and later."""

from __future__ import annotations

import _thread
import sys

from ..points.bytecode import LINE
from .monitoring import PythonBackend

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from types import CodeType
    from typing import Any

    from ..baton.scheduler import Scheduler
    from .executed import ExecutedTrace

_get_ident = _thread.get_ident


class ExecutedBackend(PythonBackend):
    """Counts as any other back end does, but switches no instruction off.

    Args:
        scheduler: the scheduler.
        granularity: of the yield points.
        executed: receives the instructions.
    """

    def __init__(self, scheduler: Scheduler, granularity: str, executed: ExecutedTrace) -> None:
        super().__init__(scheduler, granularity)
        self._executed = executed

    def _local_events(self, own: int, counting: int) -> int:
        monitoring, executed = self._monitoring, self._executed
        events = monitoring.events
        if self._granularity == LINE:
            monitoring.register_callback(own, events.INSTRUCTION, self._reporting(lambda code, offset: None))

        def on_call(code: CodeType, offset: int, callee: object, first: object) -> None:
            if executed.begun and self._counts(code):
                executed.called(code, offset, sys._getframe(1), callee)

        monitoring.register_callback(own, events.CALL, on_call)
        return int(counting | events.INSTRUCTION | events.CALL)

    def _callback(self, is_line: bool) -> Any:
        count = super()._callback(is_line)
        return count if is_line else self._reporting(count)

    def _reporting(self, count: Any) -> Any:
        executed, monitoring = self._executed, self._monitoring

        def on_instruction(code: CodeType, offset: int) -> Any:
            answer = count(code, offset)
            if executed.begun:
                if self._counts(code):
                    executed.instruction(code, offset, sys._getframe(1))
            elif not executed.begins():
                return answer
            else:
                monitoring.restart_events()  # what was switched off until now
            return None

        return on_instruction

    def _counts(self, code: CodeType) -> bool:
        """Whether the thread that runs this has the baton, and is where yield points are counted."""
        counter = self._scheduler.counter
        return counter.counting and not counter.over and counter.current.ident == _get_ident()
