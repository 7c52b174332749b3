"""The time that the runs of a hunt get."""

from __future__ import annotations

import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from replay_dd.schedules.hunting import attempts
from replay_dd.schedules.hunting.hunt import Hunt, _batch, hunt
from replay_dd.schedules.hunting.options import HuntOptions
from replay_dd.schedules.hunting.plans import HuntPlans
from replay_dd.schedules.hunting.runs import HuntRuns
from replay_dd.schedules.model import Settings
from replay_dd.schedules.running.runner import Runner
from replay_dd.schedules.running.target import Plan, TargetRun, describe_program
from tests.schedules.logs import log_of

RUN = TargetRun(log_of([]), b"", "", "")
THREADS = """\
import threading

threads = [threading.Thread(target=len, args=("",)) for _ in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""


class Limits:
    """Notes the time limits of runs."""

    def __init__(self, why_fresh: str = "") -> None:
        self.limits: list[float | None] = []
        self.why_fresh = why_fresh

    def run(self, plan: Plan, time_limit_s: float | None) -> TargetRun:
        self.limits.append(time_limit_s)
        return RUN


@pytest.mark.once
@pytest.mark.parametrize(
    ("time_limit_s", "left_s", "least", "most"),
    [
        (30.0, None, 30.0, 30.0),
        (None, None, None, None),
        (30.0, 3600.0, 30.0, 30.0),
        (None, 3600.0, 1.0, 3600.0),
        (7200.0, 3600.0, 1.0, 3600.0),
        (30.0, -5.0, 1.0, 1.0),
    ],
)
def test_a_run_gets_no_more_than_what_is_left(
    time_limit_s: float | None, left_s: float | None, least: float | None, most: float | None
) -> None:
    runner = Limits()
    ends_at = None if left_s is None else time.monotonic() + left_s
    HuntRuns(cast("Runner", cast("Any", runner)), RUN, 1, time_limit_s, ends_at).run(Plan())
    (limit,) = runner.limits
    if least is None or most is None:
        assert limit is None
    else:
        assert limit is not None
        assert least <= limit <= most


@pytest.mark.parametrize(
    ("why_fresh", "stopped", "limits"),
    [
        ("", False, [12.0]),
        ("", True, [90.0]),  # each run has to load the program from now on
        ("no room", True, [12.0]),  # the first run has loaded it
    ],
)
def test_the_time_of_a_copy_is_no_limit_for_a_process_that_loads_the_program(
    why_fresh: str, stopped: bool, limits: list[float]
) -> None:
    runner = Limits(why_fresh)
    first = replace(RUN, log=replace(RUN.log, ending=replace(RUN.log.ending, seconds=0.1)))
    batch = _batch(cast("Runner", cast("Any", runner)), first, HuntOptions(1, time_limit_s=90.0), None)
    assert batch.fresh_limit_s == (12.0 if why_fresh else 90.0)
    if stopped:
        runner.why_fresh = "forked runs differ from fresh ones"
    batch.run(Plan())
    assert runner.limits == limits


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """The time is over as soon as this set is not empty."""
    over: set[str] = set()
    monkeypatch.setattr(attempts, "is_over", lambda ends_at: bool(over))
    return over


def hunted(folder: Path, runs: int) -> Hunt:
    (folder / "prog.py").write_text(THREADS)
    program = describe_program((sys.executable, "prog.py"), directory=folder)
    return hunt(program, Settings(), HuntOptions(runs=runs, strategy="random", time_budget_s=3600, always_verify=False))


@pytest.mark.once
@pytest.mark.parametrize("is_the_budget", [True, False])
def test_a_run_that_the_hunt_has_ended_is_none_of_the_program_s_endings(
    is_the_budget: bool, tmp_path: Path, clock: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    real, made = Runner.run, []

    def run(self: Runner, plan: Plan, time_limit_s: float | None) -> TargetRun:
        found = real(self, plan, time_limit_s)
        made.append(plan)
        if len(made) != 3:
            return found
        if is_the_budget:
            clock.add("over")
        ending = replace(found.log.ending, timed_out=True, complete=False)
        return replace(found, log=replace(found.log, ending=ending))

    monkeypatch.setattr(Runner, "run", run)
    found = hunted(tmp_path, 5)
    if is_the_budget:
        assert (found.runs, found.out_of_time, found.others) == (2, True, ())
    else:
        assert (found.runs, found.out_of_time) == (5, False)
        assert [one.text for one in found.others] == ["still running at the time limit"]


@pytest.mark.once
def test_nothing_is_learnt_when_there_is_no_time_to_use_it(
    tmp_path: Path, clock: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def learn(*_: object, **__: object) -> None:
        raise AssertionError("that takes long")

    clock.add("over")
    monkeypatch.setattr(HuntPlans, "__init__", learn)
    (tmp_path / "prog.py").write_text(THREADS)
    program = describe_program((sys.executable, "prog.py"), directory=tmp_path)
    found = hunt(program, Settings(), HuntOptions(runs=50, time_budget_s=3600, always_verify=False))
    assert found.out_of_time
    assert found.passing is not None
    assert found.coverage is None


@pytest.mark.once
def test_what_earlier_runs_have_noted_counts_for_a_default_run_that_fails(
    tmp_path: Path, clock: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    compared: list[tuple[str, list[str]]] = []

    def compare(failed: TargetRun, time_limit_s: float | None, others: list[TargetRun]) -> None:
        compared.append((failed.log.strategy, [other.log.strategy for other in others]))

    clock.add("over")
    monkeypatch.setattr("replay_dd.schedules.hunting.hunt.doubt_of", compare)
    (tmp_path / "prog.py").write_text(THREADS)
    program = describe_program((sys.executable, "prog.py"), directory=tmp_path)
    hunt(program, Settings(), HuntOptions(runs=3, time_budget_s=3600, always_verify=False))
    ((last, before),) = compared
    assert last == str(Plan())
    assert before
    assert last not in before


UPDATES = """\
import threading

value = 0

def add():
    global value
    for _ in range(5):
        seen = value
        value = seen + 1

threads = [threading.Thread(target=add) for _ in range(3)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert value == 15
"""


@pytest.mark.once
@pytest.mark.parametrize(("simplify_s", "is_simple"), [(0.0, False), (3600.0, True)])
def test_what_is_found_at_the_last_moment_is_simplified_if_that_has_time_of_its_own(
    simplify_s: float, is_simple: bool, tmp_path: Path
) -> None:
    (tmp_path / "prog.py").write_text(UPDATES)
    program = describe_program((sys.executable, "prog.py"), directory=tmp_path)
    found = hunt(program, Settings(), HuntOptions(runs=20, time_budget_s=1e-9, simplify_s=simplify_s))
    assert found.failing is not None
    assert (len(found.failing.triggers) == 1) == is_simple
    assert (found.simplifying_runs > 0) == is_simple
