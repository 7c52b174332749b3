"""User flows and their minimization as text and as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from replay_dd.report.isolation import isolation_as_json, needs_in_words, search_as_text
from replay_dd.web.describe import steps_in_words
from replay_dd.web.flow import Flow

if TYPE_CHECKING:  # it needs Playwright, which only playing flows requires
    from replay_dd.web.minimize import FlowIsolation

_FORMAT = "replay-dd flow summary"
_VERSION = 1
_MOST_DETAILS = 8


def flow_as_text(flow: Flow) -> Iterator[str]:
    """The steps of a flow, one line each."""
    yield f"flow         {flow.title}"
    yield f"steps        {len(flow.steps)}"
    yield ""
    for number, words in enumerate(steps_in_words(flow), 1):
        yield f"{number:>4}  {words}"


def flow_as_json(flow: Flow) -> dict[str, Any]:
    """The object that ``show --json`` prints: the steps of a flow in words."""
    return {
        "format": _FORMAT,
        "version": _VERSION,
        "title": flow.title,
        "timeout_ms": flow.timeout_ms,
        "steps": [
            {"type": step.type, "text": words} for step, words in zip(flow.steps, steps_in_words(flow), strict=True)
        ],
    }


def needed_steps(found: FlowIsolation) -> Iterator[str]:
    """How many steps the failure needs, and which, line by line; these are indented."""
    yield from needs_in_words(found.isolation, len(found.kept), len(found.whole.steps), "step")
    words = steps_in_words(found.whole)
    for number in found.kept:
        yield f"  {number + 1:>4}  {words[number]}"


def minimum_as_text(found: FlowIsolation, replay: str, strip: Path | None) -> Iterator[str]:
    """The answer as text, line by line.

    Args:
        found: the result.
        replay: the command that plays the minimal flow.
        strip: the path of its film strip.
    """
    yield from needed_steps(found)
    yield ""
    yield from search_as_text(
        found.isolation, [line.strip() for line in found.failure.details.splitlines()[1:_MOST_DETAILS]]
    )
    if not found.isolation.complete:
        yield "The search was stopped early: fewer steps may be enough."
    yield from (f"note         {note}" for note in found.notes)
    yield f"fails        {replay}"
    if strip is not None:
        yield f"film strip   {strip}"


def minimum_as_json(found: FlowIsolation, flow: Path, strip: Path | None) -> dict[str, Any]:
    """The object that ``--json`` prints.

    Args:
        found: the result.
        flow: the path of the minimal flow.
        strip: the path of its film strip.
    """
    words = steps_in_words(found.whole)
    return isolation_as_json(
        found.isolation,
        answer={
            "failure": {
                "kind": found.failure.kind,
                "text": found.failure.text,
                "place": found.failure.place,
                "details": found.failure.details,
            },
            "steps_before": len(found.whole.steps),
            "steps": [{"number": number + 1, "words": words[number]} for number in found.kept],
        },
        files={"failing": flow, "film_strip": strip},
        notes=found.notes,
    )
