"""What the tests of the algorithms share: the published logs, oracles, and a loop that writes down what was asked."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

from replay_dd.dd import EMPTY, Algorithm, IntervalSet, Search
from replay_dd.outcome import Outcome

P, F, U = Outcome.PASS, Outcome.FAIL, Outcome.UNRESOLVED
Oracle = Callable[[IntervalSet], Outcome]

SELECT = '<SELECT NAME="priority" MULTIPLE SIZE=7>'
BRACKETS = 'V"/+!aF-(V4EOz*+s/Q,7)2@0_'


@cache
def published() -> dict[str, dict[str, Any]]:
    text = (Path(__file__).parent / "data" / "published_logs.json").read_text(encoding="utf-8")
    cases: dict[str, dict[str, Any]] = json.loads(text)["cases"]
    return cases


def parse(numbers: str) -> IntervalSet:
    """A set written as numbers and ranges: ``1-3 7``."""
    ends = [(part.split("-") * 2)[:2] if "-" in part else [part, part] for part in numbers.split()]
    return IntervalSet.from_intervals((int(first), int(last) + 1) for first, last in ends)


def write(numbers: IntervalSet) -> str:
    return " ".join(str(start) if stop == start + 1 else f"{start}-{stop - 1}" for start, stop in numbers.intervals)


def row(configuration: IntervalSet, outcome: Outcome, *, repeated: bool = False) -> str:
    return f"{write(configuration)} {outcome.symbol}{'*' if repeated else ''}".strip()


def run(search: Search, oracle: Oracle) -> Search:
    while (configuration := search.ask()) is not None:
        search.tell(configuration, oracle(configuration))
    return search


def requested_rows(search: Search) -> list[str]:
    """All that the algorithm asked; a star marks what it had asked before."""
    seen: set[IntervalSet] = set()
    rows = []
    for step in search.statistics:
        rows.append(row(step.configuration, step.outcome, repeated=step.configuration in seen))
        seen.add(step.configuration)
    return rows


def executed_rows(search: Search) -> list[str]:
    return [row(step.configuration, step.outcome) for step in search.statistics if step.answered_by == "test"]


def with_ends(algorithm: Algorithm, **options: Any) -> Search:
    """A search that knows the outcomes of its end points."""
    return Search(algorithm, known={algorithm.c_pass: P, algorithm.c_fail: F}, **options)


def on_text(text: str, judge: Callable[[str], Outcome]) -> Oracle:
    return lambda configuration: judge("".join(text[position] for position in configuration))


def select_fails(text: str) -> Outcome:
    return F if re.match("<SELECT.*>", text) else P


def brackets_fail(text: str) -> Outcome:
    opened = text.find("(")
    return F if 0 <= opened < text.rfind(")") else P


def parts_in_order(orders: dict[str, Sequence[int]]) -> Callable[[IntervalSet, int], list[IntervalSet]]:
    """Cut as the Debugging Book does, but with elements in the given orders instead of sorted ones."""

    def split(deltas: IntervalSet, n: int) -> list[IntervalSet]:
        elements = list(orders.get(write(deltas), list(deltas)))
        size, longer = divmod(len(elements), n)
        starts = [part * size + min(part, longer) for part in range(n + 1)]
        return [IntervalSet.of(elements[start:stop]) for start, stop in pairwise(starts)]

    return split


def is_1_minimal(minimal: IntervalSet, oracle: Oracle, base: IntervalSet = EMPTY) -> bool:
    return all(oracle(base | (minimal - single)) is not F for single in singles(minimal))


def singles(elements: Iterable[int]) -> list[IntervalSet]:
    return [IntervalSet.range(element, element + 1) for element in elements]
