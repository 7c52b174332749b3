"""The source of a traced program, with what each line did and how much of that an outcome needs.

Rules of this module:

* A line counts for the statements that begin in it. One that goes on in the next lines is lit there, too.
* Of a long file only what surrounds the needed lines is shown, in whole lines; what is left out is counted.
"""

from __future__ import annotations

import tokenize
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from replay_dd.trace.slice import Slice

WHOLE = 80  # lines; longer files are cut to what surrounds the needed lines
_AROUND = 2


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a source.

    Attributes:
        number: from 1; 0 where lines are left out.
        text: its text; or in words how many lines are left out.
        ran: how many statements that begin here were executed, each time counted.
        needed: how many of these the outcome needs.
        lit: whether a needed statement stands here, or goes on here.
    """

    number: int
    text: str
    ran: int = 0
    needed: int = 0
    lit: bool = False


@dataclass(frozen=True, slots=True)
class File:
    """A source file: its name and its lines."""

    name: str
    lines: tuple[Line, ...]

    @property
    def needed(self) -> int:
        """How many executed statements of it the outcome needs."""
        return sum(line.needed for line in self.lines)


def listing(found: Slice, directory: Path) -> list[File]:
    """The files of a traced program; those with needed statements first, otherwise in the order of their execution.

    Args:
        found: what was found.
        directory: the working folder.
    """
    trace, needed = found.trace, found.needed
    files = []
    for name in trace.files:
        ran: dict[int, int] = {}
        wanted: dict[int, int] = {}
        lit: set[int] = set()
        for number, times in trace.counts.items():
            place = trace.statements[number]
            if place.file != name:
                continue
            ran[place.line] = ran.get(place.line, 0) + times
            if number in needed:
                wanted[place.line] = wanted.get(place.line, 0) + needed[number]
                lit.update(range(place.line, place.end_line + 1))
        texts = _texts(directory / name)
        last = max([len(texts), *ran])
        files.append(
            File(
                name,
                tuple(
                    Line(
                        number,
                        texts[number - 1] if number <= len(texts) else "",
                        ran.get(number, 0),
                        wanted.get(number, 0),
                        number in lit,
                    )
                    for number in range(1, last + 1)
                ),
            )
        )
    return sorted(files, key=lambda file: not file.needed)


def excerpt(file: File) -> Iterator[Line]:
    """The lines of a file that are shown."""
    if len(file.lines) <= WHOLE:
        yield from file.lines
        return
    lit = [line.number for line in file.lines if line.lit]
    shown = {near for number in lit for near in range(number - _AROUND, number + _AROUND + 1)}
    left_out: list[Line] = []
    for line in file.lines:
        if line.number in shown:
            yield from _gap(left_out)
            left_out = []
            yield line
        else:
            left_out.append(line)
    yield from _gap(left_out)


def _gap(lines: Sequence[Line]) -> Iterator[Line]:
    if lines:
        ran = sum(line.ran for line in lines)
        plural = "" if len(lines) == 1 else "s"
        yield Line(0, f"... {len(lines):,} line{plural}", ran)


def _texts(path: Path) -> list[str]:
    try:
        with tokenize.open(path) as file:
            return file.read().splitlines()
    except (OSError, SyntaxError, UnicodeDecodeError):
        return []
