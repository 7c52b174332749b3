"""The result of a ``DeltaDebugger`` as HTML for notebooks; self-contained, runs nothing, escapes everything."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from replay_dd.outcome import Outcome
from replay_dd.trust.printable import html_text

_SHOWN_TESTS = 200
_SHOWN_CHARACTERS = 2000
STOPPED_BY = {"tests": "the limit on tests", "time": "the time budget", "interrupt": "Ctrl-C"}


class TriedCall(NamedTuple):
    """One test.

    Attributes:
        number: which, from 1.
        size: how many elements the arguments had; arrays and other objects do not count.
        outcome: its outcome.
        words: how the call ended.
    """

    number: int
    size: int
    outcome: Outcome
    words: str


def in_html(
    rows: Sequence[tuple[str, str]], tests: Sequence[TriedCall], stopped_by: str | None = None
) -> Iterator[str]:
    """A table, and the tests in a collapsed section, line by line.

    Args:
        rows: names and texts of the table.
        tests: all tests.
        stopped_by: what ended the search early; None if nothing did.
    """
    yield "<table>"
    for name, text in rows:
        half = _SHOWN_CHARACTERS // 2
        shown = text if len(text) <= _SHOWN_CHARACTERS else f"{text[:half]} ... {text[-half:]}"
        yield (
            f'<tr><th style="text-align:left;vertical-align:top">{name}</th><td style="text-align:left">'
            f'<pre style="white-space:pre-wrap;margin:0">{html_text(shown)}</pre></td></tr>'
        )
    yield "</table>"
    early = "" if stopped_by is None else f"; stopped early by {STOPPED_BY[stopped_by]}"
    yield f"<details><summary>{len(tests)} tests{early}</summary><table>"
    yield "<tr><th>#</th><th>elements</th><th>outcome</th><th>ending</th></tr>"
    for test in tests[:_SHOWN_TESTS]:
        cells = (test.number, test.size, test.outcome.value, test.words)
        yield f"<tr>{''.join(f'<td>{html_text(str(cell))}</td>' for cell in cells)}</tr>"
    yield "</table>"
    if len(tests) > _SHOWN_TESTS:
        yield f"<p>{len(tests) - _SHOWN_TESTS} more are in <code>log_tests</code>.</p>"
    yield "</details>"
