"""Stacks of the program, each told once and known by its number."""

from __future__ import annotations

from ..points.frames import RUNTIME, interruption
from ..points.places import COUNTED, EXCLUDED

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from types import CodeType, FrameType

    from ..points.places import Places

    Row = tuple[str, str, int, str, bool]  # short file, file, line, function, counted
    Origin = tuple[tuple[CodeType, int], ...]

_BEFORE_RUN = "Thread._bootstrap"  # below the frames of every thread's own work
_DEEPEST = 60
NO_STACK = -1


class Stacks:
    """Numbers stacks.

    Args:
        places: names files, and tells the program's code from others'.

    Attributes:
        rows: those so far, each from the innermost frame to the outermost.
    """

    def __init__(self, places: Places) -> None:
        self._places = places
        self._numbers: dict[tuple[Row, ...], int] = {}
        self.rows: list[tuple[Row, ...]] = []

    def of_frame(self, frame: FrameType | None) -> int:
        """The number of the stack whose innermost frame this is."""
        way: list[tuple[CodeType, int]] = []
        while frame is not None and len(way) < _DEEPEST:
            way.append((frame.f_code, frame.f_lineno or 0))
            frame = frame.f_back
        return self.of_lines(tuple(way))

    def of_lines(self, way: Origin) -> int:
        """The same for code objects with their lines; NO_STACK if all of them are the runtime's."""
        rows: list[Row] = []
        for code, line in way:
            file, function = code.co_filename, code.co_qualname
            between = interruption(code)
            if between is not None and rows:
                rows.append(between)
            if file.startswith((RUNTIME, "<frozen")) or function.startswith(_BEFORE_RUN):
                continue
            kind = self._places.kind(file)
            if kind != EXCLUDED:
                rows.append((self._places.short(file), file, line, function, kind == COUNTED))
        if not rows:
            return NO_STACK
        key = tuple(rows)
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self.rows)
            self.rows.append(key)
        return number
