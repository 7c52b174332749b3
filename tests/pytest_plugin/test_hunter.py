"""Hunts that go wrong."""

from __future__ import annotations

import sys
import time
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from replay_dd.pytest_plugin import hunter
from replay_dd.pytest_plugin.hunter import Hunter, Wanted
from replay_dd.pytest_plugin.results import DEADLOCK, NO_FAILURE, NO_VERDICT, NOT_HUNTED, RACE, summary
from replay_dd.schedules.hunting.hunt import EndingCount, Hunt
from replay_dd.schedules.hunting.options import HuntOptions
from replay_dd.schedules.model import Ending, Log, Program, Settings, Waiter
from replay_dd.schedules.running.target import describe_program
from replay_dd.schedules.story.explain import Explanation
from tests.schedules.logs import FAILED, PASSED, log_of

DEADLOCKED = replace(PASSED, status=125, deadlock=(Waiter("0", "waits", ()),))


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
@pytest.mark.parametrize("real_clock", [False, True])
def test_a_failure_is_isolated_with_the_clock_that_the_hunt_came_to(
    real_clock: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A loaded suite has one clock, and a hunt goes on with the real one where the virtual one misleads the program."""
    program = describe_program((sys.executable, "-c", ""), directory=tmp_path)
    passing, failing = (
        replace(log, settings=replace(log.settings, real_clock=real_clock)) for log in (log_of([]), log_of([], FAILED))
    )
    clocks: list[bool] = []

    def loaded(self: Hunter, settings: Settings, test: str) -> tuple[bool, str]:
        return settings.real_clock, ""

    def isolating(*_: object, start: bool) -> None:
        clocks.append(start)
        raise KeyboardInterrupt

    monkeypatch.setattr(Hunter, "_start", loaded)
    monkeypatch.setattr(hunter, "hunt", lambda *_, **__: hunted(passing)._replace(failing=failing))
    monkeypatch.setattr(hunter, "Runner", isolating)
    Hunter(program, tmp_path, tmp_path).hunt("t.py::test", program, Settings(), Wanted(1, 10))
    assert clocks == [real_clock]


@pytest.mark.once
@pytest.mark.parametrize(
    ("instead_of", "why"),
    [("", ""), ("TimeoutError", "hunted with the real clock: with the virtual one, it ended with TimeoutError")],
)
def test_a_hunt_that_left_the_virtual_clock_says_so(
    instead_of: str, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = describe_program((sys.executable, "-c", ""), directory=tmp_path)
    monkeypatch.setattr(Hunter, "_start", lambda *_: (None, ""))
    monkeypatch.setattr(hunter, "hunt", lambda *_, **__: hunted(log_of([]))._replace(instead_of=instead_of))
    result = Hunter(program, tmp_path, tmp_path).hunt("t.py::test", program, Settings(), Wanted(1, 10))
    assert (result.verdict, result.why) == (NO_FAILURE, why)


@pytest.mark.once
def test_what_is_found_is_simplified_for_as_long_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[HuntOptions] = []

    def note(program: Program, settings: Settings, options: HuntOptions, **_: object) -> Hunt:
        asked.append(options)
        return hunted(log_of([]))

    program = describe_program((sys.executable, "-c", ""), directory=tmp_path)
    monkeypatch.setattr(Hunter, "_start", lambda *_: (None, ""))
    monkeypatch.setattr(hunter, "hunt", note)
    Hunter(program, tmp_path, tmp_path).hunt("t.py::test", program, Settings(), Wanted(1, 10))
    assert [(one.time_budget_s, one.simplify_s) for one in asked] == [(10, 10)]


@pytest.mark.once
@pytest.mark.parametrize(
    ("hunted_s", "left_s", "least_s", "most_s"),
    [(10, None, 120, 120), (60, None, 300, 300), (10, 1e6, 1e5, 1e6), (10, -1e6, 10, 10)],
    ids=["no limit", "no limit, longer hunt", "some left", "over"],
)
def test_an_isolation_has_what_is_left_of_the_time_for_all_tests_or_some_times_that_of_the_hunt(
    hunted_s: float,
    left_s: float | None,
    least_s: float,
    most_s: float,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    program = describe_program((sys.executable, "-c", ""), directory=tmp_path)
    budgets: list[float] = []

    def isolating(*_: object, time_budget_s: float, **__: object) -> None:
        budgets.append(time_budget_s)
        raise KeyboardInterrupt

    monkeypatch.setattr(Hunter, "_start", lambda *_: (None, ""))
    monkeypatch.setattr(hunter, "hunt", lambda *_, **__: hunted(log_of([]))._replace(failing=log_of([], FAILED)))
    monkeypatch.setattr(hunter, "Runner", lambda *_, **__: nullcontext())
    monkeypatch.setattr(hunter, "isolate", isolating)
    wanted = Wanted(1, hunted_s, until=None if left_s is None else time.monotonic() + left_s)
    Hunter(program, tmp_path, tmp_path).hunt("t.py::test", program, Settings(), wanted)
    (budget_s,) = budgets
    assert least_s <= budget_s <= most_s


ALWAYS = hunted(None)._replace(failing=log_of([], FAILED), asleep_s=0.0312, failures=())
HAS_FAILED = Wanted(1, 10, failed=True)


@pytest.mark.once
@pytest.mark.parametrize(
    ("wanted", "found", "delay_ms", "delays"),
    [
        (HAS_FAILED, ALWAYS, 10, [10, 40]),
        (HAS_FAILED, ALWAYS._replace(asleep_s=0.0101), 10, [10, 1000]),
        (HAS_FAILED, ALWAYS._replace(asleep_s=1.0), 10, [10, 1000]),
        (HAS_FAILED, ALWAYS._replace(asleep_s=1.5), 10, [10]),
        (HAS_FAILED, ALWAYS._replace(asleep_s=0.0), 10, [10]),
        (HAS_FAILED, ALWAYS._replace(interrupted=True), 10, [10]),
        (HAS_FAILED, ALWAYS._replace(one_schedule=True), 10, [10]),
        (HAS_FAILED, ALWAYS._replace(failing=None), 10, [10]),
        (HAS_FAILED, ALWAYS, 0, [0]),
        (replace(HAS_FAILED, until=0.0), ALWAYS, 10, [10]),
        (replace(HAS_FAILED, failed=False), ALWAYS, 10, [10]),
    ],
    ids=[
        "hunted again",
        "sleeps add up",
        "a second",
        "too long",
        "no sleep",
        "Ctrl-C",
        "alone",
        "passes",
        "asked for",
        "late",
        "plainly",
    ],
)
def test_a_test_that_fails_plainly_and_always_is_hunted_again_with_threads_as_late_as_its_sleep(
    wanted: Wanted, found: Hunt, delay_ms: int, delays: list[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = describe_program((sys.executable, "-c", ""), directory=tmp_path)
    hunts: list[int] = []
    suites: list[int] = []

    def start(self: Hunter, settings: Settings, test: str) -> tuple[None, str]:
        suites.append(settings.max_delay_ns // 10**6)
        return None, ""

    def note(program: Program, settings: Settings, *_: object, **__: object) -> Hunt:
        hunts.append(settings.max_delay_ns // 10**6)
        return found

    monkeypatch.setattr(Hunter, "_start", start)
    monkeypatch.setattr(hunter, "hunt", note)
    monkeypatch.setattr(hunter, "decided_by_chance", lambda *_, **__: "")
    settings = Settings(max_delay_ns=delay_ms * 10**6)
    result = Hunter(program, tmp_path, tmp_path).hunt("t.py::test", program, settings, wanted)
    assert hunts == suites == delays
    assert result.runs == 3 * len(delays)
    assert "late" not in result.why, "it fails always, or was not hunted again"


@pytest.mark.once
@pytest.mark.parametrize("failed", [True, False])
def test_a_test_that_failed_by_itself_and_passes_under_each_schedule_is_told(
    failed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = describe_program((sys.executable, "-c", ""), directory=tmp_path)
    monkeypatch.setattr(Hunter, "_start", lambda *_: (None, ""))
    monkeypatch.setattr(hunter, "hunt", lambda *_, **__: hunted(log_of([]))._replace(asleep_s=0.0))
    monkeypatch.setattr(hunter, "decided_by_chance", lambda *_, **__: "")
    result = Hunter(program, tmp_path, tmp_path).hunt("t.py::test", program, Settings(), Wanted(1, 10, failed=failed))
    told = [line for line in summary([result], 1, 1) if "alone it passes under each schedule that was tried" in line]
    assert bool(told) == failed


@pytest.mark.once
@pytest.mark.parametrize(("ending", "kind"), [(FAILED, RACE), (DEADLOCKED, DEADLOCK)])
def test_what_was_not_isolated_is_called_what_it_is_and_says_why(
    ending: Ending, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = describe_program((sys.executable, "-c", ""), directory=tmp_path)
    found = hunted(log_of([]))._replace(failing=log_of([], ending), interrupted=True)
    monkeypatch.setattr(Hunter, "_start", lambda *_: (None, ""))
    monkeypatch.setattr(hunter, "hunt", lambda *_, **__: found)
    result = Hunter(program, tmp_path, tmp_path).hunt("t.py::test", program, Settings(), Wanted(1, 10))
    assert (result.verdict, result.kind, result.switch) == (RACE, kind, "not isolated")
    assert result.story == (f"{kind.upper()}, not isolated: interrupted",)


@pytest.mark.once
@pytest.mark.parametrize(("seconds", "goes_on"), [(0.0, True), (1e6, False)])
def test_where_no_time_was_left_for_the_story_the_command_that_tells_it_is_named(
    seconds: float, goes_on: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = describe_program((sys.executable, "-c", ""), directory=tmp_path)
    found = hunted(log_of([]))._replace(failing=log_of([], FAILED))
    ends = {"passing": log_of([]), "failing": log_of([], FAILED)}
    answer = SimpleNamespace(
        **ends,
        isolation=SimpleNamespace(stopped_by=None, complete=not goes_on),
        switch=None,
        gil=SimpleNamespace(label=""),
    )
    monkeypatch.setattr(Hunter, "_start", lambda *_: (None, ""))
    monkeypatch.setattr(hunter, "hunt", lambda *_, **__: found)
    monkeypatch.setattr(hunter, "Runner", lambda *_, **__: nullcontext(SimpleNamespace(why_fresh="")))
    monkeypatch.setattr(hunter, "isolate", lambda *_, **__: answer)
    monkeypatch.setattr(hunter, "repeated", lambda log, *_: (log, ""))
    late: list[bool] = []

    def explain(*_: object, ends_at: float, **__: object) -> Explanation:
        late.append(ends_at <= time.monotonic())
        return Explanation(None, "nothing was seen")

    monkeypatch.setattr(hunter, "explain", explain)
    monkeypatch.setattr(hunter, "schedules_as_text", lambda *_: iter(["The run FAILS"]))
    monkeypatch.setattr(hunter, "proof_in_words", lambda _: "3 of 3")
    wanted = Wanted(1, seconds, until=time.monotonic())
    result = Hunter(program, tmp_path, tmp_path).hunt("t.py::test", program, Settings(), wanted)
    assert (result.why, result.switch) == ("", "not isolated" if goes_on else "several switches")
    told = [line.split("schedules ")[1] for line in result.story if " schedules " in line]
    assert told == (["t.py.test/minimal-pass.log t.py.test/minimal-fail.log"] if goes_on else [])
    assert late == [goes_on]  # nor is there any for orders


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


@pytest.mark.parametrize(
    "tests",
    [
        [f"test_it.py::test_it[{text}]" for text in ("a.b", "a/b", "a::b", "a-b", "a b", "a:b", "a+b", "a\\xe9b")],
        ["tests/a/test_x.py::test_it", "tests/a.test_x.py::test_it", "tests/a-test_x.py::test_it"],
        ["test_x.py::TestA::test_it", "TestA/test_x.py::test_it", "test_x.py::TestA.test_it"],
        ["test_x.py::test_it", "-test_x.py::test_it", ".test_x.py::test_it"],
    ],
)
def test_tests_whose_names_become_alike_keep_their_logs_apart(tests: list[str]) -> None:
    names = [hunter.folder_name(test) for test in tests]
    assert names[0] == tests[0].replace("::", ".").replace("/", ".")
    assert len({*names}) == len(names)
    assert not any("/" in name for name in names)


def test_the_calls_of_a_test_keep_their_logs_apart() -> None:
    names = [hunter.folder_name("test_it.py::test_it", call) for call in range(4)]
    assert names[0] == names[1] == "test_it.py.test_it"
    assert len({*names}) == 3


@pytest.mark.once
@pytest.mark.parametrize(
    ("found", "failed", "asked"),
    [
        (ALWAYS, False, [True]),
        (ALWAYS, True, [True]),
        (hunted(log_of([])), True, [False]),
        (hunted(log_of([])), False, []),
        (ALWAYS._replace(interrupted=True), False, []),
        (ALWAYS._replace(one_schedule=True), False, []),
    ],
    ids=["fails always", "failed by itself, too", "passes always", "passed by itself, too", "Ctrl-C", "alone"],
)
def test_where_no_schedule_decides_chance_may(
    found: Hunt, failed: bool, asked: list[bool], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = describe_program((sys.executable, "-c", ""), directory=tmp_path)
    told: list[bool] = []

    def by_chance(*_: object, fails: bool, **__: object) -> str:
        told.append(fails)
        return "chance decides"

    monkeypatch.setattr(Hunter, "_start", lambda *_: (None, ""))
    monkeypatch.setattr(hunter, "hunt", lambda *_, **__: found._replace(asleep_s=0.0))
    monkeypatch.setattr(hunter, "decided_by_chance", by_chance)
    result = Hunter(program, tmp_path, tmp_path).hunt("t.py::test", program, Settings(), Wanted(1, 10, failed=failed))
    assert told == asked
    assert result.why.endswith("chance decides") == bool(asked)
    assert "alone it passes under each schedule" not in result.why


@pytest.mark.once
def test_two_runs_that_only_what_came_from_outside_tells_apart_are_no_race(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = describe_program((sys.executable, "-c", ""), directory=tmp_path)
    passing, failing = (
        replace(log_of([], ending), arrivals=(("arrival", "0.1", 1, by, 4, None),))
        for ending, by in ((PASSED, "0.1"), (FAILED, ""))
    )
    monkeypatch.setattr(Hunter, "_start", lambda *_: (None, ""))
    monkeypatch.setattr(hunter, "hunt", lambda *_, **__: hunted(passing)._replace(failing=failing))
    result = Hunter(program, tmp_path, tmp_path).hunt("t.py::test", program, Settings(), Wanted(1, 10))
    assert result.verdict == NO_VERDICT
    assert "in the failing run, wait 1 of thread 0.1 for something outside ends without an answer" in result.why
