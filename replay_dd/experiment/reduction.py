"""The result of a scripting function, and its representations.

Rules of this module:

* ``repr`` is one line, whatever the size of the search. The HTML for notebooks is self-contained, runs nothing and
  escapes everything that comes from the caller.
"""

from __future__ import annotations

import reprlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from replay_dd.experiment.search import SearchResult
from replay_dd.trust.printable import html_text

T = TypeVar("T")
D = TypeVar("D")

_SHOWN_STEPS = 200
_SHOWN_CHARACTERS = 2000
_STOPPED_BY = {"tests": "the limit on tests", "time": "the time limit", "interrupt": "Ctrl-C"}


@dataclass(frozen=True, slots=True, repr=False)
class Reduction(Generic[T, D]):
    """The result of a scripting function, in terms of the caller's own items.

    Attributes:
        passing: the largest passing case found; for functions that only simplify, the empty one.
        failing: the smallest failing case found.
        difference: the elements that are in ``failing`` and not in ``passing``; for a difference of two cases
            (:func:`~replay_dd.dd.changes.deltas_between`), a tuple of changes.
        search: the same result in positions, with counts and statistics. They do not include the two initial tests of
            the end points.
    """

    passing: T
    failing: T
    difference: D
    search: SearchResult

    @property
    def complete(self) -> bool:
        """Whether the search ran to completion, so that its algorithm's guarantees hold."""
        return self.search.complete

    @property
    def requested(self) -> int:
        """How many configurations the algorithm asked for."""
        return self.search.requested

    @property
    def executed(self) -> int:
        """How many distinct tests were run, not counting the end points."""
        return self.search.executed

    def __repr__(self) -> str:
        return (
            f"Reduction(difference={_short(self.difference)}, failing={_short(self.failing)}, "
            f"passing={_short(self.passing)}, executed={self.executed}, complete={self.complete})"
        )

    def _repr_html_(self) -> str:
        """The HTML for a notebook: the result, its cost, and the tests in a collapsed section."""
        return "\n".join(self._html())

    def _html(self) -> Iterator[str]:
        stopped_by = self.search.stopped_by
        left = self.search.difference.count
        yield "<table>"
        for name, value in (("difference", self.difference), ("failing", self.failing), ("passing", self.passing)):
            yield (
                f'<tr><th style="text-align:left;vertical-align:top">{name}</th><td style="text-align:left">'
                f'<pre style="white-space:pre-wrap;margin:0">{html_text(_cut(repr(value)))}</pre></td></tr>'
            )
        yield "</table>"
        yield (
            f"<p>{_counted(left, 'delta')} left after {_counted(self.executed, 'test')}"
            f"{'' if stopped_by is None else f'; stopped early by {_STOPPED_BY[stopped_by]}'}.</p>"
        )
        steps = self.search.statistics
        if not steps:
            return
        yield f"<details><summary>{_counted(len(steps), 'question')} of the algorithm</summary><table>"
        yield "<tr><th>#</th><th>deltas</th><th>outcome</th><th>answered by</th><th>left</th></tr>"
        for step in steps[:_SHOWN_STEPS]:
            cells = (step.number, step.size, step.outcome.value, step.answered_by, step.deltas_left)
            yield f"<tr>{''.join(f'<td>{html_text(str(cell))}</td>' for cell in cells)}</tr>"
        yield "</table>"
        if len(steps) > _SHOWN_STEPS:
            yield f"<p>{len(steps) - _SHOWN_STEPS} more are in <code>search.statistics</code>.</p>"
        yield "</details>"


def _short(value: Any) -> str:
    shortened = reprlib.Repr()
    shortened.maxstring = shortened.maxother = 60
    return " ".join(shortened.repr(value).split())


def _cut(text: str) -> str:
    if len(text) <= _SHOWN_CHARACTERS:
        return text
    half = _SHOWN_CHARACTERS // 2
    return f"{text[:half]} ... {text[-half:]}"


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
