"""The result of reducing a program as text and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from replay_dd.code.reduce import CodeReduction
from replay_dd.code.source import Program
from replay_dd.input.space import lines_shown
from replay_dd.report.isolation import counted, isolation_as_json, search_as_text
from replay_dd.schedules.story.words import listed

_SHOWN_LINES = 40
_SHOWN_NAMES = 3


def code_as_text(found: CodeReduction, names: Sequence[str], files: Mapping[str, Path]) -> Iterator[str]:
    """The answer as text, line by line.

    Args:
        found: the result.
        names: what the user called the parts of the program.
        files: the paths of what was written, by what they contain.
    """
    isolation = found.isolation
    verb, whose = ("fails", "its") if len(names) == 1 else ("fail", "their")
    lines = f"{_lines(found.failing):,} of {whose} {counted(_lines(found.whole), 'line')}"
    yield f"{_together(names)} {verb} with {lines}:"
    for file in found.failing.files:
        if len(found.whole.files) > 1:
            yield f"  {file.name}:"
        shown = lines_shown(file.content, _SHOWN_LINES)
        yield from (f"  {line}" for line in shown)
        more = len(file.content.splitlines()) - len(shown)
        if more > 0:
            yield f"  ... and {counted(more, 'more line')}"
    yield ""
    yield from search_as_text(isolation)
    if isolation.complete:
        yield "minimal      1-minimal: it parses, and no single edit of those that were tried leaves the failure there"
    yield f"edits        {', '.join(counted(made, unit) for unit, made in _edits(found).items()) or 'none'}"
    yield from (f"{what:<12} {path}" for what, path in files.items())
    yield from (f"note         {note}" for note in found.all_notes)


def _together(names: Sequence[str]) -> str:
    """Names as one phrase; of many, the first ones."""
    named = [*names[:_SHOWN_NAMES], *([f"{len(names) - _SHOWN_NAMES} more"] if len(names) > _SHOWN_NAMES else [])]
    return listed(named)


def _edits(found: CodeReduction) -> dict[str, int]:
    """How many edits of each unit were applied."""
    applied: dict[str, int] = {}
    for stage in found.isolation.stages:
        if stage.before > stage.left:
            applied[stage.unit] = applied.get(stage.unit, 0) + stage.before - stage.left
    return applied


def _lines(program: Program) -> int:
    return sum(len(file.content.splitlines()) for file in program.files if file.is_python)


def code_as_json(found: CodeReduction, files: Mapping[str, Path]) -> dict[str, Any]:
    """The object that ``--json`` prints; arguments as for :func:`code_as_text`."""
    return isolation_as_json(
        found.isolation,
        answer={
            "lines_before": _lines(found.whole),
            "lines": _lines(found.failing),
            "bytes_before": found.whole.size,
            "bytes": found.failing.size,
            "files": {file.name: file.content.decode() for file in found.failing.files if file.is_python},
            "edits": _edits(found),
            "minimal": found.isolation.complete,
        },
        files=dict(files),
        notes=found.all_notes,
    )
