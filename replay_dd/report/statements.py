"""The statements that an outcome needs as text and as JSON: the source, with what mattered marked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

from replay_dd.report.isolation import at_most, counted, isolation_as_json, stopped_in_words, tests_in_words
from replay_dd.trace.listing import File, Line, excerpt
from replay_dd.trace.slice import Slice

NEEDED = ">"
_MOST_FILES = 12
_MOST_EVENTS = 10_000
_SHOWN_TROUBLE = 3


def headline(found: Slice, name: str) -> str:
    """What was found, in one line."""
    left = f"{at_most(found.isolation)}{found.kept.count:,} of {counted(len(found.trace), 'executed statement')}"
    return f"{name}: {found.sought.words} needs {left}"


def statements_as_text(found: Slice, name: str, files: Iterable[File], paths: Mapping[str, Path]) -> Iterator[str]:
    """The answer as text, line by line.

    Args:
        found: the result.
        name: how the program is called.
        files: its sources.
        paths: the paths of what was written, by what they contain.
    """
    yield f"{headline(found, name)}:"
    yield ""
    shown = [file for file in files if file.needed]
    for file in shown[:_MOST_FILES]:
        yield f"  {file.name}"
        yield from (f"{line_as_text(line)}" for line in excerpt(file))
        yield ""
    if len(shown) > _MOST_FILES:
        yield f"  ... and {counted(len(shown) - _MOST_FILES, 'more file')}"
        yield ""
    yield from summary_as_text(found)
    yield from (f"{what:<12} {path}" for what, path in paths.items())
    yield from (f"note         {note}" for note in found.notes)


def line_as_text(line: Line) -> str:
    """A line of the source: a mark if it mattered, how many of its executions did, its number, its text."""
    if not line.number:
        return f"             {line.text}"
    counts = f"{line.needed:,}/{line.ran:,}" if line.ran else ""
    return f"{NEEDED if line.lit else ' '} {counts:>9} {line.number:>5}  {line.text}".rstrip()


def summary_as_text(found: Slice) -> Iterator[str]:
    """The outcome, what it needs, the cost of the search and the certainty of its answer, line by line."""
    isolation, proof = found.isolation, found.isolation.proof
    yield f"outcome      {found.sought.words}"
    yield (
        f"needs        {found.kept.count:,} of {counted(len(found.trace), 'executed statement')}, of "
        f"{len(found.needed):,} of {counted(len(found.trace.counts), 'statement')}"
    )
    yield f"tests        {tests_in_words(isolation.tests, isolation.requested, isolation.seconds)}"
    troubles = [f"{tests} {judgement.words}" for judgement, tests in isolation.unresolved[:_SHOWN_TROUBLE]]
    if troubles:
        total = sum(tests for _, tests in isolation.unresolved)
        more = "; ..." if len(isolation.unresolved) > _SHOWN_TROUBLE else ""
        yield f"unresolved   {total} of these tests ended differently: {'; '.join(troubles)}{more}"
    if not proof.made:
        yield f"proof        none: {stopped_in_words(isolation)}; this is the best result so far"
    else:
        told = f"fresh runs: {proof.failing.failed} of {proof.failing.runs} have this outcome"
        yield f"proof        {told if proof.holds else f'FAILED: {told}'}"


def statements_as_json(found: Slice, files: Iterable[File], paths: Mapping[str, Path]) -> dict[str, Any]:
    """The object that ``--json`` prints; arguments as for :func:`statements_as_text`."""
    trace = found.trace
    return isolation_as_json(
        found.isolation,
        answer={
            "outcome": {"kind": found.sought.name, "words": found.sought.words},
            "executed": len(trace),
            "needed": found.kept.count,
            "lines": [
                {"file": file.name, "line": line.number, "ran": line.ran, "needed": line.needed}
                for file in files
                for line in file.lines
                if line.ran
            ],
            "slice": [
                {"file": place.file, "line": place.line, "time": trace.occurrences[event]}
                for event in islice(found.kept, _MOST_EVENTS)
                for place in [trace.statement(event)]
            ],
        },
        files=dict(paths),
        notes=found.notes,
    )
