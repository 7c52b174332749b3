"""Simplifying ends with the time that a hunt has."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest

from replay_dd.schedules import hunt_simplify
from replay_dd.schedules.hunt_runs import HuntRuns
from replay_dd.schedules.hunt_simplify import Simplifier
from replay_dd.schedules.model import Ending, Log
from replay_dd.schedules.target import Plan, TargetRun
from tests.schedules.logs import FAILED, PASSED, log_of, schedule

pytestmark = pytest.mark.once


class Batch:
    """Makes runs that end as these logs, or pass, and counts them."""

    def __init__(self, logs: Sequence[Log] = ()) -> None:
        self.logs, self.time_limit_s = logs, None
        self.first = SimpleNamespace(log=log_of([]), touches=(), alternatives=())
        self.made = 0

    def runs(self, plans: Iterator[Plan]) -> Iterator[tuple[Plan, TargetRun]]:
        for plan in plans:
            made = SimpleNamespace(log=self.logs[self.made]) if self.made < len(self.logs) else self.first
            self.made += 1
            yield plan, cast("Any", made)


@pytest.mark.parametrize(("left_s", "made"), [(-1.0, 0), (3600.0, 80)])
def test_logs_stay_as_they_are_once_the_time_is_over(left_s: float, made: int) -> None:
    log = schedule(("0.1", 4, "0.2"), ("0.2", 5, "0.1"), ending=FAILED)
    batch = Batch()
    simplifier = Simplifier(cast("HuntRuns", batch), ends_at=time.monotonic() + left_s)
    assert simplifier.with_one_preemption(log, 0) is log
    assert batch.made == simplifier.runs == made
    if not made:
        assert simplifier.simplified(log) is log


OTHER_MESSAGE = replace(FAILED, exceptions=(replace(FAILED.exceptions[0], text="nothing"),))
ELSEWHERE = replace(
    FAILED, exceptions=(replace(FAILED.exceptions[0], frames=(replace(FAILED.exceptions[0].frames[0], line=10),)),)
)


@pytest.mark.parametrize(
    ("endings", "may_differ", "chosen"),
    [
        ((PASSED, FAILED), True, 1),
        ((OTHER_MESSAGE, FAILED), True, 1),
        ((OTHER_MESSAGE, PASSED), True, 0),
        ((OTHER_MESSAGE, PASSED), False, None),
        ((ELSEWHERE, PASSED), True, None),
    ],
    ids=["same", "same comes before alike", "alike", "alike is not wanted", "elsewhere"],
)
def test_one_preemption_that_fails_at_the_same_place_is_simpler(
    endings: tuple[Ending, ...], may_differ: bool, chosen: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hunt_simplify, "verify_log", lambda log, time_limit_s: log)
    runs = [schedule(("0.1", 7 + number, "0.2"), ending=ending) for number, ending in enumerate(endings)]
    batch = Batch(runs)
    log = schedule(("0.1", 4, "0.2"), ("0.2", 5, "0.1"), ending=FAILED)
    found = Simplifier(cast("HuntRuns", batch)).with_one_preemption(log, 0, may_differ=may_differ)
    assert found is (log if chosen is None else runs[chosen])


@pytest.mark.parametrize(("choices", "made"), [(5, 0), (6, 1)])
def test_likely_preemptions_are_tried_before_many_choices_are_reduced(
    choices: int, made: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hunt_simplify, "verify_log", lambda log, time_limit_s: log)
    likely = SimpleNamespace(trigger=("0.1", 3, "0.2"), rank=0)
    monkeypatch.setattr(hunt_simplify, "possible_preemptions", lambda run: iter([likely]))
    simple = schedule(("0.1", 3, "0.2"), ending=FAILED)
    batch = Batch([simple])
    log = schedule(*(("0.1", 4 + number, "0.2") for number in range(choices)), ending=FAILED)
    found = Simplifier(cast("HuntRuns", batch)).with_a_likely_preemption(log)
    assert found is (simple if made else log)
    assert batch.made == made
