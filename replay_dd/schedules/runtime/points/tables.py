"""The yield points of a code object as a table, for the back ends."""

from __future__ import annotations

from .bytecode import LINE, SYNC, points
from .places import Places

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from types import CodeType
    from typing import Any


def numbers_of(places: Places, code: CodeType, granularity: str) -> dict[int, int]:
    """What each yield point of a code object adds to the digest, by byte offset, or by line at granularity ``line``."""
    place_hash = places.place_hash
    if granularity == LINE:
        return {line: place_hash(code, line) for _, _, line in code.co_lines() if line is not None}
    if granularity == SYNC:
        return {}
    return {offset: place_hash(code, offset) for offset in points(code, granularity)}


def add_code(counter: Any, code: CodeType, numbers: dict[int, int], granularity: str) -> None:
    """Give the accelerator the yield points of a code object; none if its code is not counted."""
    if numbers:
        counter.add_code(code, min(numbers), max(numbers), 0 if granularity == LINE else 1, numbers)
    else:
        counter.add_code(code, 0, 0, 0, numbers)
