"""A place in the code, as the log names it."""

from __future__ import annotations

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from types import CodeType


class Place:
    """A place as the log names it: code with a byte offset, or with a line where ``is_line``.

    An operation (on a lock, a file, the clock) is ``reachable`` under the GIL, whatever its instruction.
    """

    __slots__ = ("code", "is_line", "position", "reachable")

    def __init__(self, code: CodeType, position: int, is_line: bool = False, reachable: bool = False) -> None:
        self.code = code
        self.position = position
        self.is_line = is_line
        self.reachable = reachable

    @property
    def mark(self) -> int:
        """Distinguishes places of one code object; offsets are even, so an operation differs from its instruction."""
        return self.position + 1 if self.reachable else self.position


def line_of(place: Place) -> int:
    """The line of a place."""
    if place.is_line:
        return place.position
    for start, end, line in place.code.co_lines():
        if start <= place.position < end and line is not None:
            return line
    return place.code.co_firstlineno
