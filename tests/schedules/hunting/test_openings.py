"""The first runs of a hunt: which they are, and how many there is time for."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from replay_dd.schedules.hunting.opening_plans import ANSWERS_FIRST, FIRST, NO_SLEEP, is_opening, some_are_alike
from replay_dd.schedules.hunting.openings import DEFAULT, Made, opened, opening_runs
from replay_dd.schedules.hunting.plans import HuntPlans
from replay_dd.schedules.model import Ending, Settings, Switch, Wake
from replay_dd.schedules.observed.touches import Touch
from replay_dd.schedules.running.runner import Runner
from replay_dd.schedules.running.target import Plan, TargetRun, describe_program
from replay_dd.schedules.runtime.channel import ARRIVAL
from tests.schedules.logs import FAILED, PASSED, PLACE, log_of

pytestmark = pytest.mark.once

ENDLESS = replace(PASSED, timed_out=True, complete=False)
OVER, NEVER = float("-inf"), float("inf")


def touches(**places: Sequence[int]) -> tuple[Touch, ...]:
    """Each thread (``t1`` is "0.1", ``t`` the main one) changes one thing that all share, at these places."""
    return tuple(
        Touch(".".join(["0", *thread[1:]]), time, time, place, (1, ".value"), changes=True)
        for thread, visited in places.items()
        for time, place in enumerate(visited)
    )


ALIKE = touches(t1=range(20), t2=range(20), t3=[70])
DIFFERENT = touches(t1=range(20), t2=range(2, 22))


TWO_ALIKE = """
import threading

value = 0

def add():
    global value
    value += 1

