"""Simplifying ends with the time that a hunt has."""

from __future__ import annotations

import time
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, cast

import pytest

from replay_dd.schedules.hunt_runs import HuntRuns
from replay_dd.schedules.hunt_simplify import Simplifier
from replay_dd.schedules.target import Plan, TargetRun
from tests.schedules.logs import FAILED, log_of, schedule

pytestmark = pytest.mark.once


class Batch:
    """Makes runs that all pass, and counts them."""

    def __init__(self) -> None:
        self.first = SimpleNamespace(log=log_of([]))
        self.made = 0

    def runs(self, plans: Iterator[Plan]) -> Iterator[tuple[Plan, TargetRun]]:
        for plan in plans:
            self.made += 1
            yield plan, cast("Any", self.first)


@pytest.mark.parametrize(("left_s", "made"), [(-1.0, 0), (3600.0, 80)])
def test_logs_stay_as_they_are_once_the_time_is_over(left_s: float, made: int) -> None:
    log = schedule(("0.1", 4, "0.2"), ("0.2", 5, "0.1"), ending=FAILED)
    batch = Batch()
    simplifier = Simplifier(cast("HuntRuns", batch), ends_at=time.monotonic() + left_s)
    assert simplifier.with_one_preemption(log, 0) is log
    assert batch.made == simplifier.runs == made
    if not made:
        assert simplifier.simplified(log) is log
