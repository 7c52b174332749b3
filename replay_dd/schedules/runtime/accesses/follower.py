"""Reports every instruction that counted code executes, with the values that it compares, keeps in variables, returns.

What a value was made of is found out by the tool, from these instructions and from what produced the operands of each.

Rules of this module:

* It only looks. The values are told by their types' own functions; see ``values.py``.
"""

from __future__ import annotations

from ..accelerator import accelerator
from ..accelerator.own_memory import use_own
from ..backends.executed import ExecutedTrace
from ..channel import FLOW, FLOW_CODE
from .operands import variables
from .producers import depths, flow_of
from .values import whole_text

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from types import CodeType, FrameType
    from typing import Any

    from ..baton.thread import ManagedThread

_TOLD = frozenset(["COMPARE_OP", "IS_OP", "CONTAINS_OP", "RETURN_VALUE", "YIELD_VALUE", "STORE_FAST"])
_ROWS = 500  # instructions in one record
_TOLD_PAIRS = frozenset(["STORE_FAST_LOAD_FAST", "STORE_FAST_STORE_FAST"])


class Follower(ExecutedTrace):
    """Reports instructions for the chain from a cause to its effect; arguments as for the base."""

    wants_callees = False  # what is called is seen in its own code

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._rows: list[tuple[Any, ...]] = []
        # By identity of the code: the code, its number, its instructions by offset, the number of its variables.
        self._codes: dict[int, tuple[CodeType, int, dict[int, tuple[int, str, int, int]], int]] = {}

    def instruction(self, code: CodeType, offset: int, frame: FrameType) -> None:
        """The running thread executes this instruction now."""
        if self.over:
            return
        before = use_own(True)
        self._follow(code, offset, frame)  # what it makes and frees must not be found by the program
        use_own(before)

    def _follow(self, code: CodeType, offset: int, frame: FrameType) -> None:
        thread = self._scheduler.current
        counted = self._passed(thread)
        self._left -= 1
        self.over = self._left <= 0
        known = self._codes.get(id(code))
        if known is None:
            known = self._codes[id(code)] = (code, len(self._codes), depths(code), len(variables(code)))
            self._tell_code(code, known[1])
        index, name, depth, takes = known[2].get(offset, (-1, "", -1, 0))
        if index >= 0:
            seen: tuple[Any, ...] = ()
            if (name in _TOLD or name in _TOLD_PAIRS) and depth >= takes > 0:
                seen = self._values(frame, known[3] + depth - takes, takes)
            self._rows.append((thread.name, thread.time if counted else 0, id(frame), known[1], index, seen))
            if len(self._rows) >= _ROWS or self.over:
                self.end()

    def end(self) -> None:
        """Send what has not been sent yet."""
        rows, self._rows = tuple(self._rows), []
        self._scheduler.send(FLOW, rows)

    def operation(self, thread: ManagedThread, caller: FrameType) -> None:
        """The running thread does an operation; it belongs to the call that led there."""
        self._passed(thread)

    def _tell_code(self, code: CodeType, number: int) -> None:
        places = self._scheduler.places
        parameters = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        self._scheduler.send(
            *(FLOW_CODE, number, places.short(code.co_filename), code.co_filename, code.co_qualname),
            *(parameters, code.co_argcount, tuple(flow_of(code))),
        )

    def _values(self, frame: FrameType, first: int, count: int) -> tuple[Any, ...]:
        found = None if accelerator is None else accelerator.frame_values(frame, first, count)
        if found is None:
            return ()
        observer: Any = self._scheduler.observer
        if observer is None:
            return ()
        return tuple(
            [("?", "", -1) if one is frame else (whole_text(one), *observer.described(one)[1:]) for one in found]
        )
