"""Several failures in one input, each with its own reduced input, as text and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from replay_dd.input.several import SeveralFailures
from replay_dd.input.target import Target
from replay_dd.report.input import input_as_json, input_as_text
from replay_dd.report.isolation import counted


def several_as_text(
    several: SeveralFailures,
    name: str,
    files: Sequence[Mapping[str, Path]],
    more: Mapping[str, Path],
    target: Target,
) -> Iterator[str]:
    """All answers, line by line.

    Args:
        several: the answers.
        name: the name of the input.
        files: what was written for each of them.
        more: what was written for all of them.
        target: runs the program.
    """
    yield f"{name} shows {counted(len(several.found), 'failure')}{_distinct_in_words(several)}."
    for number, (found, paths) in enumerate(zip(several.found, files, strict=True), 1):
        yield ""
        yield f"Failure {number}"
        yield from input_as_text(found, name, paths, target.packing)
    yield ""
    yield f"{'without them':<12} {_rest_in_words(several)}"
    yield from (f"{what:<12} {path}" for what, path in more.items())


def several_as_json(several: SeveralFailures, files: Sequence[Mapping[str, Path]], target: Target) -> dict[str, Any]:
    """The object that ``--json`` prints: that of the first failure, with all others in its answer."""
    first, *others = (
        input_as_json(found, paths, target.packing) for found, paths in zip(several.found, files, strict=True)
    )
    first["answer"]["others"] = others
    first["answer"]["rest"] = None if several.rest is None else several.rest.words
    return first


def _distinct_in_words(several: SeveralFailures) -> str:
    distinct = several.distinct
    return "" if distinct == len(several.found) else f", {distinct} of them different"


def _rest_in_words(several: SeveralFailures) -> str:
    if several.rest is not None:
        return several.rest.words
    if not several.found[-1].isolation.complete:
        return "not known: the search was stopped"
    if several.found[-1].is_rewritten:
        return "not known: the input was written in another way, in which all of it belongs to the last failure"
    return "not known: each way to leave them out makes the program fail in another way"
