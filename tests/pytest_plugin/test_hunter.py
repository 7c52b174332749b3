"""Hunts that go wrong."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from replay_dd.pytest_plugin import hunter
from replay_dd.pytest_plugin.hunter import Hunter, Wanted
from replay_dd.pytest_plugin.results import NO_FAILURE, NO_VERDICT, NOT_HUNTED
from replay_dd.schedules.hunt import EndingCount, Hunt
from replay_dd.schedules.model import Log, Settings
from replay_dd.schedules.target import describe_program


@pytest.mark.once
def test_an_error_of_ours_costs_one_hunt_and_not_the_suite(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise KeyError("x")

    program = describe_program((sys.executable, "-c", ""), directory=tmp_path)
    monkeypatch.setattr(hunter, "hunt", fail)
    result = Hunter(program, tmp_path, tmp_path).hunt("t.py::test", program, Settings(), Wanted(1, 10))
    assert (result.verdict, result.why) == (NOT_HUNTED, "replay-dd failed: KeyError: 'x'")


def hunted(passing: Log | None, *others: EndingCount) -> Hunt:
    known = {"passing": passing, "failing": None, "one_schedule": False, "runs": 3, "others": others, "failures": ()}
    return Hunt(**{name: known.get(name) for name in Hunt._fields})  # type: ignore[arg-type]


@pytest.mark.once
def test_runs_without_a_verdict_are_no_success() -> None:
    endless = EndingCount("still running at the time limit", 2, 1)
    why = "still running at the time limit (2 of 3 runs)"
    some: Log = object()  # type: ignore[assignment]
    assert (hunter._verdict(hunted(None, endless)), hunter._why(hunted(None, endless))) == (NO_VERDICT, why)
    assert (hunter._verdict(hunted(some, endless)), hunter._why(hunted(some, endless))) == (NO_FAILURE, why)
    assert (hunter._verdict(hunted(some)), hunter._why(hunted(some))) == (NO_FAILURE, "")


@pytest.mark.once
@pytest.mark.parametrize(
    ("seconds", "took_s", "load_s", "limit_s"),
    [
        (2, None, 1.0, 30),
        (2, 0.1, None, 30),
        (2, 0.1, 1.0, 13),
        (2, 5.0, 1.0, 30),
        (20, 0.1, 1.0, 20),
        (60, None, None, 60),
        (600, 0.1, 1.0, 120),
    ],
)
def test_a_short_test_gets_less_time_for_a_run_than_it_has_in_all_only_if_that_is_much(
    seconds: float, took_s: float | None, load_s: float | None, limit_s: float
) -> None:
    assert Wanted(1, seconds, took_s=took_s).limit_s(load_s) == limit_s


def test_tests_whose_long_names_differ_at_the_end_keep_their_logs_apart() -> None:
    names = [hunter.folder_name(f"test_it.py::test_it[{'x' * length}]") for length in (3, 300, 301)]
    assert names[0] == "test_it.py.test_it[xxx]"
    assert len({*names}) == 3
    assert max(map(len, names)) < 120
