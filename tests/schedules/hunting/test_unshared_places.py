"""Runs of a hunt note nothing where threads share nothing, once that saves much."""

from __future__ import annotations

import sys
import textwrap
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from replay_dd.schedules.hunting.likely_preemptions import shared_places
from replay_dd.schedules.hunting.openings import opening_runs
from replay_dd.schedules.hunting.plans import HuntPlans
from replay_dd.schedules.hunting.unshared_places import UnsharedPlaces
from replay_dd.schedules.model import Settings
from replay_dd.schedules.observed.touches import Alternative, Touch
from replay_dd.schedules.running.runner import Runner
from replay_dd.schedules.running.target import Plan, TargetRun, describe_program
from replay_dd.schedules.runtime.channel import LOCK

# Two threads that count together, and before that each by itself, in many places.
MUCH_OF_ITS_OWN = f"""
    import threading

    class Counter:
        value = 0

    together = Counter()

    def work():
        own = Counter()
        {"; ".join(["own.value += 1"] * 200)}
        together.value += 1
        {"; ".join(["own = own"] * 10)}
        if together.value == 1:
            rarely()
        together.value += own.value

    def rarely():
        together.value += 1

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    """
LITTLE = MUCH_OF_ITS_OWN.replace("own.value += 1; " * 150, "")


@pytest.fixture
def runner(tmp_path: Path) -> Runner:
    return _runner(MUCH_OF_ITS_OWN, tmp_path)


def _runner(text: str, folder: Path) -> Runner:
    (folder / "prog.py").write_text(textwrap.dedent(text))
    return Runner(describe_program((sys.executable, "prog.py"), directory=folder), Settings())


def hunted(runner: Runner, amount: int) -> list[tuple[Plan, TargetRun]]:
    """The first plans of a hunt, which goes on whether one fails or not, and their runs."""
    first = runner.run(Plan("profile"), 60)
    plans, made = HuntPlans(first, 0, amount), []
    for plan, run in opening_runs(runner, 60, 9, 0):
        plans.look_at(plan, run)
    for number, plan in enumerate(plans):
        made.append((plan, runner.run(plan, 60)))
        plans.learn(number, *made[-1])
    return made


@pytest.mark.once
def test_preemptions_are_tried_with_notes_of_what_is_shared_only(runner: Runner) -> None:
    with runner:
        made = hunted(runner, 6)
        full = [runner.run(replace(plan, left_out=()), 60) for plan, _ in made if plan.left_out and plan.triggers]
    short = [run for plan, run in made if plan.left_out and plan.triggers]
    assert short
    for brief, whole in zip(short, full, strict=True):
        assert brief.log.ending.digest == whole.log.ending.digest
        assert len(brief.touches) < 100 < 500 < len(whole.touches)
        assert _of_together(brief) == _of_together(whole)


def _of_together(run: TargetRun) -> list[tuple[str, int, int]]:
    shared = shared_places(run.touches, ())
    return [(touch.thread, touch.time, touch.place) for touch in run.touches if touch.place in shared]


@pytest.mark.once
def test_the_opening_that_is_drawn_notes_nothing_and_so_teaches_nothing(runner: Runner) -> None:
    with runner:
        first = runner.run(Plan("profile"), 60)
        plans = HuntPlans(first, 0, 6)
        made = list(opening_runs(runner, 60, 9, 0))
        for plan, run in sorted(made, key=lambda one: one[0].strategy != "profile"):
            plans.look_at(plan, run)
    assert plan.strategy == "pct"
    assert next(one for one in plans if one.triggers).left_out


def test_short_runs_note_everything(tmp_path: Path) -> None:
    with _runner(LITTLE, tmp_path) as runner:
        assert not any(plan.left_out for plan, _ in hunted(runner, 12))


@pytest.mark.once
def test_partial_order_sampling_leaves_out_what_is_not_shared_and_all_others_note_everything(runner: Runner) -> None:
    with runner:
        made = hunted(runner, 30)
    others = [plan for plan, _ in made if not plan.triggers]
    assert {plan.strategy for plan in others} >= {"profile", "uniform"}
    sampling = [(plan, run) for plan, run in made if "partial_order" in plan.options]
    assert len(sampling) > 1
    assert all(plan.left_out and 0 < len(run.touches) < 100 for plan, run in sampling)
    assert not any(plan.left_out for plan in others if "partial_order" not in plan.options)


def touch(thread: str, place: int, name: str, *, changes: bool = True) -> Touch:
    return Touch(thread, place, place, place, (1, name), changes)


def test_what_only_one_thread_touches_or_nobody_changes_is_not_shared() -> None:
    touches = [
        touch("0.1", 1, "own"),
        touch("0.1", 2, "constant", changes=False),
        touch("0.2", 3, "constant", changes=False),
        touch("0.1", 4, "both", changes=False),
        touch("0.2", 5, "both"),
    ]
    assert shared_places(touches, ()) == {4, 5}


def test_what_an_idle_thread_may_take_over_and_locks_count_as_shared() -> None:
    touches = [touch("0.1", 1, "own"), touch("0.1", 2, "read", changes=False), touch("0.1", 3, LOCK)]
    assert shared_places(touches, ()) == {3}
    assert shared_places(touches, [Alternative("0", 1, 1, "0.2")]) == {1, 3}
    assert shared_places(touches, [Alternative("0", 1, 1, "0.1")]) == {3}


def told(touches: list[Touch], untouched: frozenset[int] = frozenset()) -> TargetRun:
    return SimpleNamespace(touches=touches, alternatives=(), untouched=untouched)  # type: ignore[return-value]


def test_a_place_that_turns_out_to_be_shared_is_noted_again() -> None:
    own = [touch("0.1", place, f"own {place}") for place in range(100, 700)]
    both = [touch(thread, place, "both") for thread in ("0.1", "0.2") for place in range(20)]
    places = UnsharedPlaces()
    places.learn(told(own + both, frozenset({900})))
    assert places.known == ()
    places.learn(told(own + both))
    assert places.known == (*range(100, 700), 900)
    places.learn(told([*own, *both, touch("0.2", 30, "own 100")]))
    assert places.known == (*range(101, 700), 900)
    places.learn(told([*own, *both, *(touch("0.2", 31, f"own {place}") for place in range(100, 120))]))
    assert places.known == ()
