"""The yield points of a code object as a table, for the back ends."""

from __future__ import annotations

from .bytecode import LINE, SYNC, points
from .places import COUNTED, Places

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from types import CodeType, FrameType
    from typing import Any

_MOST_CODE = 4_096  # bytes, as nobody knows whether they will run: about a millisecond


def numbers_of(places: Places, code: CodeType, granularity: str) -> dict[int, int]:
    """What each yield point of a code object adds to the digest, by byte offset, or by line at granularity ``line``."""
    known = places.in_advance.get(id(code))
    if known is not None:
        return known[1]
    place_hash = places.place_hash
    if granularity == LINE:
        return {line: place_hash(code, line) for _, _, line in code.co_lines() if line is not None}
    if granularity == SYNC:
        return {}
    return places.place_hashes(code, points(code, granularity))


def find_in_advance(places: Places, frame: FrameType | None, granularity: str) -> None:
    """Find the numbers of the functions that run, and of those that stand in them."""
    left = _MOST_CODE
    found = []
    while frame is not None:
        found.append(frame.f_code)
        frame = frame.f_back
    for code in found:
        if places.kind(code.co_filename) == COUNTED and left > 0:
            left -= len(code.co_code)
            places.in_advance[id(code)] = (code, numbers_of(places, code, granularity))
            found.extend([inner for inner in code.co_consts if type(inner) is type(code)])


def add_code(counter: Any, code: CodeType, numbers: dict[int, int], granularity: str) -> None:
    """Give the accelerator the yield points of a code object; none if its code is not counted."""
    if numbers:
        counter.add_code(code, min(numbers), max(numbers), 0 if granularity == LINE else 1, numbers)
    else:
        counter.add_code(code, 0, 0, 0, numbers)
