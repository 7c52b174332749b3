"""Regions of the program: lines of a function, and all that is called from there.

Rules of this module:

* A thread is inside as long as some frame on its stack stands in the lines of a region. This is looked up, not
  remembered: so exceptions, recursion and generators need no rules of their own. A generator that is suspended is not
  on the stack, so it is not inside.
"""

from __future__ import annotations

from ..points.place import Place, line_of

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import CodeType, FrameType

    from ..points.places import Places

    Lines = tuple[tuple[int, int], ...]  # first and last line of each region of a function


class Regions:
    """Tells which code stands in some regions.

    Args:
        places: names files.
        regions: short file, qualified name of the function, first line, last line of each.
    """

    def __init__(self, places: Places, regions: Sequence[tuple[str, str, int, int]]) -> None:
        self._places = places
        self._functions: dict[tuple[str, str], Lines] = {}
        for file, function, first, last in regions:
            known = self._functions.get((file, function), ())
            self._functions[file, function] = (*known, (first, last))
        self._lines: dict[int, tuple[CodeType, Lines]] = {}
        self._positions: dict[tuple[int, int, bool], bool] = {}

    def has(self, code: CodeType, position: int, is_line: bool) -> bool:
        """Whether a yield point is in a region."""
        lines = self._of(code)
        if not lines:
            return False
        key = (id(code), position, is_line)
        found = self._positions.get(key)
        if found is None:
            found = self._positions[key] = _within(line_of(Place(code, position, is_line)), lines)
        return found

    def innermost(self, frame: FrameType | None) -> FrameType | None:
        """The innermost frame of a stack that stands in a region; None if none does."""
        while frame is not None:
            lines = self._of(frame.f_code)
            if lines and _within(frame.f_lineno or 0, lines):
                return frame
            frame = frame.f_back
        return None

    def _of(self, code: CodeType) -> Lines:
        known = self._lines.get(id(code))
        if known is None:
            name = (self._places.short(code.co_filename), code.co_qualname)
            # The code object is kept, so that its identity is not given to another one.
            known = self._lines[id(code)] = (code, self._functions.get(name, ()))
        return known[1]


def _within(line: int, lines: Lines) -> bool:
    return any(first <= line <= last for first, last in lines)
