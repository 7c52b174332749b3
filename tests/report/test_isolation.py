"""The answer of an isolation in words."""

from __future__ import annotations

from pathlib import Path

import pytest

from replay_dd.report.isolation import isolation_as_text
from replay_dd.schedules.isolate import GuiltySwitch, ScheduleIsolation
from replay_dd.schedules.model import Switch
from replay_dd.schedules.signature import signature_of
from tests.schedules.logs import FAILED, PLACE, log_of


@pytest.mark.parametrize("ended, until", [(True, "has ended"), (False, "has to wait in library code")])
def test_a_thread_without_a_place_has_ended_or_waits(ended: bool, until: str) -> None:
    failing = Switch("0.1", 3, "0.2", False, False, PLACE, 9, 1)
    passing = Switch("0.1", 7, "0", True, True, None, 13, 2, ended=ended)
    text = answer(failing, passing)
    assert text[0] == "The run FAILS if thread 0.1 gives way to thread 0.2 at prog.py:7 in work"
    assert f"It PASSES if thread 0.1 runs on until it {until} (its yield point 7)." in text


@pytest.mark.parametrize(
    "ended, what",
    [(True, "gives way to thread 0.2 at its end"), (False, "has to wait and thread 0.2 runs on in library code")],
)
def test_the_guilty_switch_may_have_no_place(ended: bool, what: str) -> None:
    failing = Switch("0.1", 3, "0.2", True, False, None, 9, 1, ended=ended)
    assert answer(failing, None)[0] == f"The run FAILS if thread 0.1 {what}"


def test_both_runs_may_differ_in_who_runs_on_where_a_thread_has_to_wait() -> None:
    failing = Switch("0.1", 3, "0.2", True, False, PLACE, 9, 1)
    passing = Switch("0.1", 3, "0", True, True, PLACE, 9, 1)
    text = answer(failing, passing)
    assert text[0] == "The run FAILS if thread 0.1 has to wait and thread 0.2 runs on at prog.py:7 in work"
    assert "It PASSES if thread 0.1 has to wait and thread 0 runs on at prog.py:7 instead" in text


def answer(failing: Switch, passing: Switch | None) -> list[str]:
    runs = log_of([] if passing is None else [passing]), log_of([failing], FAILED)
    isolation = ScheduleIsolation(
        *(signature_of(FAILED), 4, 1, 2, 2, GuiltySwitch(failing, passing), *runs, None, None, 0.5),
        *(True, True, False, ()),
    )
    return list(isolation_as_text(isolation, Path("pass.log"), Path("fail.log")))
