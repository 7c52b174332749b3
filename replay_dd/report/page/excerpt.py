"""What is shown of runs that are too long, and what differs between two of them.

Rules of this module:

* Two runs that are shown side by side are the same run up to a switch. So are their rows: both begin with the same.
* What the story tells is shown, with what surrounds it, and so is what surrounds the first difference.
* Whatever is left out is counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from replay_dd.report.page.rows import ACCESS, END, GAP, Row, Rows
from replay_dd.report.timeline import by_path

_MOST_ROWS = 240
_BEFORE = 60  # rows, where two runs begin to differ
_AROUND = 3  # rows, around what the story tells, if not all can be shown
_MOST_LANES = 8


def side_by_side(failing: Rows, passing: Rows) -> tuple[Rows, Rows, int]:
    """Two runs with what differs between them, cut to what is shown; and how many rows they begin with in common."""
    common = 0
    for one, other in zip(failing.rows, passing.rows, strict=False):
        if one.same_as != other.same_as:
            break
        common += 1
    start = max(0, common - _BEFORE)
    told = [
        _cut(replace(one, rows=tuple(_compared(one.rows, other.rows, common))), start, common)
        for one, other in ((failing, passing), (passing, failing))
    ]
    lanes = tuple(sorted({*told[0].lanes, *told[1].lanes}, key=by_path))
    return replace(told[0], lanes=lanes), replace(told[1], lanes=lanes), common - start


def alone(rows: Rows) -> Rows:
    """A run cut to what is shown."""
    lit = next((number for number, row in enumerate(rows.rows) if row.lit), 0)
    start = max(0, lit - _BEFORE)
    return _cut(rows, start, lit)


def _cut(rows: Rows, start: int, common: int) -> Rows:
    """What is shown of a run: what surrounds the first difference, and of the rest what the story tells."""
    *most, end = rows.rows
    shown = _lanes_shown([*most[start:], end])
    kept = list(_with_gaps([row for row in most[start:] if row.thread in shown or not row.thread], common - start))
    return replace(
        rows,
        rows=(*kept, end),
        lanes=tuple(sorted(shown, key=by_path)),
        before=start,
        other_threads=len({*rows.lanes} - shown),
    )


def _lanes_shown(rows: Sequence[Row]) -> set[str]:
    """The threads that matter most: those of the switch that makes the difference, of the story, and the busiest."""
    counts: Counter[str] = Counter()
    for row in rows:
        worth = _MOST_ROWS**2 if row.lit or row.kind == END else _MOST_ROWS if row.told else 1
        for name in (row.thread, row.to):
            counts[name] += worth if name else 0
    del counts[""]
    return {name for name, _ in counts.most_common(_MOST_LANES)}


def _with_gaps(rows: Sequence[Row], common: int) -> Iterator[Row]:
    """The rows, with gaps in the place of those that matter least, if there are too many."""
    kept = set(range(len(rows)))
    if len(rows) > _MOST_ROWS:
        kept = set(range(common + _AROUND))
        for number, row in enumerate(rows):
            if row.told or row.lit:
                kept.update(range(number - _AROUND, number + _AROUND + 1))
        kept.update(range(len(rows) - _AROUND, len(rows)))
        kept = set(sorted(kept)[:_MOST_ROWS])
    gap: list[Row] = []
    for number, row in enumerate(rows):
        if number not in kept:
            gap.append(row)
            continue
        yield from _gap(gap)
        gap = []
        yield row
    yield from _gap(gap)


def _gap(rows: Sequence[Row]) -> Iterator[Row]:
    if rows:
        last = rows[-1]
        yield Row(GAP, "", f"{len(rows):,} more steps are left out", held=last.held, values=last.values)


def _compared(rows: Sequence[Row], others: Sequence[Row], common: int) -> Iterator[Row]:
    """The rows, with what the other run has where a thread does the same and finds something else."""
    there: dict[tuple[object, ...], str] = {}
    for key, row in _numbered(others):
        there[key] = row.words
    for number, (key, row) in enumerate(_numbered(rows)):
        other = there.get(key, "")
        if number >= common and row.kind == ACCESS and other and other != row.words:
            row = replace(row, other=other)
        yield row


def _numbered(rows: Iterable[Row]) -> Iterator[tuple[tuple[object, ...], Row]]:
    visits: Counter[tuple[object, ...]] = Counter()
    for row in rows:
        visits[row.where] += 1
        yield (*row.where, visits[row.where]), row
