"""A chart of a search: what each test ran, and what was left after it, as SVG (as figures 3 to 6 of ISSTA 2000).

Rules of this module:

* The vertical axis is logarithmic: a search that halves what is left shows as a straight line.
* It holds no fonts, scripts or references, so that it can stand in any page.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from html import escape

from replay_dd.experiment.result import TestRecord
from replay_dd.outcome import Outcome

_WIDTH, _HEIGHT = 720, 400
_LEFT, _RIGHT, _TOP, _BOTTOM = 70, 16, 36, 46
_COLORS = {Outcome.FAIL: "#c0392b", Outcome.PASS: "#2e7d4f", Outcome.UNRESOLVED: "#b0b0b0"}
_NAMES = {Outcome.FAIL: "fails", Outcome.PASS: "passes", Outcome.UNRESOLVED: "unresolved"}
_MOST_MARKS = 20_000


def search_plot(steps: Sequence[TestRecord], before: int, *, title: str, unit: str) -> str:
    """Draw a search.

    Args:
        steps: its tests, in order.
        before: how large the failing end was before it.
        title: what stands above the chart.
        unit: what sizes are counted in, in the plural.
    """
    return "\n".join(_lines(steps, before, title, unit)) + "\n"


def _lines(steps: Sequence[TestRecord], before: int, title: str, unit: str) -> Iterator[str]:
    tests = max(len(steps), 1)
    largest = max([before, 1, *(step.measure for step in steps)])
    decades = max(math.ceil(math.log10(largest)), 1)

    def x_px(number: float) -> float:
        return _LEFT + number / tests * (_WIDTH - _LEFT - _RIGHT)

    def y_px(size: int) -> float:
        # Nothing at all has no logarithm: it lies on the axis with 1.
        return _HEIGHT - _BOTTOM - math.log10(max(size, 1)) / decades * (_HEIGHT - _TOP - _BOTTOM)

    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" width="{_WIDTH}" height="{_HEIGHT}" '
        'font-family="sans-serif" font-size="12">'
    )
    yield f"<title>{escape(title)}</title>"
    yield f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="white"/>'
    yield f'<text x="{_LEFT}" y="20" font-size="14">{escape(title)}</text>'
    for decade in range(decades + 1):
        y = y_px(10**decade)
        yield f'<line x1="{_LEFT}" y1="{y:.1f}" x2="{_WIDTH - _RIGHT}" y2="{y:.1f}" stroke="#e4e4e4"/>'
        yield f'<text x="{_LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{10**decade:,}</text>'
    for tick in _ticks(tests):
        yield f'<text x="{x_px(tick):.1f}" y="{_HEIGHT - _BOTTOM + 18}" text-anchor="middle">{tick:,}</text>'
    yield f'<text x="{_WIDTH - _RIGHT}" y="{_HEIGHT - 10}" text-anchor="end">tests</text>'
    yield f'<text x="8" y="{_TOP - 6}">{escape(unit)}</text>'
    for outcome in (Outcome.UNRESOLVED, Outcome.PASS, Outcome.FAIL):
        marks = [step for step in steps if step.outcome is outcome]
        # Each outcome is one path of dots, which is small and fast however many tests there are.
        dots = "".join(f"M{x_px(step.number):.1f} {y_px(step.measure):.1f}h0" for step in marks[:_MOST_MARKS])
        if dots:
            yield f'<path d="{dots}" stroke="{_COLORS[outcome]}" stroke-width="4" stroke-linecap="round" fill="none"/>'
    yield f'<path d="{_left_after(steps, before, x_px, y_px)}" stroke="black" fill="none"/>'
    for number, (outcome, name) in enumerate(_NAMES.items()):
        x = _LEFT + number * 100
        yield f'<circle cx="{x}" cy="{_HEIGHT - 14}" r="4" fill="{_COLORS[outcome]}"/>'
        yield f'<text x="{x + 8}" y="{_HEIGHT - 10}">{name}</text>'
    yield "</svg>"


def _left_after(
    steps: Sequence[TestRecord], before: int, x_px: Callable[[float], float], y_px: Callable[[int], float]
) -> str:
    """The smallest failing configuration after each test, as a staircase."""
    path, left = f"M{x_px(0):.1f} {y_px(before):.1f}", before
    for step in steps:
        if step.outcome is Outcome.FAIL and step.measure < left:
            left = step.measure
            path += f"H{x_px(step.number):.1f}V{y_px(left):.1f}"
    return path + f"H{x_px(max(len(steps), 1)):.1f}"


def _ticks(most: int) -> list[int]:
    """Round numbers from 0 to the number of tests, at most eight."""
    step = next(step * 10**power for power in range(12) for step in (1, 2, 5) if most // (step * 10**power) < 8)
    return list(range(0, most + 1, step))
