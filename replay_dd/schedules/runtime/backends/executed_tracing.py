"""The back ends of runs that report every instruction, for Python 3.11."""

from __future__ import annotations

import _thread
import sys

from ..points.bytecode import LINE
from ..points.callees import UNKNOWN, Callees
from ..points.places import COUNTED
from .tracing import AcceleratedBackend, PythonBackend

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from types import CodeType, FrameType
    from typing import Any

    from ..baton.scheduler import Scheduler
    from .executed import ExecutedTrace

_setprofile, _getprofile = sys.setprofile, sys.getprofile
_get_ident = _thread.get_ident
_NO_YIELD_POINTS = {0: 0}  # code that is traced all the same


class _Reports:
    """What both have in common: a profiler, which is told what is called, so the program has none meanwhile."""

    _scheduler: Scheduler
    _executed: ExecutedTrace
    _callees: Callees

    def _profile_calls(self) -> None:
        if self._executed.wants_callees and _getprofile() is None:
            _setprofile(self._profile)

    def _profile(self, frame: FrameType, event: str, argument: object) -> None:
        if (
            event == "c_call"
            and self._executed.begun
            and self._scheduler.places.kind(frame.f_code.co_filename) == COUNTED
            and self._counts()
        ):
            self._executed.called(frame.f_code, frame.f_lasti, frame, argument)

    def _report(self, code: CodeType, offset: int, frame: FrameType) -> None:
        """Report an instruction, if the time has come."""
        executed = self._executed
        if (executed.begun or executed.begins()) and not executed.over and self._counts():
            executed.instruction(code, offset, frame)
            callee = self._callees.at(code, offset, frame) if executed.wants_callees else UNKNOWN
            if callee is not UNKNOWN:
                executed.called(code, offset, frame, callee)

    def _counts(self) -> bool:
        """Whether this thread has the baton, and is where yield points are counted."""
        counter = self._scheduler.counter
        return bool(counter.counting and not counter.over and counter.current.ident == _get_ident())


class PythonExecutedBackend(_Reports, PythonBackend):
    """Counts as any other back end in Python does, and reports each instruction.

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
        self._profile_calls()

    def end(self) -> None:
        super().end()
        _setprofile(None)

    def _trace_call(self, frame: FrameType, event: str, argument: object) -> Any:
        tracer = super()._trace_call(frame, event, argument)
        if tracer is not None:
            frame.f_trace_opcodes = True
        return tracer

    def _make_tracer(self, code: CodeType) -> Any:
        count = super()._make_tracer(code)
        if count is None:
            return None

        def trace(frame: FrameType, event: str, argument: object) -> Any:
            count(frame, event, argument)
            if event == "opcode":
                self._report(code, frame.f_lasti, frame)
            return trace

        return trace


class AcceleratedExecutedBackend(_Reports, AcceleratedBackend):
    """The same in C: what it takes stands in the runtime's memory, so the program's objects are where they always are.

    Arguments as for :class:`PythonExecutedBackend`.
    """

    def __init__(self, scheduler: Scheduler, granularity: str, executed: ExecutedTrace) -> None:
        super().__init__(scheduler, granularity)
        self._executed = executed
        self._callees = Callees()
        self._counter.executed = self._report

    def thread_started(self) -> None:
        super().thread_started()
        self._profile_calls()

    def end(self) -> None:
        super().end()
        _setprofile(None)

    def _numbers_of(self, code: CodeType) -> dict[int, int]:
        return super()._numbers_of(code) or _NO_YIELD_POINTS

    def _trace_stack(self, frame: FrameType | None) -> None:
        super()._trace_stack(frame)
        while frame is not None and self._granularity == LINE:
            frame.f_trace_opcodes = self._scheduler.places.kind(frame.f_code.co_filename) == COUNTED
            frame = frame.f_back
