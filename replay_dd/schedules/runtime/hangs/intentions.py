"""Which threads would still do something to an object, as the code tells that they have not run yet.

Rules of this module:

* Code is read, not run: what comes after the instruction where a function stands, and before it if a loop leads back.
* Functions that are called from there are looked into, if the way to them is plain: a method of a known object, a
  global function. Two calls deep; what is behind other calls is not seen.
"""

from __future__ import annotations

from ..compat import ATTR_HAS_METHOD_BIT, BACKWARD_JUMPS
from ..observing import in_class, is_a
from ..points.bytecode import instructions
from ..points.methods import CONTENT
from ..points.places import COUNTED
from ..points.touches import accesses, value_of

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from types import CodeType, FrameType

    from ..points.places import Places

_FUNCTION = type(lambda: 0)
_DEEPEST = 2


class Intentions:
    """Reads the code of the program.

    Args:
        places: which code is the program's.
    """

    def __init__(self, places: Places) -> None:
        self._places = places

    def will(self, innermost: FrameType | None, methods: tuple[str, ...], thing: object) -> bool:
        """Whether a thread would call one of these methods of an object, should it go on.

        Args:
            innermost: its innermost frame.
            methods: names of methods.
            thing: the object; a call on what cannot be told counts as one of it.
        """
        frame = innermost
        while frame is not None:
            if self._places.kind(frame.f_code.co_filename) == COUNTED and self._in_frame(frame, methods, thing):
                return True
            frame = frame.f_back
        return False

    def _in_frame(self, frame: FrameType, methods: tuple[str, ...], thing: object) -> bool:
        code = frame.f_code
        back_to = _loop_around(code, frame.f_lasti)
        arguments = {start: argument for start, _, argument, _ in instructions(code)}
        for offset, kind, touched in accesses(code):
            if touched is None or offset <= frame.f_lasti < back_to or offset < min(back_to, frame.f_lasti):
                continue
            expression, name, _ = touched
            if name == CONTENT and kind in ("LOAD_METHOD", "LOAD_ATTR"):
                number = arguments.get(offset, 0)
                number = number >> 1 if ATTR_HAS_METHOD_BIT and kind == "LOAD_ATTR" else number
                name = code.co_names[number] if number < len(code.co_names) else ""
            holder = value_of(expression, frame)
            if name in methods and (holder is None or holder is thing):
                return True
            if self._in_function(_function(holder, name), methods, 1):
                return True
        return False

    def _in_function(self, function: object, methods: tuple[str, ...], depth: int) -> bool:
        if not is_a(function, _FUNCTION) or depth > _DEEPEST:
            return False
        code = function.__code__  # type: ignore[attr-defined]
        if self._places.kind(code.co_filename) != COUNTED:
            return False
        if any(name in code.co_names for name in methods):
            return True
        names = function.__globals__  # type: ignore[attr-defined]
        return any(self._in_function(names.get(name), methods, depth + 1) for name in code.co_names)


def _function(holder: object, name: str) -> object:
    """The function of this name: a method of an object, or one of the global variables."""
    if type(holder) is dict:
        return holder.get(name)
    return None if holder is None else in_class(type(holder), name)


def _loop_around(code: CodeType, position: int) -> int:
    """The offset at which the outermost loop around a position begins; beyond the code if there is none."""
    begins = [
        end - 2 * argument
        for start, operation, argument, end in instructions(code)
        if operation in BACKWARD_JUMPS and start > position >= end - 2 * argument
    ]
    return min(begins, default=len(code.co_code))
