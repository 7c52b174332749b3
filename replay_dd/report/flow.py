"""User flows and their minimisation, for people and for machines."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from replay_dd.web.flow import PROOF_RUNS, Flow
from replay_dd.web.words import describe

if TYPE_CHECKING:  # it needs Playwright, which only those have who play flows
    from replay_dd.web.minimize import FlowMinimum

FORMAT = "replay-dd flow minimum"
VERSION = 1
_MOST_DETAILS = 8


def flow_as_text(flow: Flow) -> Iterator[str]:
    """The steps of a flow, one line each."""
    yield f"flow         {flow.title}"
    yield f"steps        {len(flow.steps)}"
    yield ""
    for number, step in enumerate(flow.steps, 1):
        yield f"{number:>4}  {describe(step)}"


def minimum_as_text(found: FlowMinimum, flow: Path, strip: Path | None) -> Iterator[str]:
    """The answer in words, line by line.

    Args:
        found: the result.
        flow: where the minimal flow was written.
        strip: where its film strip was written.
    """
    yield f"{len(found.kept)} of {len(found.whole.steps)} steps are enough:"
    for number, step in zip(found.kept, found.flow.steps, strict=True):
        yield f"{number + 1:>6}  {describe(step)}"
    yield ""
    yield f"failure      {found.failure.summary}"
    for line in found.failure.details.splitlines()[1:_MOST_DETAILS]:
        yield f"             {line.strip()}"
    yield f"tests        {found.tests} played, {found.seconds:.1f} s"
    yield f"proof        {_proof(found)}"
    yield f"flow         {flow}"
    if strip is not None:
        yield f"film strip   {strip}"


def minimum_as_json(found: FlowMinimum, flow: Path, strip: Path | None) -> dict[str, Any]:
    """The object that ``--json`` prints; arguments as for :func:`minimum_as_text`."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "failure": {
            "kind": found.failure.kind,
            "text": found.failure.text,
            "place": found.failure.place,
            "details": found.failure.details,
        },
        "steps_before": len(found.whole.steps),
        "steps_left": len(found.kept),
        "kept": [number + 1 for number in found.kept],
        "steps": [describe(step) for step in found.flow.steps],
        "tests": found.tests,
        "seconds": round(found.seconds, 3),
        "complete": found.complete,
        "proved": found.proved,
        "flow": str(flow),
        "film_strip": None if strip is None else str(strip),
    }


def _proof(found: FlowMinimum) -> str:
    if found.proved == PROOF_RUNS:
        ending = "" if found.complete else "; the search was stopped, this is the best result so far"
        return f"played afresh {PROOF_RUNS} times, with the same failure each time{ending}"
    return f"WEAK: played afresh {PROOF_RUNS} times, the same failure {found.proved} times"
