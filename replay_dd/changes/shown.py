"""Shows changes in their surroundings, for people.

Rules of this module:

* A line that looks like the one that it replaces, since only blanks or its end differ, is shown in quotes with escapes.
* What is not text in UTF-8 is shown by escapes, so that any two bytes look different.
* A heading is not told where its own line is shown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from replay_dd.changes.difference import Difference
from replay_dd.changes.file_change import FileChange, Kind
from replay_dd.changes.levels import symbol_of
from replay_dd.changes.outlines import LONGEST_HEADING
from replay_dd.dd import IntervalSet

_AROUND = 2


@dataclass(frozen=True, slots=True)
class Row:
    """A line of a file.

    Attributes:
        number: its number in the old version, from 1; of a line that is not there, that of the line it comes before.
        sign: ``-`` for a removed line, ``+`` for an added one, a blank for one that stays.
        text: the line without its end.
        guilty: whether it is part of the difference between passing and failing.
    """

    number: int
    sign: str
    text: str
    guilty: bool = False


@dataclass(frozen=True, slots=True)
class Passage:
    """Neighbouring lines of a file.

    Attributes:
        title: the file, with its old path if that is another, and the function or class.
        rows: the lines; none where the whole file is added, removed, renamed or replaced.
        is_guilty: whether any of it is part of the difference between passing and failing.
    """

    title: str
    rows: tuple[Row, ...]
    is_guilty: bool = False


def passages(difference: Difference, deltas: IntervalSet, guilty: IntervalSet) -> Iterator[Passage]:
    """The changed lines with a few around them.

    Args:
        difference: the two versions.
        deltas: the changes to show.
        guilty: those that are marked.
    """
    by_file: dict[int, list[int]] = {}
    for delta in deltas:
        by_file.setdefault(difference.file_of(delta), []).append(delta)
    for number, members in by_file.items():
        file = difference.files[number]
        lines = [delta for delta in members if difference.kind(delta) is Kind.LINE]
        for delta in members:
            if delta not in lines:
                yield Passage(difference.words(delta), (), delta in guilty)
        for part in _neighbours(difference, lines):
            symbol, rows = symbol_of(difference, part[0]), tuple(_rows(difference, file, part, guilty))
            is_told = not symbol or any(row.text.rstrip()[:LONGEST_HEADING] == symbol for row in rows)
            yield Passage(
                file.title if is_told else f"{file.title}, {symbol}", rows, any(one in guilty for one in part)
            )


def _neighbours(difference: Difference, deltas: list[int]) -> Iterator[list[int]]:
    """Changes that are shown together."""
    part: list[int] = []
    for delta in deltas:
        change, last = difference.line_change(delta), difference.line_change(part[-1]) if part else None
        if last is not None and change is not None and change.old - last.old_stop > 2 * _AROUND:
            yield part
            part = []
        part.append(delta)
    if part:
        yield part


def _rows(difference: Difference, file: FileChange, deltas: list[int], guilty: IntervalSet) -> Iterator[Row]:
    changes = [(delta, change) for delta in deltas if (change := difference.line_change(delta)) is not None]
    first, last = changes[0][1], changes[-1][1]
    removed = [line for _, change in changes for line in file.before[change.old : change.old_stop]]
    text = _texts_of(removed, [line for _, change in changes for line in file.after[change.new : change.new_stop]])
    done = max(0, first.old - _AROUND)

    def place(line: int) -> int:
        return file.line_in_old(line) + 1

    # Added lines follow all removed ones that they stand beside, as in a patch.
    waiting: list[Row] = []
    for delta, change in changes:
        if change.old > done:
            yield from waiting
            waiting = []
        yield from (Row(place(number), " ", text_of(file.before[number])) for number in range(done, change.old))
        for number in range(change.old, change.old_stop):
            yield Row(place(number), "-", text(file.before[number]), delta in guilty)
        waiting += [
            Row(place(change.old), "+", text(file.after[number]), delta in guilty)
            for number in range(change.new, change.new_stop)
        ]
        done = max(done, change.old_stop)
    yield from waiting
    after = range(done, min(len(file.before), last.old_stop + _AROUND))
    yield from (Row(place(number), " ", text_of(file.before[number])) for number in after)


def _texts_of(removed: Sequence[bytes], added: Sequence[bytes]) -> Callable[[bytes], str]:
    """How to show removed and added lines so that one can see what differs."""
    alike = set(map(_visible, removed)) & set(map(_visible, added))
    return lambda line: _quoted(line) if _visible(line) in alike else text_of(line)


def _visible(line: bytes) -> str:
    return text_of(line).expandtabs().rstrip()


def _quoted(line: bytes) -> str:
    try:
        return repr(line.decode())
    except UnicodeDecodeError:
        return repr(line).removeprefix("b")


def text_of(line: bytes) -> str:
    """A line without its end, and without anything that a terminal does not show as it is."""
    text = line.rstrip(b"\r\n").decode("utf-8", "backslashreplace")
    return "".join(one if one.isprintable() or one == "\t" else repr(one)[1:-1] for one in text)
