"""The result of isolating a code change as text and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from replay_dd.changes.history import Origin
from replay_dd.changes.isolate import ChangesIsolation, Narrowed
from replay_dd.changes.patch import patch_between
from replay_dd.dd import EMPTY
from replay_dd.report.isolation import counted, headline, isolation_as_json, search_as_text

_SHOWN_LINES = 30


def changes_as_text(
    found: ChangesIsolation, origins: tuple[Origin, ...], narrowed: Narrowed | None, files: Mapping[str, Path]
) -> Iterator[str]:
    """The answer as text, line by line.

    Args:
        found: the result.
        origins: the commits that made the change.
        narrowed: the search of the commits, if there was one.
        files: the paths of what was written, by what they contain.
    """
    yield headline(found.isolation)
    yield ""
    lines = patch_between(found.difference, found.passing, found.failing).decode("utf-8", "replace").splitlines()
    yield from (f"  {line}" for line in lines[:_SHOWN_LINES])
    if len(lines) > _SHOWN_LINES:
        yield f"  ... and {counted(len(lines) - _SHOWN_LINES, 'more line')}"
    yield ""
    if narrowed is not None:
        yield f"history      {counted(narrowed.commits, 'commit')}, {counted(narrowed.tests, 'test')}"
    for origin in origins:
        yield f"commit       {origin.commit[:12]} {origin.subject} ({origin.author}, {origin.date})"
    if found.needed is not None:
        others = (found.needed - found.guilty).count
        if others:
            yield f"needs        {counted(others, 'other changed line')} to make the old version fail"
        else:
            yield "needs        nothing else: applied alone, it makes the old version fail"
    yield from search_as_text(found.isolation)
    yield from (f"{what:<12} {path}" for what, path in files.items())


def changes_as_json(
    found: ChangesIsolation, origins: tuple[Origin, ...], narrowed: Narrowed | None, files: Mapping[str, Path]
) -> dict[str, Any]:
    """The object that ``--json`` prints; arguments as for :func:`changes_as_text`."""
    difference = found.difference
    return isolation_as_json(
        found.isolation,
        answer={
            "files": sorted({difference.files[difference.file_of(delta)].path for delta in found.guilty}),
            "guilty": patch_between(difference, found.passing, found.failing).decode("utf-8", "replace"),
            "patch": None
            if found.needed is None
            else patch_between(difference, EMPTY, found.needed).decode("utf-8", "replace"),
            "changed_lines": difference.all.count,
            "history": None if narrowed is None else {"commits": narrowed.commits, "tests": narrowed.tests},
            "commits": [
                {"commit": one.commit, "author": one.author, "date": one.date, "subject": one.subject}
                for one in origins
            ],
        },
        files=dict(files),
    )
