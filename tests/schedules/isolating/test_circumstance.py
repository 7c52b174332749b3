"""Which log's outside input a mixed schedule is run with, and choices in words."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from replay_dd.schedules.isolating.circumstance import ScheduleRunner, in_words
from replay_dd.schedules.isolating.difference import difference_of
from replay_dd.schedules.model import Switch, Trigger
from replay_dd.schedules.running.target import Plan
from tests.schedules.logs import FAILED, log_of

pytestmark = pytest.mark.once


def switch(thread: str, time: int, at: int) -> Switch:
    return Switch(thread, time, "0", False, False, None, at, at)


def test_the_passing_schedule_runs_with_its_own_input_whatever_the_order_of_its_switches() -> None:
    """A log has its switches in the order of time; the difference has them by thread."""
    passing = replace(log_of([switch("0.2", 5, 1), switch("0.1", 9, 2)]), arrivals=(("0.1", 1),))
    failing = replace(log_of([], FAILED), arrivals=(("0.1", 2),))
    plans: list[Plan] = []

    def run(plan: Plan, time_limit_s: float | None) -> Any:
        plans.append(plan)
        return SimpleNamespace(log=passing)

    runner: Any = SimpleNamespace(run=run)
    runs = ScheduleRunner(failing, runner, None, passing)
    difference = difference_of(passing, failing)
    empty = difference.all - difference.all
    assert difference.triggers(empty) != passing.triggers
    runs.run(difference.triggers(empty))
    runs.run(difference.triggers(difference.all))
    assert [plan.arrivals for plan in plans] == [passing.arrivals, failing.arrivals]
    assert set(plans[0].triggers) == set(passing.triggers)


def test_a_choice_in_words() -> None:
    assert in_words(None) == ""
    assert in_words(Trigger("0.1", 4, "0.2")) == "thread 0.1 to 0.2 at its yield point 4"
    assert in_words(Trigger("0.1", 4, "0.1")) == "thread 0.1 to itself at its yield point 4"
