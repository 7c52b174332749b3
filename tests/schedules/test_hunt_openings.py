"""The first runs of a hunt that has little time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

import pytest

from replay_dd.schedules.fork_server_client import Runner
from replay_dd.schedules.hunt_openings import DEFAULT, Made, opened
from replay_dd.schedules.hunt_strategies import OPENINGS, is_opening
from replay_dd.schedules.model import Ending
from replay_dd.schedules.target import Plan, TargetRun
from tests.schedules.logs import FAILED, PASSED, log_of

pytestmark = pytest.mark.once

ENDLESS = replace(PASSED, timed_out=True, complete=False)
OVER, NEVER = float("-inf"), float("inf")


class Endings:
    """Makes runs that end like this, one after the other, and notes their plans."""

    def __init__(self, endings: Sequence[Ending]) -> None:
        self.endings = list(endings)
        self.plans: list[Plan] = []

    def run(self, plan: Plan, time_limit_s: float | None) -> TargetRun:
        self.plans.append(plan)
        return TargetRun(log_of([], self.endings.pop(0)), b"", "", "")


def made_in(
    endings: Sequence[Ending], ends_at: float = NEVER, most: int = 9, seed: int = 3
) -> tuple[list[Plan], list[Made]]:
    """The plans that were run, and what ``opened`` returns, in one list."""
    runner = Endings(endings)
    before, last, _ = opened(cast("Runner", cast("Any", runner)), 60.0, most, ends_at, seed)
    return runner.plans, [*before, last]


@pytest.mark.parametrize(
    ("endings", "ends_at", "plans"),
    [
        ([ENDLESS], OVER, [OPENINGS[0]]),
        ([PASSED], OVER, [OPENINGS[0]]),
        ([FAILED, PASSED], OVER, [OPENINGS[0], DEFAULT]),  # it counts only beside a run that passes
        ([ENDLESS, PASSED], NEVER, [OPENINGS[0], DEFAULT]),
    ],
)
def test_no_more_runs_than_there_is_time_for(endings: list[Ending], ends_at: float, plans: list[Plan]) -> None:
    run, made = made_in(endings, ends_at)
    assert run == [plan for plan, _ in made] == plans
    assert made[-1][1].log.ending == endings[-1]


def test_all_openings_come_before_the_default_schedule_and_one_is_drawn() -> None:
    short = replace(PASSED, thread_times={"0": 5, "0.1": 9})
    plans, _ = made_in([PASSED, short, PASSED, PASSED, PASSED], seed=3)
    assert [plans.index(plan) for plan in (*OPENINGS, DEFAULT) if plan in plans] == [0, 1, 3, 4]
    assert all(map(is_opening, plans[:-1]))
    assert not is_opening(DEFAULT)
    drawn = plans[2]
    assert (drawn.strategy, drawn.options, drawn.thread_times) == ("uniform", {"seed": 3}, {"0": 5, "0.1": 9})


def test_fewer_openings_where_few_runs_are_wanted() -> None:
    plans, _ = made_in([PASSED, PASSED], most=1)
    assert plans == [OPENINGS[0], DEFAULT]


def test_the_opening_that_is_drawn_asks_seldom_in_a_long_run() -> None:
    plans, _ = made_in([PASSED, replace(PASSED, global_time=5_001), PASSED, PASSED, PASSED])
    assert plans[2].strategy == "pct"
    assert is_opening(plans[2])
