"""Which of the choices that two runs share a failure needs."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from replay_dd.schedules.isolating.needed_choices import NeededChoices, find_needed_choices
from replay_dd.schedules.model import Trigger
from tests.schedules.simulated import SimulatedRunner, isolated

RACE = Trigger("0.1", 10, "0.2")
SETS_UP = Trigger("0.2", 5, "0.3")
DIFFERS = Trigger("0.3", 7, "0.1")
OTHERS = [Trigger("0.1", 20 + number, "0.3") for number in range(6)]


def needed(runner: SimulatedRunner, shared: Iterable[Trigger], jobs: int = 1, **limits: int) -> NeededChoices:
    passing = runner.log(tuple(sorted(shared)))
    failing = runner.log(tuple(sorted([*shared, DIFFERS])))
    runner.schedules.clear()
    _, runs = isolated(runner, failing)
    return find_needed_choices(runs, passing, failing, jobs=jobs, **limits)


def needs(*triggers: Trigger) -> SimulatedRunner:
    return SimulatedRunner(lambda schedule: set(triggers) <= set(schedule))


@pytest.mark.parametrize("jobs", [1, 3])
@pytest.mark.parametrize("shared", [[RACE], [RACE, SETS_UP]])
def test_only_what_the_failure_needs_is_left(shared: list[Trigger], jobs: int) -> None:
    found = needed(needs(DIFFERS, *shared), [*OTHERS, *shared], jobs)
    assert set(found.failing.triggers) == {DIFFERS, *shared}
    assert set(found.passing.triggers) == set(shared)
    assert found.minimal
    assert found.left_out == len(OTHERS)
    assert found.tests <= 25


def test_one_test_is_enough_where_the_difference_fails_by_itself() -> None:
    runner = needs(DIFFERS)
    found = needed(runner, OTHERS)
    assert found.failing.triggers == (DIFFERS,)
    assert (found.tests, found.left_out) == (1, len(OTHERS))
    assert len(runner.schedules) == 2


def test_nothing_is_run_where_nothing_is_shared() -> None:
    runner = needs(DIFFERS)
    found = needed(runner, [])
    assert (found.tests, found.minimal, runner.schedules) == (0, True, [])


def test_a_choice_stays_if_the_other_run_would_fail_without_it() -> None:
    """With too little, both runs fail: the difference would explain nothing."""
    repairs = OTHERS[0]
    runner = SimulatedRunner(lambda schedule: repairs not in schedule or DIFFERS in schedule)
    found = needed(runner, [repairs, RACE])
    assert set(found.passing.triggers) == {repairs}
    assert set(found.failing.triggers) == {repairs, DIFFERS}


def test_a_limit_keeps_what_was_not_tried() -> None:
    shared = [RACE, SETS_UP, *OTHERS]
    found = needed(needs(DIFFERS, RACE, SETS_UP), shared, max_tests=3)
    assert found.tests <= 3
    assert not found.minimal
    assert {RACE, SETS_UP, DIFFERS} <= set(found.failing.triggers)
    none = needed(needs(DIFFERS, RACE, SETS_UP), shared, max_tests=0)
    assert (none.tests, none.minimal, none.left_out) == (0, False, 0)
