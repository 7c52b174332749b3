"""The result of reducing an input as text and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from replay_dd.circumstance import Goal
from replay_dd.experiment.ending import Ending
from replay_dd.experiment.result import Isolation
from replay_dd.input.folder import Packing
from replay_dd.input.fuzz import Fuzzed
from replay_dd.input.reduce import InputIsolation
from replay_dd.input.settings import Settings
from replay_dd.report.content import content_as_text
from replay_dd.report.isolation import at_most, counted, headline, isolation_as_json, search_as_text, stages_as_text
from replay_dd.report.plot import search_plot

_SHOWN_LINES = 20
_SHOWN_FILES = 10


def input_as_text(
    found: InputIsolation, name: str, files: Mapping[str, Path], packing: Packing | None = None
) -> Iterator[str]:
    """The answer as text, line by line.

    Args:
        found: the result.
        name: the name of the failing input.
        files: the paths of what was written, by what they contain.
        packing: how the files are packed, if the input is a folder.
    """
    isolation = found.isolation
    if isolation.circumstance.goal is Goal.ISOLATE:
        yield headline(isolation)
        deltas = list(isolation.difference)
        yield from (f"  {isolation.circumstance.words(delta)}" for delta in deltas[:_SHOWN_LINES])
        if len(deltas) > _SHOWN_LINES:
            yield f"  ... and {len(deltas) - _SHOWN_LINES} more"
    elif packing is not None:
        yield from _folder_as_text(found, name, packing)
    else:
        yield f"{name} fails with {len(found.failing):,} of its {counted(len(found.whole), 'byte')}:"
        yield from (f"  {line}" for line in content_as_text(found.failing, found.whole, _SHOWN_LINES))
    yield ""
    yield from search_as_text(isolation, was=found.said_at_first)
    yield from stages_as_text(isolation)
    yield from (f"{what:<12} {path}" for what, path in files.items())
    yield from (f"note         {note}" for note in found.all_notes)


def _folder_as_text(found: InputIsolation, name: str, packing: Packing) -> Iterator[str]:
    files, before = list(packing.files(found.failing)), list(packing.files(found.whole))
    left, bytes_before = packing.size(found.failing), packing.size(found.whole)
    yield (
        f"{name} fails with {len(files):,} of its {counted(len(before), 'file')}, "
        f"and {left:,} of their {counted(bytes_before, 'byte')}:"
    )
    whole = contents_of(packing, found.whole)
    for file in files[:_SHOWN_FILES]:
        yield f"  {file.path}{'' if file.size else ' (empty)'}"
        content = found.failing[slice(*file.body)]
        lines = content_as_text(content, whole.get(file.path, content), _SHOWN_LINES)
        yield from (f"    {line}" for line in lines)
    if len(files) > _SHOWN_FILES:
        yield f"  ... and {counted(len(files) - _SHOWN_FILES, 'more file')}"


def contents_of(packing: Packing, packed: bytes) -> dict[str, bytes]:
    """The files of a packed folder, by their paths."""
    return {file.path: packed[slice(*file.body)] for file in packing.files(packed)}


def input_as_json(found: InputIsolation, files: Mapping[str, Path], packing: Packing | None = None) -> dict[str, Any]:
    """The object that ``--json`` prints; arguments as for :func:`input_as_text`."""
    if packing is not None:
        left = {path: _text_or_none(body) for path, body in contents_of(packing, found.failing).items()}
        content: dict[str, Any] = {
            "bytes_before": packing.size(found.whole),
            "bytes": packing.size(found.failing),
            "files_before": sum(1 for _ in packing.files(found.whole)),
            "contents": left,
        }
    else:
        content = {
            "bytes_before": len(found.whole),
            "bytes": len(found.failing),
            "failing": _text_or_none(found.failing),
            "passing": None if found.passing is None else _text_or_none(found.passing),
        }
    return isolation_as_json(
        found.isolation,
        answer={
            **content,
            "levels": [
                {"unit": stage.unit, "before": stage.before, "left": stage.left, "tests": stage.tests}
                for stage in found.isolation.stages
            ],
        },
        files=dict(files),
        notes=found.all_notes,
    )


def no_failure_as_json(fuzzed: Fuzzed, seed: int) -> dict[str, Any]:
    """The object that ``fuzz --json`` prints if no input failed."""
    return {
        "format": "replay-dd fuzz",
        "version": 1,
        "failed": False,
        "inputs": fuzzed.tried,
        "seed": seed,
        "stopped_by": fuzzed.stopped_by,
    }


def plot_of(found: InputIsolation, name: str, packing: Packing | None = None) -> str:
    """The chart of the search, as SVG."""
    before, left = (len(one) if packing is None else packing.size(one) for one in (found.whole, found.failing))
    title = f"{name}: {before:,} to {left:,} bytes in {len(found.isolation.steps):,} tests"
    return search_plot(found.isolation.steps, before, title=title, unit="bytes")


def settings_as_text(isolation: Isolation[Ending]) -> Iterator[str]:
    """The options and variables that a failure needs, or that prevent it, line by line."""
    settings = isolation.circumstance
    assert isinstance(settings, Settings)
    if settings.prevents:
        verb = "prevents" if isolation.deltas_left == 1 else "together prevent"
        left = at_most(isolation) + counted(isolation.deltas_left, settings.delta)
        yield f"{left[0].upper()}{left[1:]} of {isolation.deltas_before:,} {verb} the failure:"
    else:
        yield headline(isolation)
    yield from (f"  {settings.words(delta)}" for delta in isolation.difference)
    yield ""
    yield from search_as_text(isolation)


def settings_as_json(isolation: Isolation[Ending]) -> dict[str, Any]:
    """The object that ``--json`` prints for options and variables."""
    settings = isolation.circumstance
    assert isinstance(settings, Settings)
    options, variables = settings.applied(isolation.failing.configuration)
    answer = {
        "prevents": settings.prevents,
        "options": [" ".join(option) for option in options],
        "variables": variables,
    }
    return isolation_as_json(isolation, answer=answer)


def _text_or_none(content: bytes) -> str | None:
    try:
        return content.decode()
    except UnicodeDecodeError:
        return None
