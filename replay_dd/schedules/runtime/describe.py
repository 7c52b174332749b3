"""How a place is told to the tool: file, line, column, function, instruction."""

from __future__ import annotations

import os
import sys

from .channel import PLACE
from .managed import Place
from .places import Places
from .yieldpoints import describe, instructions, reachable_under_gil

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

RUNTIME = os.path.dirname(os.path.abspath(__file__)) + os.sep


def program_frame(frame: FrameType | None) -> FrameType | None:
    """The innermost frame that is not the runtime's own."""
    while frame is not None and frame.f_code.co_filename.startswith(RUNTIME):
        frame = frame.f_back
    return frame


def current_frames_replacement() -> Callable[[], dict[int, FrameType]]:
    """``sys._current_frames`` without the runtime's own frames, in which each waiting thread stands."""
    real = sys._current_frames

    def _current_frames() -> dict[int, FrameType]:
        return {ident: program_frame(innermost) or innermost for ident, innermost in real().items()}

    return _current_frames


def place_record(places: Places, number: int, place: Place) -> tuple[object, ...]:
    """The record of a place at its first use."""
    code = place.code
    offset = _first_offset(place) if place.is_line else place.position
    if offset < 0:
        line, column, instruction = code.co_firstlineno, 0, "?"
    else:
        line, column, instruction = describe(code, offset)
    if place.is_line:
        line = place.position
    reachable, after_call = (True, False) if place.reachable else reachable_under_gil(code, offset)
    file = code.co_filename
    key = places.place_hash(code, place.mark)
    where = (places.short(file), file, line, column, code.co_qualname, instruction)
    return (PLACE, number, *where, reachable, key, after_call, place.reachable)


def _first_offset(place: Place) -> int:
    starts = [start for start, _, line in place.code.co_lines() if line == place.position]
    offsets = {offset for offset, _ in instructions(place.code)}
    return next((start for start in starts if start in offsets), starts[0] if starts else -1)
