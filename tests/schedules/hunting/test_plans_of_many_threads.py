"""The plans of a hunt in a program with many threads."""

from __future__ import annotations

import sys
import textwrap
from pathlib import Path

import pytest

from replay_dd.schedules.hunting.likely_preemptions import orders_of
from replay_dd.schedules.hunting.opening_plans import is_opening
from replay_dd.schedules.hunting.plans import HuntPlans
from replay_dd.schedules.hunting.strategies import RandomPlans
from replay_dd.schedules.model import Program, Settings, Switch, Trigger
from replay_dd.schedules.running.runner import Runner
from replay_dd.schedules.running.target import Plan, describe_program

MANY = """
    import threading

    value = 0

    def change():
        global value
        for _ in range(6):
            value = value + 1

    threads = [threading.Thread(target=change) for _ in range(25)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    """


def program_in(folder: Path) -> Program:
    path = folder / "prog.py"
    path.write_text(textwrap.dedent(MANY))
    return describe_program((sys.executable, path.name), directory=folder)


@pytest.mark.once
def test_preemptions_come_first_and_then_two_of_three_runs_are_drawn(tmp_path: Path) -> None:
    with Runner(program_in(tmp_path), Settings()) as runner:
        first = runner.run(Plan("profile"), 60)
    of_preemptions = [bool(plan.triggers) for plan in HuntPlans(first, 0, 12)]
    assert of_preemptions == [True, True, True, *[False, False, True] * 3]


@pytest.mark.once
def test_all_kinds_of_draws_take_turns(tmp_path: Path) -> None:
    with Runner(program_in(tmp_path), Settings()) as runner:
        first = runner.run(Plan("profile"), 60)
    random = RandomPlans(first)
    random.learn(first.touches)
    plans = [random.plan(turn, turn) for turn in range(26)]
    kinds = [plan.strategy if not plan.label else plan.label.split(" (")[0] for plan in plans]
    fixed = "threads in order, latest first", "threads in step after all"
    assert [kinds.count(one) for one in fixed] == [1, 1], "the same again would show nothing"
    assert not any(map(is_opening, plans)), "they would be taken for the first runs of the hunt"
    assert kinds[20:] == ["pct", "uniform", "uniform", "random", "uniform", "partial order sampling"]
    assert [bool(plan.places) for plan in plans[21:23]] == [False, True], "anywhere, and at one thing"


@pytest.mark.once
def test_what_is_learnt_of_many_threads_does_not_grow_with_their_switches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Runner(program_in(tmp_path), Settings()) as runner:
        first = runner.run(Plan("profile", {"views": 0}), None)
    looked_at = 0
    real = Switch.trigger

    def trigger(switch: Switch) -> Trigger:
        nonlocal looked_at
        looked_at += 1
        assert real.fget is not None
        return Trigger(*real.fget(switch))

    monkeypatch.setattr(Switch, "trigger", property(trigger))
    HuntPlans(first, 0, 10)
    assert len(first.log.switches) > 100
    assert looked_at < 5 * len(first.log.switches)


def test_what_a_run_tells_grows_with_its_threads_and_not_with_their_square(tmp_path: Path) -> None:
    told = []
    for threads in (100, 200):
        path = tmp_path / f"prog{threads}.py"
        path.write_text(textwrap.dedent(MANY).replace("range(6)", "range(1)").replace("range(25)", f"range({threads})"))
        program = describe_program((sys.executable, path.name), directory=tmp_path)
        with Runner(program, Settings()) as runner:
            run = runner.run(Plan("profile"), 60)
        told.append((len(run.alternatives), len(orders_of(run.touches))))
    (few_alternatives, few_orders), (alternatives, orders) = told
    assert 0 < alternatives < 3 * few_alternatives
    assert 0 < orders < 3 * few_orders
