"""The statements that two isolated schedules need as text and as JSON: the source, with what is needed marked."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from replay_dd.report.isolation import at_most, counted, stopped_in_words, tests_in_words
from replay_dd.schedules.isolating.needed_statements import NeededStatements

_MARK = ">"
_AROUND = 1
_MOST_LINES = 200


def needed_statements_as_text(found: NeededStatements) -> Iterator[str]:
    """The answer as text, line by line."""
    isolation = found.isolation
    left = f"{at_most(isolation)}{len(found.needed):,} of {counted(len(found.statements), 'statement')}"
    yield f"With {left} of the program, the failing schedule still fails and the passing one passes:"
    shown = 0
    for file, text in found.sources.items():
        lit = found.lines_of(file)
        if not lit:
            continue
        yield ""
        yield f"  {file}"
        lines = text.decode("utf-8", "replace").splitlines()
        near = {line + step for line in lit for step in range(-_AROUND, _AROUND + 1)} & set(range(1, len(lines) + 1))
        before = 0
        for number in sorted(near):
            if number > before + 1:
                yield "          ..."
            before = number
            shown += 1
            if shown <= _MOST_LINES:
                yield f"{_MARK if number in lit else ' '}   {number:>5}  {lines[number - 1]}".rstrip()
    if shown > _MOST_LINES:
        yield f"          ... and {counted(shown - _MOST_LINES, 'more line')}"
    yield ""
    yield f"tests        {tests_in_words(isolation.tests, isolation.requested, isolation.seconds)}"
    if isolation.proof.made:
        told = f"fresh runs of both schedules: {isolation.proof.failing.failed} of {isolation.proof.failing.runs}"
        yield f"proof        {told if isolation.proof.holds else f'FAILED: {told}'}"
    else:
        yield f"proof        none: {stopped_in_words(isolation)}; this is the best result so far"


def needed_statements_as_json(found: NeededStatements) -> dict[str, Any]:
    """The answer as an object."""
    return {
        "statements": len(found.statements),
        "needed": [{"file": one.file, "line": one.line, "end_line": one.end_line} for one in found.needed],
        "tests": found.isolation.tests,
        "verified": found.isolation.verified,
    }
