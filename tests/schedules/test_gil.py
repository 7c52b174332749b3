"""Whether the GIL lets threads switch where a guilty switch is."""

from __future__ import annotations

from dataclasses import replace

import pytest

from replay_dd.schedules.gil import with_gil_label
from replay_dd.schedules.model import Place, Switch, Trigger
from tests.schedules.simulated import SimulatedRunner, isolated

AFTER_CALL = Place("prog.py", "folder/prog.py", 7, 3, "work", "STORE_ATTR", True, 11, after_call=True)


def label_of(place: Place | None, before: Place | None, time: int = 9) -> tuple[bool | None, int]:
    """The label of a switch at a place, where the thread stood at another one a yield point earlier; and the runs."""

    def place_at(trigger: Trigger) -> Place | None:
        return before if trigger.time == time - 1 else place

    runner = SimulatedRunner(lambda triggers: True, place_at)
    switch = Switch("0.1", time, "0.2", False, False, place, time, time)
    failing = runner.log((switch.trigger,))
    tests, runs = isolated(runner, failing)
    found = with_gil_label(tests, runs, failing, switch)
    return None if found.place is None else found.place.gil_reachable, len(runner.schedules)


@pytest.mark.parametrize(("instruction", "reachable"), [("RETURN_VALUE", False), ("CALL", True), ("LOAD_ATTR", False)])
def test_after_a_call_of_counted_code_its_last_act_decides(instruction: str, reachable: bool) -> None:
    inside = replace(AFTER_CALL, function="helper", instruction=instruction, after_call=False)
    assert label_of(AFTER_CALL, inside) == (reachable, 1)
    elsewhere = replace(inside, function="work", path="folder/other.py")
    assert label_of(AFTER_CALL, elsewhere) == (reachable, 1), "another file, with a function of the same name"


def test_a_call_into_c_is_reachable() -> None:
    """Nothing of it is counted: a yield point earlier the thread stood in the same function."""
    assert label_of(AFTER_CALL, replace(AFTER_CALL, line=6, instruction="LOAD_ATTR")) == (True, 1)
    assert label_of(AFTER_CALL, None) == (True, 1)


@pytest.mark.parametrize(
    "place", [None, replace(AFTER_CALL, after_call=False), replace(AFTER_CALL, gil_reachable=False)]
)
def test_all_other_places_keep_their_label_without_a_run(place: Place | None) -> None:
    inside = replace(AFTER_CALL, function="helper", instruction="RETURN_VALUE")
    assert label_of(place, inside) == (None if place is None else place.gil_reachable, 0)


def test_the_first_yield_point_has_nothing_before_it() -> None:
    assert label_of(AFTER_CALL, None, time=0) == (True, 0)
