"""The back end of runs that report every instruction, for Python 3.11."""

from __future__ import annotations

import _thread
import sys

from ..points.callees import UNKNOWN, Callees
from ..points.places import COUNTED
from .tracing import PythonBackend

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from types import CodeType, FrameType
    from typing import Any

    from ..baton.scheduler import Scheduler
    from .executed import ExecutedTrace

_setprofile, _getprofile = sys.setprofile, sys.getprofile
_get_ident = _thread.get_ident


class ExecutedBackend(PythonBackend):
    """Counts as any other back end does, and reports each instruction.

    A profiler is told which functions in C are called, so the program has none of its own meanwhile.

    Args:
        scheduler: the scheduler.
        granularity: of the yield points.
        executed: receives the instructions.
    """

    def __init__(self, scheduler: Scheduler, granularity: str, executed: ExecutedTrace) -> None:
        super().__init__(scheduler, granularity)
        self._executed = executed
        self._callees = Callees()

    def thread_started(self) -> None:
        super().thread_started()
        if _getprofile() is None:
            _setprofile(self._profile)

    def end(self) -> None:
        super().end()
        _setprofile(None)

    def _profile(self, frame: FrameType, event: str, argument: object) -> None:
        if (
            event == "c_call"
            and self._executed.begun
            and self._scheduler.places.kind(frame.f_code.co_filename) == COUNTED
            and self._counts()
        ):
            self._executed.called(frame.f_code, frame.f_lasti, frame, argument)

    def _trace_call(self, frame: FrameType, event: str, argument: object) -> Any:
        tracer = super()._trace_call(frame, event, argument)
        if tracer is not None:
            frame.f_trace_opcodes = True
        return tracer

    def _make_tracer(self, code: CodeType) -> Any:
        count = super()._make_tracer(code)
        if count is None:
            return None
        executed, callees = self._executed, self._callees

        def trace(frame: FrameType, event: str, argument: object) -> Any:
            count(frame, event, argument)
            if event == "opcode" and (executed.begun or executed.begins()) and not executed.over and self._counts():
                executed.instruction(code, frame.f_lasti, frame)
                callee = callees.at(code, frame.f_lasti, frame)
                if callee is not UNKNOWN:
                    executed.called(code, frame.f_lasti, frame, callee)
            return trace

        return trace

    def _counts(self) -> bool:
        """Whether this thread has the baton, and is where yield points are counted."""
        counter = self._scheduler.counter
        return counter.counting and not counter.over and counter.current.ident == _get_ident()
