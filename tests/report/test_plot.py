"""The chart of a search."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from replay_dd.experiment.result import TestRecord
from replay_dd.outcome import Outcome
from replay_dd.report.plot import search_plot


def record(number: int, measure: int, outcome: Outcome) -> TestRecord:
    return TestRecord(number, measure, outcome, measure, measure=measure)


STEPS = [
    record(1, 500, Outcome.PASS),
    record(2, 100, Outcome.FAIL),
    record(3, 50, Outcome.UNRESOLVED),
    record(4, 10, Outcome.FAIL),
    record(5, 0, Outcome.PASS),
]


def test_it_is_well_formed_and_names_what_it_shows() -> None:
    text = search_plot(STEPS, 1000, title="a<b>.c: 1,000 to 10 bytes", unit="bytes")
    root = ElementTree.fromstring(text)
    told = [element.text for element in root.iter() if element.tag.endswith("text")]
    assert told[0] == "a<b>.c: 1,000 to 10 bytes"
    assert [label for label in told if label and label[0] == "1"] == ["1", "10", "100", "1,000", "1"]
    assert "bytes" in told


def test_what_is_left_falls_by_the_same_for_each_power_of_ten() -> None:
    text = search_plot(STEPS, 1000, title="", unit="bytes")
    (staircase,) = re.findall(r'<path d="([^"]+)" stroke="black"', text)
    heights = [float(height) for height in re.findall(r"[MV](?:[\d.]+ )?([\d.]+)", staircase)]
    assert len(heights) == 3, "before, after the second test, after the fourth"
    assert heights[1] - heights[0] == pytest.approx(heights[2] - heights[1], abs=0.2)
    assert text.count("h0") == len(STEPS), "one mark for each test"


@pytest.mark.parametrize("steps", [[], STEPS[:1], [record(number, 3, Outcome.FAIL) for number in range(1, 1000)]])
def test_any_search_can_be_drawn(steps: list[TestRecord]) -> None:
    text = search_plot(steps, 3, title="x", unit="bytes")
    ElementTree.fromstring(text)
    ticks = re.findall(r'text-anchor="middle">([\d,]+)<', text)
    assert 1 <= len(ticks) <= 8
