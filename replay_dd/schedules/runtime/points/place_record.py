"""How a place is described to the tool: file, line, column, function, instruction."""

from __future__ import annotations

from ..channel import PLACE
from .bytecode import describe, instructions, reachable_under_gil
from .place import Place
from .places import Places

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    pass


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
    reachable, after_call = reach_of(place)
    file = code.co_filename
    key = places.place_hash(code, place.mark)
    where = (places.short(file), file, line, column, code.co_qualname, instruction)
    return (PLACE, number, *where, reachable, key, after_call, place.reachable)


def reach_of(place: Place) -> tuple[bool, bool]:
    """(whether a switch here is possible under a GIL, whether only if the call before it was of a function in C)."""
    if place.reachable:
        return True, False
    return reachable_under_gil(place.code, _first_offset(place) if place.is_line else place.position)


def _first_offset(place: Place) -> int:
    starts = [start for start, _, line in place.code.co_lines() if line == place.position]
    offsets = {offset for offset, *_ in instructions(place.code)}
    return next((start for start in starts if start in offsets), starts[0] if starts else -1)
