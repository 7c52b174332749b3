"""The range of positions in which a guilty switch makes the run fail."""

from __future__ import annotations

import pytest

from replay_dd.schedules.failing_range import FailingRange, find_failing_range
from replay_dd.schedules.model import Switch, Trigger
from tests.schedules.simulated import SimulatedRunner, isolated


def switch(thread: str, time: int, *, forced: bool = False) -> Switch:
    return Switch(thread, time, "0.2" if thread == "0.1" else "0.1", forced, False, None, time, time)


def range_of(runner: SimulatedRunner, *before: Trigger, guilty: Switch, jobs: int = 1) -> FailingRange | None:
    failing = runner.log(tuple(sorted((*before, guilty.trigger))))
    tests, runs = isolated(runner, failing)
    return find_failing_range(tests, runs, failing, guilty, jobs)


def fails_between(first: int, last: int) -> SimulatedRunner:
    """A program that fails if thread 0.1 is preempted between two of its yield points."""
    return SimulatedRunner(
        lambda triggers: any(one.thread == "0.1" and first <= one.time <= last and one.to == "0.2" for one in triggers)
    )


@pytest.mark.parametrize("jobs", [1, 3])
@pytest.mark.parametrize(("first", "last"), [(5, 9), (8, 9), (9, 9), (500, 900)])
def test_both_edges_are_found(first: int, last: int, jobs: int) -> None:
    runner = fails_between(first, last)
    found = range_of(runner, guilty=switch("0.1", last), jobs=jobs)
    assert found is not None
    assert found.before is not None
    assert (found.before.time, found.first.time, found.last.time) == (first - 1, first, last)
    assert (found.first.thread, found.first.to) == ("0.1", "0.2")
    if jobs == 1:
        assert found.tests == len(set(runner.schedules))


def test_the_range_may_begin_with_the_first_yield_point() -> None:
    found = range_of(fails_between(0, 40), guilty=switch("0.1", 40))
    assert found is not None
    assert (found.first.time, found.last.time, found.before, found.tests) == (1, 40, None, 1)


def test_the_range_begins_after_the_thread_was_switched_to_last() -> None:
    """Its own earlier switch bounds the turn; those of other threads do not."""
    runner = fails_between(3, 90)
    found = range_of(runner, Trigger("0.1", 20, "0.3"), Trigger("0.2", 70, "0.1"), guilty=switch("0.1", 90))
    assert found is not None
    assert (found.first.time, found.before) == (21, None)
    assert all(Trigger("0.1", 20, "0.3") in schedule for schedule in runner.schedules), "the other switches stay"


def test_a_switch_without_a_stretch_before_it_has_no_range() -> None:
    runner = fails_between(1, 9)
    assert range_of(runner, guilty=switch("0.1", 9, forced=True)) is None
    assert range_of(runner, guilty=switch("0.1", 1)) is None
    assert range_of(runner, Trigger("0.1", 8, "0.3"), guilty=switch("0.1", 9)) is None
    assert not runner.schedules, "nothing had to be run"


def test_a_switch_that_the_run_skipped_is_no_edge() -> None:
    runner = SimulatedRunner(lambda triggers: bool(triggers), skips=lambda trigger: trigger.time < 7)
    assert range_of(runner, guilty=switch("0.1", 9)) is None
