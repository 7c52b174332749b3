"""Source lines, for showing a place with its text."""

from __future__ import annotations

import functools
from pathlib import Path

from replay_dd.errors.user import LogError
from replay_dd.logfile import read_regular
from replay_dd.schedules.model import Place

_LARGEST_SOURCE_BYTES = 2**24


@functools.lru_cache(maxsize=256)
def _lines(path: str) -> tuple[str, ...]:
    try:
        text = read_regular(Path(path), _LARGEST_SOURCE_BYTES).decode("utf-8", "replace")
    except LogError:
        return ()
    return tuple(text.splitlines())


def source_line(place: Place) -> str:
    """The text of a place's line, without indentation; empty if the file no longer exists."""
    lines = _lines(place.path)
    return lines[place.line - 1].strip() if 0 < place.line <= len(lines) else ""


def columns_before(place: Place) -> int:
    """The number of characters of :func:`source_line` before a place; 0 if its column is unknown."""
    lines = _lines(place.path)
    if not 0 < place.line <= len(lines) or place.column == 0:
        return 0
    line = lines[place.line - 1]
    before = line.encode()[: place.column - 1].decode(errors="ignore")  # the interpreter counts bytes
    return max(0, len(before) - (len(line) - len(line.lstrip())))
