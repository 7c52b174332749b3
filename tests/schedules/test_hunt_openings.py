"""The first runs of a hunt that has little time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

import pytest

from replay_dd.schedules.fork_server_client import Runner
from replay_dd.schedules.hunt_openings import DEFAULT, opened
from replay_dd.schedules.hunt_strategies import OPENINGS
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


@pytest.mark.parametrize(
    ("endings", "ends_at", "plans"),
    [
        ([ENDLESS], OVER, [OPENINGS[0]]),
        ([PASSED], OVER, [OPENINGS[0]]),
        ([FAILED, PASSED], OVER, [OPENINGS[0], DEFAULT]),  # it counts only beside a run that passes
        ([ENDLESS, PASSED], NEVER, [OPENINGS[0], DEFAULT]),
        ([PASSED, PASSED, PASSED], NEVER, [*OPENINGS, DEFAULT]),
    ],
)
def test_no_more_runs_than_there_is_time_for(endings: list[Ending], ends_at: float, plans: list[Plan]) -> None:
    runner = Endings(endings)
    before, (plan, last) = opened(cast("Runner", cast("Any", runner)), 60.0, 9, ends_at)
    assert runner.plans == plans
    assert [*(one for one, _ in before), plan] == plans
    assert last.log.ending == endings[-1]