threads = [threading.Thread(target=add) for _ in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""


class Endings:
    """Makes runs that end like this, one after the other, and notes their plans."""

    def __init__(
        self,
        endings: Sequence[Ending],
        touched: tuple[Touch, ...] = (),
        switches: Sequence[Switch] = (),
        arrivals: tuple[tuple[Any, ...], ...] = (),
    ) -> None:
        self.endings = list(endings)
        self.touched = touched
        self.switches = switches
        self.arrivals = arrivals
        self.plans: list[Plan] = []

    def run(self, plan: Plan, time_limit_s: float | None) -> TargetRun:
        self.plans.append(plan)
        log = replace(log_of(self.switches, self.endings.pop(0)), arrivals=self.arrivals)
        return TargetRun(log, b"", "", "", touches=self.touched)


def made_in(
    endings: Sequence[Ending],
    ends_at: float = NEVER,
    most: int = 9,
    seed: int = 3,
    touched: tuple[Touch, ...] = (),
    switches: Sequence[Switch] = (),
    arrivals: tuple[tuple[Any, ...], ...] = (),
) -> tuple[list[Plan], list[Made]]:
    """The plans that were run, and what ``opened`` returns, in one list."""
    runner = Endings(endings, touched, switches, arrivals)
    before, last, _ = opened(cast("Runner", cast("Any", runner)), 60.0, most, ends_at, seed)
    return runner.plans, [*before, last]


@pytest.mark.parametrize(
    ("endings", "ends_at", "plans"),
    [
        ([ENDLESS], OVER, [FIRST]),
        ([PASSED], OVER, [FIRST]),
        ([FAILED, PASSED], OVER, [FIRST, DEFAULT]),  # it counts only beside a run that passes
        ([ENDLESS, PASSED], NEVER, [FIRST, DEFAULT]),
    ],
)
def test_no_more_runs_than_there_is_time_for(endings: list[Ending], ends_at: float, plans: list[Plan]) -> None:
    run, made = made_in(endings, ends_at)
    assert run == [plan for plan, _ in made] == plans
    assert made[-1][1].log.ending == endings[-1]


def kinds_of(plans: Sequence[Plan]) -> list[object]:
    return [plan.strategy if "seed" in plan.options else dict(plan.options) for plan in plans]


SLEEPS = Switch("0.1", 3, "0.2", True, True, PLACE, 9, 1, wake=Wake(False, None))
WAITS = replace(SLEEPS, wake=Wake(True, None))


@pytest.mark.parametrize(
    ("endings", "switch", "most", "without_sleeps"),
    [
        ([FAILED, FAILED, PASSED], SLEEPS, 2, True),
        ([FAILED, FAILED, PASSED], SLEEPS, 1, False),
        ([FAILED, FAILED, PASSED], WAITS, 2, False),
        ([FAILED, PASSED], SLEEPS, 2, False),
        ([ENDLESS, FAILED], SLEEPS, 2, False),
    ],
    ids=["always fails", "no more runs", "only time-outs", "passes by default", "did not end"],
)
def test_what_always_fails_is_run_without_its_sleeps(
    endings: list[Ending], switch: Switch, most: int, without_sleeps: bool
) -> None:
    plans, made = made_in(endings, most=most, switches=[switch])
    assert (NO_SLEEP in plans) == without_sleeps
    assert made[-1][0] == DEFAULT, "which the hunt learns from"
    assert [plan for plan, _ in made] == ([FIRST, NO_SLEEP, DEFAULT] if without_sleeps else [FIRST, DEFAULT])


CAME_LATE = (ARRIVAL, "0.1", 1, "0.2", 7, 6, "from 5")
CAME_AT_ONCE = (ARRIVAL, "0.1", 1, "0.1", 7, 6, "from 5")
NEVER_CAME = (ARRIVAL, "0.1", 1, "", 0, None)


@pytest.mark.parametrize(
    ("endings", "arrival", "most", "plans"),
    [
        ([FAILED, FAILED, PASSED], CAME_LATE, 2, [FIRST, ANSWERS_FIRST, DEFAULT]),
        ([FAILED, FAILED, PASSED], NEVER_CAME, 2, [FIRST, ANSWERS_FIRST, DEFAULT]),
        ([FAILED, FAILED], CAME_AT_ONCE, 2, [FIRST, DEFAULT]),
        ([FAILED, FAILED], CAME_LATE, 1, [FIRST, DEFAULT]),
        ([FAILED, PASSED], CAME_LATE, 2, [FIRST, DEFAULT]),
    ],
)
def test_what_always_fails_is_run_with_answers_before_other_threads(
    endings: list[Ending], arrival: tuple[Any, ...], most: int, plans: list[Plan]
) -> None:
    run, made = made_in(endings, most=most, arrivals=(arrival,))
    assert [plan for plan, _ in made] == plans
    assert (ANSWERS_FIRST in run) == (ANSWERS_FIRST in plans)
    assert is_opening(ANSWERS_FIRST)


UNEVEN = {"abreast": 0, "latest": 1, "uneven": 1}
IN_STEP = {"abreast": 1, "latest": 1, "uneven": 0}
PATIENT = {"views": 1}


@pytest.mark.parametrize("complete", [1, 2, 3])
def test_at_ctrl_c_the_last_run_of_the_beginning_takes_the_place_of_the_first(
    complete: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    runner = Endings([PASSED] * 9)
    whole = runner.run

    def run(plan: Plan, time_limit_s: float | None) -> TargetRun:
        if len(runner.plans) == complete:
            raise KeyboardInterrupt
        return whole(plan, time_limit_s)

    monkeypatch.setattr(runner, "run", run)
    found = opened(cast("Runner", cast("Any", runner)), None, 9, None, 0)
    made = [plan for plan, _ in (*found.before, found.first)]
    assert (found.interrupted, len(made), made) == (True, complete, runner.plans)


def test_ctrl_c_in_the_very_first_run_leaves_nothing_to_tell(monkeypatch: pytest.MonkeyPatch) -> None:
    def run(plan: Plan, time_limit_s: float | None) -> TargetRun:
        raise KeyboardInterrupt

    runner = Endings([])
    monkeypatch.setattr(runner, "run", run)
    with pytest.raises(KeyboardInterrupt):
        opened(cast("Runner", cast("Any", runner)), None, 9, None, 0)


def test_threads_that_run_the_same_code_go_at_different_paces_and_later_in_step() -> None:
    plans, _ = made_in([PASSED] * 6, touched=ALIKE)
    assert kinds_of(plans[1:5]) == [UNEVEN, "pct", IN_STEP, PATIENT]
    assert (plans[0], plans[5]) == (FIRST, DEFAULT)
    assert [is_opening(plan) for plan in plans] == [True] * 5 + [False]


def test_of_threads_that_differ_who_was_overtaken_waits_and_two_schedules_are_drawn() -> None:
    plans, _ = made_in([PASSED] * 5, touched=DIFFERENT)
    assert kinds_of(plans[1:4]) == [PATIENT, "pct", "uniform"]
    assert (plans[0], plans[4]) == (FIRST, DEFAULT)
    assert [is_opening(plan) for plan in plans] == [True] * 4 + [False]


def test_what_is_drawn_follows_what_the_runs_before_have_shown() -> None:
    short = replace(PASSED, thread_times={"0": 5, "0.1": 9})
    plans, _ = made_in(
        [short, replace(PASSED, thread_times={"0": 7, "0.1": 8}), PASSED, PASSED, PASSED], touched=DIFFERENT
    )
    assert (plans[2].options["seed"], plans[2].thread_times) == (3, {"0": 5, "0.1": 9})
    assert set(plans[2].points) == {"0.1", "0.2"}, "where they touch the same"
    assert (plans[3].options["seed"], plans[3].thread_times) == (3, {"0": 7, "0.1": 8})


def test_the_main_thread_is_like_no_other_and_small_differences_do_not_matter() -> None:
    assert some_are_alike(touches(t1=range(20), t2=range(1, 20)))
    assert not some_are_alike(touches(t1=range(20), t2=range(2, 20)))
    assert not some_are_alike(touches(t=range(20), t1=range(20)))
    assert not some_are_alike(())


def test_fewer_openings_where_few_runs_are_wanted() -> None:
    plans, _ = made_in([PASSED, PASSED], most=1)
    assert plans == [FIRST, DEFAULT]


def test_an_opening_that_is_drawn_asks_seldom_in_a_long_run() -> None:
    plans, _ = made_in([PASSED, replace(PASSED, global_time=5_001), PASSED, PASSED, PASSED])
    assert plans[3].strategy == "pct"
    assert is_opening(plans[3])


def test_a_fixed_order_that_an_opening_had_is_not_made_again(tmp_path: Path) -> None:
    (tmp_path / "prog.py").write_text(TWO_ALIKE)
    program = describe_program((sys.executable, "prog.py"), directory=tmp_path)
    with Runner(program, Settings()) as runner:
        first = runner.run(Plan("profile"), 60)
        plans = HuntPlans(first, 0, 60)
        openings = []
        for plan, run in opening_runs(runner, 60, 9, 0):
            openings.append(plan)
            plans.look_at(plan, run)
    made = [plan.options for plan in (*openings, *plans) if plan.options and "seed" not in plan.options]
    in_step = [options for options in made if options.get("abreast") and not options["uneven"]]
    assert len(in_step) == 1, "threads that run the same code start in step, and once is enough"
    assert {"latest_first": 1} in made
