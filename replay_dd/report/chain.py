"""The chain from cause to effect as text and as JSON."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import Any

from replay_dd.report.links import labelled
from replay_dd.report.source import source_line
from replay_dd.schedules.model import Program
from replay_dd.schedules.story.chain import Chain, ChainStep
from replay_dd.schedules.story.words import short_file

_WIDTH = 80


def chain_as_text(chain: Chain, program: Program) -> Iterator[str]:
    """A line of the source for each step, and below it its values in both runs."""
    if not chain.steps:
        yield from labelled("chain", f"none: {chain.lost}") if chain.lost else ()
        return
    yield from labelled("chain", "how this leads to the failing line (in brackets: the passing run)")
    if chain.lost:
        yield f"    (not followed farther back: {chain.lost})"
    wide = max(len(_at(step)) for step in chain.steps)
    for number, step in enumerate(chain.steps):
        before = f"    {step.thread:<5} {_at(step):<{wide}}  "
        yield f"{before}{source_line(step.place, program)}"
        indent = " " * (len(before) + 4)
        words = step.words
        if number == len(chain.steps) - 1:
            words += f": {ending_in_words(chain)}" if words else ending_in_words(chain)
        yield from textwrap.wrap(
            words + _passing(step), _WIDTH, initial_indent=indent, subsequent_indent=indent, break_long_words=False
        )


def ending_in_words(chain: Chain) -> str:
    """How the last line fails."""
    return chain.ending if chain.ending.startswith("exit status") else f"raises {chain.ending}"


def _passing(step: ChainStep) -> str:
    if not step.reached:
        return "   [passing run: does not come here]"
    return f"   [passing run: {step.passing}]" if step.passing else ""


def _at(step: ChainStep) -> str:
    return f"{short_file(step.place.file)}:{step.place.line}"


def chain_as_json(chain: Chain, program: Program) -> dict[str, Any] | None:
    """The member ``chain`` of the story; None if there is none."""
    if not chain.steps and not chain.lost:
        return None
    return {
        "steps": [
            {
                "thread": step.thread,
                "file": step.place.file,
                "line": step.place.line,
                "function": step.place.function,
                "source": source_line(step.place, program),
                "words": step.words,
                "passing": step.passing or None,
                "passing_comes_here": step.reached,
            }
            for step in chain.steps
        ],
        "ending": chain.ending,
        "whole": chain.whole,
        "lost": chain.lost or None,
    }
