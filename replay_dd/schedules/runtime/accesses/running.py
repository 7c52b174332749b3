"""An instruction that is about to run: what its operands are.

Rules of this module:

* Operands are read from the stack of the frame. Without the accelerator, the expressions that led to them are evaluated
  once more; a variable that has changed in between then misleads.
"""

from __future__ import annotations

from ..accelerator import accelerator
from ..observing import local_value
from . import values
from .operands import variables
from .values import MISSING, UNKNOWN

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType
    from typing import Any

    from .names import Names
    from .operands import Expression


class Running:
    """One instruction that is about to run.

    Attributes:
        names: how objects are called.
        frame: where it runs.
        name, argument: what it is.
        of_library: whether a file of code belongs to the standard library, where nothing is observed.
        keywords: the names of its last arguments, if it is a call and they are not on the stack.
    """

    keywords: tuple[str, ...] = ()

    def __init__(
        self,
        names: Names,
        frame: FrameType,
        name: str,
        argument: int,
        stack: tuple[Any, ...],
        of_library: Callable[[str], bool],
    ) -> None:
        self.names, self.frame, self._code = names, frame, frame.f_code
        self.of_library = of_library
        self.name, self.argument, self._stack = name, argument, stack

    def expression(self, depth: int) -> Expression:
        """Where the value this deep in the stack came from, 1 being at the top."""
        return self._stack[-depth] if 0 < depth <= len(self._stack) else None

    def value(self, depth: int) -> object:
        """The value this deep in the stack, 1 being at the top; UNKNOWN where it cannot be told."""
        if depth > len(self._stack):
            return UNKNOWN
        code = self._code
        if accelerator is not None:
            count = len(variables(code))
            found = accelerator.frame_values(self.frame, count + len(self._stack) - depth, 1)
            if found is not None:
                return MISSING if found[0] is self.frame else found[0]
        return self.evaluate(self.expression(depth))

    def evaluate(self, expression: Expression) -> object:
        """What an expression means now; a value that was read before may have changed since."""
        if expression is None or expression[0] == "result":
            return UNKNOWN
        kind = expression[0]
        frame = self.frame
        if kind == "constant":
            return expression[1]
        if kind in ("local", "cell"):
            found = local_value(frame, expression[1])
            return UNKNOWN if found is None else found
        if kind in ("name", "global"):
            found = frame.f_locals.get(expression[1], MISSING) if kind == "name" else MISSING
            if found is MISSING:
                found = frame.f_globals.get(expression[1], MISSING)
            return frame.f_builtins.get(expression[1], UNKNOWN) if found is MISSING else found
        base = self.evaluate(expression[1])
        if base is UNKNOWN:
            return UNKNOWN
        if kind == "attribute":
            value = values.attribute(base, expression[2])[2]
            return UNKNOWN if value is MISSING else value
        if kind == "item":
            value = values.item(base, self.evaluate(expression[2]))
            return UNKNOWN if value is MISSING else value
        return UNKNOWN
