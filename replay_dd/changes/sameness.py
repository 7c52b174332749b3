"""Whether two versions fail in the same way.

Rules of this module:

* Changes move lines, so their numbers never count; nor do addresses.
* What else a crash report says counts as far as the new version says the same each time: all of it, at best. A test
  that finds 1 where the new version has 2 fails in another way, and so does one that misses another name.
* What a program prints without a crash report never counts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace

from replay_dd.experiment.ending import Ending

Sameness = Callable[[Ending], Hashable]
"""Gives equal values for the same failure."""

_LINE_NUMBER = re.compile(r":\d+(?::\d+)?\b|(?<=\bline )\d+\b")
_ADDRESS = re.compile(r"\b0x[0-9a-fA-F]+\b")


def without_line_numbers(ending: Ending) -> Ending:
    """The same ending with a signature that changes elsewhere in a file do not alter."""
    return replace(ending, signature=_LINE_NUMBER.sub("", ending.signature))


def same_words(run: Ending) -> Hashable:
    """The same report, with all that it says, also where its words are cut."""
    if not run.is_report:
        return run.signature
    return run.signature, *(_ADDRESS.sub("", _LINE_NUMBER.sub("", text)) for text in (run.words, run.details[0]))


def same_message(run: Ending) -> Hashable:
    """The same report, whatever numbers and quoted text its message has."""
    return (run.signature, run.message) if run.is_report else run.signature


def same_kind(run: Ending) -> Hashable:
    """The same kind of failure, at the same place."""
    return run.signature


def strictest(failures: Sequence[Ending]) -> Sameness:
    """The strictest one by which some failures of one version are the same."""
    candidates: tuple[Sameness, ...] = (same_words, same_message)
    return next((same for same in candidates if len({same(run) for run in failures}) == 1), same_kind)
