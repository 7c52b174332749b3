"""The result of reducing a call as text, as JSON, and as a test."""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from replay_dd.call.reduce import CallIsolation
from replay_dd.call.source import source_of
from replay_dd.report.isolation import at_most, counted, isolation_as_json, search_as_text, stages_as_text

_SHOWN_CHARACTERS = 2000
_LINE = 118
_LONGEST_NAME = 60


def call_as_text(found: CallIsolation, files: Mapping[str, Path]) -> Iterator[str]:
    """The answer as text, line by line.

    Args:
        found: the result.
        files: the paths of what was written, by what they contain.
    """
    isolation = found.isolation
    left = at_most(isolation) + f"{found.left:,}"
    yield f"{found.function} fails with {left} of the {counted(found.before, 'part')} of its arguments:"
    call = found.call
    yield from (f"  {line}" for line in textwrap.wrap(call[:_SHOWN_CHARACTERS], _LINE, drop_whitespace=False))
    if len(call) > _SHOWN_CHARACTERS:
        yield f"  ... and {counted(len(call) - _SHOWN_CHARACTERS, 'more character')}"
    yield ""
    yield from search_as_text(isolation)
    yield from stages_as_text(isolation)
    yield from (f"{what:<12} {path}" for what, path in files.items())


def call_as_json(found: CallIsolation, files: Mapping[str, Path]) -> dict[str, Any]:
    """The object that ``--json`` prints; arguments as for :func:`call_as_text`."""
    return isolation_as_json(
        found.isolation,
        answer={
            "function": found.function,
            "call": found.call,
            "positional": _json_or_none(list(found.positional)),
            "keywords": _json_or_none(dict(found.keywords)),
            "parts_before": found.before,
            "parts": found.left,
            "levels": [
                {"unit": stage.unit, "before": stage.before, "left": stage.left, "tests": stage.tests}
                for stage in found.isolation.stages
            ],
        },
        files=dict(files),
    )


def call_test(found: CallIsolation) -> str:
    """A pytest test that fails as long as the call does."""
    module, _, path = found.function.partition(":")
    name = re.sub(r"\W+", "_", f"{path}_{found.isolation.failure.words.partition(':')[0]}").strip("_").lower()
    arguments = [f"        {source_of(value)},\n" for value in found.positional]
    arguments += [f"        {key}={source_of(value)},\n" for key, value in found.keywords.items()]
    failure = found.isolation.failure.words.replace("\\", "\\\\").replace('"""', "'''")
    return (
        f'"""Written by `replay-dd call`: a call that failed, with as little in its arguments as that takes."""\n\n'
        f"import {module}\n\n\n"
        f"def test_{name[:_LONGEST_NAME]}() -> None:\n"
        f'    """It must not end with {failure.rstrip()} any more."""\n'
        f"    {module}.{path}(\n{''.join(arguments)}    )\n"
    )


def _json_or_none(value: Any) -> Any:
    """The value, if JSON can hold it and gives it back."""
    try:
        return value if json.loads(json.dumps(value, allow_nan=False)) == value else None
    except (TypeError, ValueError, RecursionError):
        return None
