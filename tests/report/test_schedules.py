"""The answer of an isolation as text."""

from __future__ import annotations

from pathlib import Path

import pytest

from replay_dd.circumstance import Found
from replay_dd.dd import EMPTY
from replay_dd.experiment.baseline import Baseline, Rate
from replay_dd.experiment.proof import Proof
from replay_dd.experiment.result import Isolation
from replay_dd.report.schedules import schedules_as_text
from replay_dd.schedules.answer import GuiltySwitch, ScheduleIsolation
from replay_dd.schedules.circumstance import MixedSchedules, ScheduleRunner
from replay_dd.schedules.difference import difference_of
from replay_dd.schedules.failing_range import NO_RANGES
from replay_dd.schedules.fork_server_client import Runner
from replay_dd.schedules.model import Switch
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
    difference = difference_of(*runs)
    with Runner(runs[1].program, runs[1].settings) as runner:
        circumstance = MixedSchedules(ScheduleRunner(runs[1], runner, 1, runs[0]), difference)
    failure = circumstance.judge(runs[1])
    isolation = Isolation(
        *(circumstance, failure, Found(EMPTY, runs[0]), Found(difference.all, runs[1]), 4),
        *(Baseline(failure, Rate(2, 2)), Proof(Rate(3, 3), Rate(0, 3), True), 2, 2, 4, (), None, 0.5, ()),
    )
    found = ScheduleIsolation(isolation, GuiltySwitch(failing, passing), None, NO_RANGES, *runs)
    return list(schedules_as_text(found, Path("pass.log"), Path("fail.log")))
