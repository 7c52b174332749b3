"""Schedules of many choices, rewritten with few."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from replay_dd.schedules.failures.signature import signature_of
from replay_dd.schedules.hunting.hunt import hunt
from replay_dd.schedules.hunting.options import HuntOptions
from replay_dd.schedules.isolating.fewer_choices import Block, Rewritten, triggers_of, with_fewer_choices
from replay_dd.schedules.isolating.minimize import minimize
from replay_dd.schedules.model import Log, Settings, Trigger
from replay_dd.schedules.running.target import describe_program
from tests.schedules.simulated import SimulatedRunner

# What is sought in runs, and not what runs do, which depends on the Python.
pytestmark = pytest.mark.once

GUILTY = Trigger("0.1", 37, "0.2")
MANY = tuple(sorted(Trigger(f"0.{1 + number % 2}", 10 + number, f"0.{2 - number % 2}") for number in range(60)))


class InOrder(SimulatedRunner):
    """Switches come in the order of their times, so that the threads take turns."""

    def log(self, triggers: tuple[Trigger, ...]) -> Log:
        log = super().log(triggers)
        return replace(log, switches=tuple(sorted(log.switches, key=lambda switch: switch.time)))


def rewritten(runner: SimulatedRunner, jobs: int = 1, most: int = 1000) -> Rewritten:
    log = runner.log(tuple(sorted({*MANY, GUILTY})))
    assert signature_of(log.ending).failed
    return with_fewer_choices(
        log,
        runner.log,
        lambda run: signature_of(run.ending).failed,
        jobs=jobs,
        may_go_on=lambda tests: tests < most,
    )


@pytest.mark.parametrize("jobs", [1, 4])
def test_a_choice_that_fails_alone_is_found_among_many(jobs: int) -> None:
    last = MANY[-1]
    found = rewritten(InOrder(lambda triggers: last in triggers), jobs)
    assert found.log.triggers == (last,)
    assert found.tests <= 24


@pytest.mark.parametrize("jobs", [1, 4])
def test_the_answer_and_the_cost_do_not_depend_on_the_jobs(jobs: int) -> None:
    pair = {MANY[20], MANY[40]}
    found = rewritten(InOrder(lambda triggers: pair <= set(triggers)), jobs)
    alone = rewritten(InOrder(lambda triggers: pair <= set(triggers)))
    assert pair <= set(found.log.triggers)
    assert len(found.log.triggers) < len(MANY)
    assert (found.log.triggers, found.tests) == (alone.log.triggers, alone.tests)


def test_a_schedule_that_needs_all_its_choices_stays() -> None:
    whole = {*MANY, GUILTY}
    found = rewritten(InOrder(lambda triggers: set(triggers) == whole))
    assert set(found.log.triggers) == whole


def test_a_limit_ends_it() -> None:
    runner = InOrder(lambda triggers: GUILTY in triggers)
    assert rewritten(runner, most=3).tests <= 3
    assert rewritten(runner, most=0).tests == 0


def interrupted_after(runs: int) -> InOrder:
    """Needs two choices, and is interrupted in a later run."""
    pair = {MANY[20], MANY[40]}
    made: list[object] = []

    def fails(triggers: tuple[Trigger, ...]) -> bool:
        made.append(triggers)
        if len(made) > runs:
            raise KeyboardInterrupt
        return pair <= set(triggers)

    return InOrder(fails)


def test_ctrl_c_leaves_the_best_so_far() -> None:
    pair = {MANY[20], MANY[40]}
    found = rewritten(interrupted_after(30))
    assert found.interrupted
    assert pair <= set(found.log.triggers)
    assert len(found.log.triggers) < len(MANY)


def test_a_minimization_that_is_interrupted_tells_the_best_so_far() -> None:
    pair = {MANY[20], MANY[40]}
    runner = interrupted_after(30)
    found = minimize(runner.log(MANY), runner=runner)  # type: ignore[arg-type]
    assert (found.isolation.interrupted, found.isolation.exit_code) == (True, 130)
    assert pair <= set(found.log.triggers)
    assert len(found.log.triggers) < found.choices_before == len(MANY)
    assert found.log.verified is None
    runner = interrupted_after(2)
    with pytest.raises(KeyboardInterrupt):  # there is nothing better yet
        minimize(runner.log(MANY), runner=runner)  # type: ignore[arg-type]


def test_blocks_of_one_thread_are_joined() -> None:
    blocks = [Block("0", 3), Block("0.1", 5), Block("0.1", 9), Block("0.2", 4), Block("0.1", 12)]
    assert triggers_of(blocks) == (
        Trigger("0", 3, "0.1"),
        Trigger("0.1", 9, "0.2"),
        Trigger("0.2", 4, "0.1"),
    )
    assert triggers_of(blocks[1:3]) == ()


TEXT = """\
import threading


class Shared:
    a = b = noise = 0


def one():
    for _ in range(20):
        shared.noise += 1
    shared.a = 1
    for _ in range(20):
        shared.noise += 1
    if shared.b == 1:
        shared.a = 2
        shared.noise += 1
        assert shared.b == 1, "taken back"


def two():
    for _ in range(20):
        shared.noise += 1
    if shared.a == 1:
        shared.b = 1
        for _ in range(20):
            shared.noise += 1
        if shared.a == 2:
            shared.b = 3


def other():
    for _ in range(60):
        shared.noise += 1


shared = Shared()
threads = [threading.Thread(target=target) for target in (one, two, other, other)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""


def test_a_random_schedule_is_reduced_to_the_few_choices_that_matter(tmp_path: Path) -> None:
    """ddmin alone took 664 tests for such a log, and left 5 of 140 choices."""
    (tmp_path / "prog.py").write_text(TEXT)
    program = describe_program((sys.executable, "prog.py"), directory=tmp_path)
    found = hunt(program, Settings(), HuntOptions(runs=500, strategy="random", simplify=False))
    assert found.failing is not None
    assert len(found.failing.triggers) > 12
    minimum = minimize(found.failing)
    assert minimum.isolation.verified
    assert signature_of(minimum.log.ending).same(signature_of(found.failing.ending))
    assert len(minimum.log.triggers) <= 3
    assert minimum.choices_before == len(found.failing.triggers)
    assert minimum.isolation.tests + minimum.rewriting_tests <= 150
    limited = minimize(found.failing, max_tests=5)
    assert limited.isolation.tests + limited.rewriting_tests <= 8
    assert signature_of(limited.log.ending).failed
