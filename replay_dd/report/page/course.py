"""The course of a search: how much was left after each test, on a logarithmic scale, as the papers on dd draw it.

Source: the figures of Zeller and Hildebrandt, "Simplifying and Isolating Failure-Inducing Input" (TSE 2002), and of
Choi and Zeller, "Isolating Failure-Inducing Thread Schedules" (ISSTA 2002).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from replay_dd.circumstance import Goal
from replay_dd.experiment.result import Isolation, TestRecord
from replay_dd.outcome import Outcome
from replay_dd.report.isolation import counted, search_as_text, why_unresolved
from replay_dd.report.page.markup import Markup, cut, joined, tag
from replay_dd.report.page.parts import facts, section

_WIDTH, _HEIGHT = 720, 300
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 16, 26, 40
_MOST_MARKS = 2_000
_MOST_LISTED = 200
_LONGEST_WORDS = 300
_SIGNS = {Outcome.PASS: "✓", Outcome.FAIL: "✗", Outcome.UNRESOLVED: "?"}
_NAMES = {Outcome.PASS: "passes", Outcome.FAIL: "fails", Outcome.UNRESOLVED: "unresolved"}


def course(isolation: Isolation[Any], *, unit: str = "", before: int = 0) -> Markup:
    """The section about the search: its chart, what it cost, and its tests.

    Args:
        isolation: the result.
        unit: what the sizes of configurations are counted in, if that is not deltas.
        before: the size of the failing configuration before the search, in the same unit.
    """
    steps = isolation.steps
    sizes = _sizes(isolation)
    unit = unit if unit and sizes is not None else f"{isolation.circumstance.delta}s"
    lines = dict(_named(search_as_text(isolation)))
    told = facts([(name, words) for name, words in lines.items() if name not in ("failure", "proof")])
    if not steps:
        return section("search", "The search", told, tag("p", "It took no tests besides the two ends."))
    values = sizes if sizes is not None else [step.deltas_left for step in steps]
    before = max([before or isolation.deltas_before, *values])
    caption = (
        "One mark per test, over how much was left after it: "
        if sizes is None
        else f"One mark per test, over how large its configuration was (in {unit}): "
    )
    legend = joined(
        (tag("span", f"{_SIGNS[outcome]} {name}", class_=name) for outcome, name in _NAMES.items()), between=", "
    )
    return section(
        "search",
        "The search",
        tag(
            "figure",
            _chart(steps, values, (before, None if sizes is not None else isolation.deltas_left), unit),
            tag("figcaption", caption, legend, ". The scale is logarithmic."),
            class_="chart",
        ),
        told,
        _list_of(steps),
    )


def _named(lines: Iterator[str]) -> Iterator[tuple[str, str]]:
    for line in lines:
        name, _, words = line.partition(" ")
        if name:
            yield name, words.strip()


def _sizes(isolation: Isolation[Any]) -> list[int] | None:
    """The sizes of the configurations; None for an isolated difference, of which only what is left tells."""
    if isolation.circumstance.goal is Goal.ISOLATE or not any(step.measure for step in isolation.steps):
        return None
    return [step.measure for step in isolation.steps]


def _chart(steps: Sequence[TestRecord], values: Sequence[int], ends: tuple[int, int | None], unit: str) -> Markup:
    """The chart.

    Args:
        steps: the tests.
        values: what is drawn of each.
        ends: what there was before them, and what is left after all; None if that is the smallest failing one.
        unit: what both are counted in.
    """
    tests = len(steps)
    before, final = ends
    decades = max(math.ceil(math.log10(max(before, 1))), 1)

    def x(number: int) -> str:
        return f"{_LEFT + number / tests * (_WIDTH - _LEFT - _RIGHT):.1f}"

    def y(value: int) -> str:
        return f"{_HEIGHT - _BOTTOM - math.log10(max(value, 1)) / decades * (_HEIGHT - _TOP - _BOTTOM):.1f}"

    parts: list[Markup] = [tag("text", unit, x=8, y=14)]
    for decade in range(decades + 1):
        height = y(10**decade)
        parts.append(tag("line", x1=_LEFT, x2=_WIDTH - _RIGHT, y1=height, y2=height, class_="grid"))
        parts.append(tag("text", f"{10**decade:,}", x=_LEFT - 8, y=float(height) + 4, class_="end"))
    for tick in _ticks(tests):
        parts.append(tag("text", f"{tick:,}", x=x(tick), y=_HEIGHT - _BOTTOM + 18, class_="middle"))
    parts.append(tag("text", "tests", x=_WIDTH - _RIGHT, y=_HEIGHT - 6, class_="end"))
    path, left = f"M{x(0)} {y(before)}", before
    for number, (step, value) in enumerate(zip(steps, values, strict=True), 1):
        if final is not None or (step.outcome is Outcome.FAIL and value < left):
            left = value
            path += f"H{x(number)}V{y(value)}"
    path += f"H{x(tests)}"
    if final is not None and final != left:  # the last answers were known from earlier tests
        left = final
        path += f"V{y(final)}"
    parts.append(tag("path", d=path, class_="left"))
    every = max(1, math.ceil(tests / _MOST_MARKS))
    for number in range(1, tests + 1, every):
        step, value = steps[number - 1], values[number - 1]
        name = _NAMES[step.outcome]
        title = f"test {number:,} {name}; {value:,} {unit}"
        parts.append(tag("g", tag("title", title), _sign(step.outcome, x(number), y(value)), class_=name))
    words = f"{counted(tests, 'test')}, from {before:,} to {left:,} {unit}"
    return tag("svg", parts, viewBox=f"0 0 {_WIDTH} {_HEIGHT}", role="img", aria_label=words)


def _sign(outcome: Outcome, x: str, y: str) -> Markup:
    """A mark that can be told from the others without its colour."""
    if outcome is Outcome.FAIL:
        return tag("path", d=f"M{x} {y}m-4-4l8 8m0-8l-8 8")
    return tag("circle", cx=x, cy=y, r=4)


def _ticks(most: int) -> list[int]:
    """Round numbers from 0 to the number of tests, at most eight."""
    step = next(step * 10**power for power in range(12) for step in (1, 2, 5) if most // (step * 10**power) < 8)
    return list(range(0, most + 1, step))


def _list_of(steps: Sequence[TestRecord]) -> Markup:
    """The tests one by one."""
    rows = [
        tag(
            "tr",
            tag("th", f"{step.number:,}", scope="row"),
            tag("td", _SIGNS[step.outcome], " ", _NAMES[step.outcome], class_=_NAMES[step.outcome]),
            tag("td", f"{step.size:,}"),
            tag("td", f"{step.deltas_left:,}"),
            tag("td", cut(why_unresolved(step) if step.outcome is Outcome.UNRESOLVED else step.words, _LONGEST_WORDS)),
        )
        for step in steps[:_MOST_LISTED]
    ]
    heads = ("test", "outcome", "applied", "left after it", "how it ended")
    more = len(steps) - len(rows)
    return tag(
        "details",
        tag("summary", "The tests one by one"),
        tag(
            "div",
            tag("table", tag("thead", tag("tr", (tag("th", head, scope="col") for head in heads))), tag("tbody", rows)),
            class_="scroll",
        ),
        tag("p", f"and {more:,} more") if more else None,
    )
