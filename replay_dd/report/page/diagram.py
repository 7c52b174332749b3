"""A run as a sequence diagram: a table with a lane for each thread, and what the script needs to step through it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from replay_dd.report.page.markup import Markup, cut, tag
from replay_dd.report.page.rows import ACCESS, END, GAP, SWITCH, Row, Rows
from replay_dd.schedules.observed.observation import Access
from replay_dd.schedules.vouched_sources import vouched_lines

_LONGEST_WORDS = 300
_LONGEST_LINE = 200
_LONGEST_NAME = 120
_CONTEXT = 8  # lines above and below a place
_MOST_LINES = 3_000  # of sources, in one page
_LITTLE = 1 / 3  # of what the busiest thread does: such a thread gets a narrow lane
_STEP_PX, _NARROW_PX, _WIDE_PX = 38, 112, 176  # at least: a wider page widens all columns
_COLORS = 6
_MOST_BARS = 3


def diagram(rows: Rows, common: int = 0) -> Markup:
    """The table.

    Args:
        rows: the run.
        common: how many rows it begins with that the other run has as well.
    """
    head = tag("th", "#", scope="col", class_="number", title="step")
    lanes = [
        tag(
            "th",
            tag("span", "main thread" if lane == "0" else "thread", class_="label"),
            tag("span", lane, class_="name"),
            scope="col",
            class_=f"lane c{number % _COLORS}",
        )
        for number, lane in enumerate(rows.lanes)
    ]
    widths = _widths(rows)
    body: list[Markup] = []
    if rows.before:
        body.append(_remark(rows, f"{rows.before:,} earlier steps are left out: the same in both runs"))
    begun = _begun(rows)
    over: set[str] = set()
    for number, row in enumerate(rows.rows):
        if common and number == common:
            body.append(_remark(rows, "up to here, both runs are the same", "divide"))
        body.append(_row(number, row, rows, begun, over, widths))
        if row.ended:
            over.add(row.thread)
    shown = Counter(row.thread for row in rows.rows if row.kind == ACCESS)
    busiest = max(shown.values(), default=0)
    widths_px = [_NARROW_PX if shown[lane] < busiest * _LITTLE else _WIDE_PX for lane in rows.lanes]
    columns = [tag("col", width=width) for width in widths_px]
    return tag(
        "table",
        tag("colgroup", tag("col", width=_STEP_PX), columns),
        tag("thead", tag("tr", head, lanes)),
        tag("tbody", body),
        class_=f"diagram lanes-{len(rows.lanes)}",
    )


def _remark(rows: Rows, words: str, kind: str = "gap", number: int | None = None) -> Markup:
    return tag("tr", tag("td", tag("span", words), colspan=len(rows.lanes) + 1), class_=kind, data_step=number)


def _begun(rows: Rows) -> Mapping[str, int]:
    """The row with which each thread begins; those that begin before what is shown have begun."""
    begun: dict[str, int] = {}
    for number, row in enumerate(rows.rows):
        for name in (row.thread, row.to):
            begun.setdefault(name, 0 if rows.before and name == row.thread else number)
    return begun


def _widths(rows: Rows) -> Mapping[str, int]:
    """How many locks each thread holds at most: so much room its lane needs for them."""
    widths: dict[str, int] = {}
    for row in rows.rows:
        for thread, locks in row.held.items():
            widths[thread] = min(max(widths.get(thread, 0), len(locks)), _MOST_BARS)
    return widths


def _row(
    number: int, row: Row, rows: Rows, begun: Mapping[str, int], over: set[str], widths: Mapping[str, int]
) -> Markup:
    if row.kind == GAP:
        return _remark(rows, row.words, number=number)
    if row.kind == END:
        ending = tag("td", cut(row.words, _LONGEST_WORDS), colspan=len(rows.lanes), class_="ending")
        return tag("tr", tag("th", number + 1, scope="row", class_="number"), ending, class_=END, data_step=number)
    arrow = _arrow(row, rows.lanes)
    cells = []
    for place, lane in enumerate(rows.lanes):
        kinds = [f"c{place % _COLORS}", f"w{widths.get(lane, 0)}"]
        if begun.get(lane, len(rows.rows)) > number or lane in over:
            kinds.append("absent")
        if lane == row.thread:
            kinds.append("runs")
        if lane == row.to:
            kinds.append("wakes")
        if place in arrow:
            kinds.append(arrow[place])
        bars = [
            tag("i", class_=f"bar b{bar} k{_lock_color(lock, rows)}", title=f"holds {rows.locks.get(lock, 'a lock')}")
            for bar, lock in enumerate(row.held.get(lane, ())[:_MOST_BARS])
        ]
        cells.append(tag("td", bars, _card(row, rows) if lane == row.thread else None, class_=" ".join(kinds)))
    kind = f"{row.kind}{' lit' if row.lit else ''}{' differs' if row.other else ''}"
    return tag("tr", tag("th", number + 1, scope="row", class_="number"), cells, class_=kind, data_step=number)


def _arrow(row: Row, lanes: Sequence[str]) -> Mapping[int, str]:
    """The part of the arrow of a switch in each of the cells that it crosses."""
    if row.kind != SWITCH or row.thread not in lanes or row.to not in lanes or row.thread == row.to:
        return {}
    start, stop = lanes.index(row.thread), lanes.index(row.to)
    way = "right" if start < stop else "left"
    parts = dict.fromkeys(range(min(start, stop) + 1, max(start, stop)), "across")
    return {**parts, start: f"from-{way}", stop: f"to-{way}"}


def _lock_color(lock: int, rows: Rows) -> int:
    return list(rows.locks).index(lock) % _COLORS if lock in rows.locks else 0


def _card(row: Row, rows: Rows) -> Markup:
    words = cut(row.words, _LONGEST_WORDS)
    if row.kind == SWITCH:
        words = f"{words}; {row.to} runs"
        title = None if row.place is None else cut(f"{row.place}: {row.source}", 2 * _LONGEST_WORDS)
        return tag("div", tag("b", f"{rows.lit_words}: ") if row.lit else None, words, class_="switch", title=title)
    held = [rows.locks.get(lock, "a lock") for lock in row.held.get(row.thread, ())]
    access = row.access
    kind = "writes" if access is not None and access.writes else "reads"
    return tag(
        "div",
        tag("span", _at(row), class_="at", title=cut(" > ".join(row.path), 2 * _LONGEST_WORDS)),
        tag("code", cut(row.source, _LONGEST_LINE), class_="source", title=cut(row.source, _LONGEST_LINE))
        if row.source
        else None,
        tag("span", f"{cut(access.name, _LONGEST_NAME)}: ", class_="thing")
        if access is not None and _needs_name(access, rows)
        else None,
        tag("span", words, class_="does"),
        tag("span", f"the other run: {cut(row.other, _LONGEST_WORDS)}", class_="other") if row.other else None,
        tag("span", f" (holds {', '.join(held)})", class_="hidden") if held else None,
        class_=f"card {kind}",
    )


def _needs_name(access: Access, rows: Rows) -> bool:
    """Whether it must be said what is accessed: locks are named already, and one thing is known."""
    return access.thing[0] != "lock" and len(rows.things) - len(rows.locks) > 1


def _at(row: Row) -> str:
    place = row.place
    return "" if place is None else f"{cut(place.file.rpartition('/')[2], _LONGEST_NAME)}:{place.line}"


def steps_as_data(rows: Rows) -> list[dict[str, Any]]:
    """The rows of a run for the script: what it says, whose line is where, and the values."""
    return [
        {
            "thread": row.thread,
            "to": row.to,
            "kind": row.kind,
            "words": cut(row.words, _LONGEST_WORDS),
            "file": "" if row.place is None else cut(row.place.file, _LONGEST_LINE),
            "line": 0 if row.place is None else row.place.line,
            "function": "" if row.place is None else cut(row.place.function, _LONGEST_NAME),
            "values": {label: [cut(now, 80), seen] for label, (now, seen) in row.values.items()},
        }
        for row in rows.rows
    ]


def sources_as_data(*runs: Rows) -> dict[str, Any]:
    """The source lines around each place of some runs, by file and line; only those that their logs vouch for."""
    wanted: dict[str, dict[int, str]] = {}
    left = _MOST_LINES
    for file, line, text in _around(runs):
        lines = wanted.setdefault(file, {})
        if line not in lines and left > 0:
            lines[line] = text
            left -= 1
    return {file: {str(line): lines[line] for line in sorted(lines)} for file, lines in wanted.items()}


def _around(runs: Sequence[Rows]) -> Iterator[tuple[str, int, str]]:
    done = set()
    for run in runs:
        for row in run.rows:
            place = row.place
            if place is None or (place.file, place.line) in done:
                continue
            done.add((place.file, place.line))
            lines = vouched_lines(run.log.program, place)
            for number in range(max(1, place.line - _CONTEXT), min(len(lines), place.line + _CONTEXT) + 1):
                yield cut(place.file, _LONGEST_LINE), number, cut(lines[number - 1], _LONGEST_LINE)


def shows_accesses(rows: Rows) -> bool:
    """Whether the run was observed."""
    return any(row.kind == ACCESS for row in rows.rows)
