"""Simplifying ends with the time that a hunt has."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest

from replay_dd.schedules.hunting import simplify
from replay_dd.schedules.hunting.runs import HuntRuns
from replay_dd.schedules.hunting.simplify import Simplifier
from replay_dd.schedules.model import Ending, Log, Trigger
from replay_dd.schedules.running.target import Plan, TargetRun
from tests.schedules.logs import FAILED, PASSED, log_of, schedule

pytestmark = pytest.mark.once


class Batch:
    """Makes runs that end as these logs, or pass, and counts them."""

    def __init__(self, logs: Sequence[Log] = ()) -> None:
        self.logs, self.time_limit_s = logs, None
        self.first = SimpleNamespace(log=log_of([]), touches=(), alternatives=(), touched={})
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
    monkeypatch.setattr(simplify, "verify_log", lambda log, time_limit_s: log)
    runs = [schedule(("0.1", 7 + number, "0.2"), ending=ending) for number, ending in enumerate(endings)]
    batch = Batch(runs)
    log = schedule(("0.1", 4, "0.2"), ("0.2", 5, "0.1"), ending=FAILED)
    found = Simplifier(cast("HuntRuns", batch)).with_one_preemption(log, 0, may_differ=may_differ)
    assert found is (log if chosen is None else runs[chosen])


def test_the_same_message_is_sought_in_a_few_more_runs_only() -> None:
    batch = Batch([schedule(("0.1", 7, "0.2"), ending=OTHER_MESSAGE)])
    log = schedule(("0.1", 4, "0.2"), ("0.2", 5, "0.1"), ending=FAILED)
    simplifier = Simplifier(cast("HuntRuns", batch))
    simplifier._verified = lambda log: log  # type: ignore[method-assign]
    assert simplifier.with_one_preemption(log, 0) is batch.logs[0]
    assert batch.made == 1 + simplify._SAME_RUNS


class Likely(Iterator[Plan]):
    """Stands in for the plans of a hunt: so many preemptions."""

    def __init__(self, amount: int) -> None:
        self.left = amount
        self.learnt: list[int] = []

    def __next__(self) -> Plan:
        self.left -= 1
        if self.left < 0:
            raise StopIteration
        return Plan("profile", triggers=(Trigger("0.1", 3 + self.left, "0.2"),))

    def learn(self, number: int, plan: Plan, run: TargetRun) -> None:
        self.learnt.append(number)


@pytest.mark.parametrize(("choices", "made"), [(2, 0), (3, 2)])
def test_likely_preemptions_are_tried_before_many_choices_are_reduced(
    choices: int, made: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(simplify, "verify_log", lambda log, time_limit_s: log)
    likely = Likely(5)
    monkeypatch.setattr(simplify, "HuntPlans", lambda *_, only_preemptions: likely)
    simple = schedule(("0.1", 3, "0.2"), ending=FAILED)
    batch = Batch([schedule(("0.1", 4, "0.2"), ending=PASSED), simple])
    log = schedule(*(("0.1", 4 + number, "0.2") for number in range(choices)), ending=FAILED)
    found = Simplifier(cast("HuntRuns", batch)).with_likely_preemptions(log)
    assert found is (simple if made else log)
    assert batch.made == made
    assert likely.learnt == list(range(made)), "what a run shows is learnt before the next"


def test_as_many_choices_are_no_simpler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(simplify, "verify_log", lambda log, time_limit_s: log)
    monkeypatch.setattr(simplify, "HuntPlans", lambda *_, only_preemptions: Likely(1))
    log = schedule(*(("0.1", 4 + number, "0.2") for number in range(3)), ending=FAILED)
    batch = Batch([schedule(*(("0.1", 5 + number, "0.2") for number in range(3)), ending=FAILED)])
    assert Simplifier(cast("HuntRuns", batch)).with_likely_preemptions(log) is log


def test_no_preemption_is_tried_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    once = SimpleNamespace(trigger=Trigger("0.1", 3, "0.2"), rank=0)
    monkeypatch.setattr(simplify, "possible_preemptions", lambda run: iter([once]))
    monkeypatch.setattr(simplify, "HuntPlans", lambda *_, only_preemptions: Likely(1))
    log = schedule(*(("0.1", 4 + number, "0.2") for number in range(3)), ending=FAILED)
    batch = Batch()
    simplifier = Simplifier(cast("HuntRuns", batch))
    simplifier.with_likely_preemptions(log)
    plans = list(simplifier._single_preemptions(0))
    assert all(plan.strategy == "bounded" for plan in plans)
