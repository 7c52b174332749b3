"""The page of executed statements: the sources with what mattered lit, and the search."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from replay_dd.report.page.course import course
from replay_dd.report.page.frame import Page
from replay_dd.report.page.markup import Child, Markup, cut, tag
from replay_dd.report.page.parts import facts, folded, section, text
from replay_dd.report.statements import headline, statements_as_text, summary_as_text
from replay_dd.trace.listing import File, Line
from replay_dd.trace.slice import Slice

_MOST_LINES = 5_000
_LONGEST_LINE = 400


def statements_page(found: Slice, name: str, files: Sequence[File], paths: Mapping[str, Path]) -> Page:
    """The page of an answer; arguments as for :func:`~replay_dd.report.statements.statements_as_text`."""
    label_width = 13
    told = [(line[:label_width].strip(), line[label_width:]) for line in summary_as_text(found)]
    return Page(
        kicker="Isolated: executed statements" if found.isolation.complete else "Not isolated yet",
        title=headline(found, name),
        summary=(
            "Highlighted lines are needed; beside each, how many of its executions are, of how many there were. Grey "
            "ones ran and made no difference."
        ),
        sections=(
            section("answer", "The answer", facts(told), [tag("p", note, class_="remark") for note in found.notes]),
            *(_source(file, number) for number, file in enumerate(files)),
            course(found.isolation, unit="executed statements", before=len(found.trace)),
            section(
                "report",
                "The whole report",
                folded("As text, for an issue or a mail", text(statements_as_text(found, name, files, paths))),
            ),
        ),
    )


def _source(file: File, number: int) -> Markup:
    rows = tag("table", tag("tbody", _rows(file.lines[:_MOST_LINES])), class_="source-lines")
    more = len(file.lines) - _MOST_LINES
    shown: list[Child] = [tag("div", rows, class_="scroll", tabindex=0)]
    if more > 0:
        shown.append(tag("p", f"and {more:,} more lines", class_="remark"))
    body: Child = shown if file.needed else folded("Nothing in it is needed", shown)
    return section(f"source-{number}", file.name, body)


def _rows(lines: Iterable[Line]) -> Iterator[Markup]:
    for line in lines:
        state = "needed" if line.lit else "idle" if line.ran else "never"
        counts = f"{line.needed:,} of {line.ran:,}" if line.ran else ""
        yield tag(
            "tr",
            tag("th", str(line.number), scope="row", class_="number"),
            tag("td", counts, class_="counts"),
            tag("td", tag("code", cut(line.text, _LONGEST_LINE) or " ")),
            class_=state,
        )
