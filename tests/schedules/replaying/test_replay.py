"""What a divergence says: always in what the replay differs."""

from __future__ import annotations

from dataclasses import replace

import pytest

from replay_dd.schedules.model import Place, Switch
from replay_dd.schedules.replaying.replay import Divergence

PLACE = Place("a.py", "/a.py", 3, 1, "work", "LOAD_ATTR", True)
SWITCH = Switch("0.1", 5, "0.2", False, False, PLACE, 40, 0xAB)


def test_places_that_differ_are_both_named() -> None:
    said = str(Divergence(SWITCH, replace(SWITCH, place=replace(PLACE, line=4))))
    assert "a.py:3" in said.partition("got")[0]
    assert "a.py:4" in said.partition("got")[2]


@pytest.mark.parametrize(
    ("actual", "parts"),
    [
        (replace(SWITCH, digest=0xCD), ["00000000000000cd instead of 00000000000000ab"]),
        (replace(SWITCH, global_time=41), ["41 yield points by then instead of 40"]),
        (replace(SWITCH, forced=True), ["could not go on instead of although"]),
        (replace(SWITCH, global_time=41, digest=0xCD), ["41", "00000000000000cd"]),
    ],
)
def test_what_reads_the_same_is_told_apart(actual: Switch, parts: list[str]) -> None:
    said = str(Divergence(SWITCH, actual))
    assert said.startswith("both got thread 0.1 to yield to 0.2 at its time 5 at a.py:3")
    assert all(part in said for part in parts)


def test_the_end_of_a_run_is_one_side() -> None:
    assert "without another switch" in str(Divergence(None, SWITCH))
    assert str(Divergence(None, None)) == "after the last switch of the run"
