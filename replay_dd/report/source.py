"""Source lines, for showing a place with its text.

A log is shown only with files that it vouches for: see :mod:`replay_dd.schedules.vouched_sources`.
"""

from __future__ import annotations

from replay_dd.schedules.model import Place, Program
from replay_dd.schedules.vouched_sources import vouched_lines


def source_line(place: Place, program: Program) -> str:
    """The text of a place's line, without indentation; empty if the file is not there, or has changed.

    Args:
        place: the place.
        program: the program in whose log the place stands.
    """
    lines = vouched_lines(program, place)
    return lines[place.line - 1].strip() if 0 < place.line <= len(lines) else ""


def columns_before(place: Place, program: Program) -> int:
    """The number of characters of :func:`source_line` before a place; 0 if its column is unknown."""
    lines = vouched_lines(program, place)
    if not 0 < place.line <= len(lines) or place.column == 0:
        return 0
    line = lines[place.line - 1]
    before = line.encode()[: place.column - 1].decode(errors="ignore")  # the interpreter counts bytes
    return max(0, len(before) - (len(line) - len(line.lstrip())))


def source_between(first: Place, last: Place, program: Program, most: int = 12) -> list[tuple[int, str]]:
    """(number, text) of the lines from one place to another in the same file; empty if they are far apart."""
    if first.file != last.file or not 0 <= last.line - first.line < most:
        return []
    lines = vouched_lines(program, first)
    return [(number, lines[number - 1]) for number in range(first.line, last.line + 1) if 0 < number <= len(lines)]
