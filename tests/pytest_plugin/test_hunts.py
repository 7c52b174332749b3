"""What pytest's process does while it waits for a hunt, and what a call does in one."""

from __future__ import annotations

import sys
from signal import SIGINT, SIGKILL, Signals
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from replay_dd.pytest_plugin import hunts
from replay_dd.pytest_plugin.asking import Asked
from replay_dd.pytest_plugin.hunted_call import WHICH_CALL, HuntedCalls, KnownRacesOfCalls
from replay_dd.pytest_plugin.hunts import Hunts
from replay_dd.pytest_plugin.results import NO_FAILURE, HuntResult


@pytest.mark.once
@pytest.mark.parametrize(
    ("interrupts", "sent"), [(0, []), (1, [SIGINT]), (2, [SIGINT]), (3, [SIGINT, SIGKILL]), (4, [SIGINT, SIGKILL])]
)
def test_a_second_ctrl_c_does_not_cost_what_a_hunt_has_found(
    interrupts: int, sent: list[Signals], monkeypatch: pytest.MonkeyPatch
) -> None:
    waiting: list[BaseException | None] = [*(KeyboardInterrupt() for _ in range(interrupts)), None]
    signals: list[Signals] = []

    def poll() -> None:
        error = waiting.pop(0)
        if error is not None:
            raise error

    monkeypatch.setattr(hunts, "poll", lambda: SimpleNamespace(register=lambda *_: None, poll=poll))
    monkeypatch.setattr(hunts, "kill", lambda _, number: signals.append(number))
    monkeypatch.setattr(hunts, "write_message", lambda *_: None)
    monkeypatch.setattr(hunts, "read_message", lambda *_: (True, "a race"))
    own = Hunts.__new__(Hunts)
    own._asking = own._answers = -1
    own._shows_progress = False
    own._process = SimpleNamespace(pid=1)  # type: ignore[assignment]  # nothing else of it is used
    assert own._ask("hunt_test") == (True, "a race", interrupts > 0)
    assert signals == sent


@pytest.mark.once
def test_a_run_that_hunts_the_whole_test_makes_its_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    """As one of `replay-dd hunt -- pytest` does."""
    monkeypatch.setitem(sys.modules, "_replay_dd_runtime", ModuleType("_replay_dd_runtime"))
    monkeypatch.delenv(WHICH_CALL, raising=False)
    made: list[int] = []
    calls = HuntedCalls(SimpleNamespace(node=SimpleNamespace(nodeid="test_it.py::test_it")))  # type: ignore[arg-type]
    assert calls.hunt(made.append, 1, runs=5).verdict == NO_FAILURE
    with pytest.raises(TypeError):
        calls.check(made.append)
    assert made == [1]


@pytest.mark.once
@pytest.mark.parametrize(
    ("known", "whole", "fixtures", "runs"),
    [
        ((), True, (), 9),
        ((), False, (), None),
        (("a.log",), True, (), 9),
        (("a.log",), False, (), 0),
        (("a.log",), True, ("replay_dd",), None),
    ],
)
def test_a_test_that_is_not_hunted_has_its_known_races_tried(
    known: tuple[str, ...], whole: bool, fixtures: tuple[str, ...], runs: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    item: Any = SimpleNamespace(nodeid="test_it.py::test_it", fixturenames=fixtures)
    own = Hunts.__new__(Hunts)
    own._asked = Asked(9, 60.0)
    asked: list[Asked] = []
    monkeypatch.setattr(Hunts, "asked_for", lambda *_: Asked(9, 60.0, known=known))
    monkeypatch.setattr(Hunts, "_hunted", lambda _, item, name, one, *more: asked.append(one) or HuntResult("", "", 1))
    own.hunt_test(item, 1, 1, 0.0, whole=whole, failed=False)
    assert [one.runs for one in asked] == ([] if runs is None else [runs])
    own.hunt_call(item, 1, {"runs": 3}, ())
    assert (asked[-1].runs, asked[-1].known) == (3, known)


@pytest.mark.once
@pytest.mark.parametrize(
    ("passes", "why", "fails"), [(True, ("gone",), True), (True, (), False), (False, ("gone",), False)]
)
def test_a_test_that_passes_without_its_known_calls_fails(
    passes: bool, why: tuple[str, ...], fails: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(HuntedCalls, "not_called", lambda _: why)
    test: Any = SimpleNamespace(funcargs={"replay_dd": HuntedCalls(SimpleNamespace())})  # type: ignore[arg-type]
    forced: list[BaseException] = []
    outcome = SimpleNamespace(excinfo=None if passes else (ValueError,), force_exception=forced.append)
    around: Any = KnownRacesOfCalls().pytest_pyfunc_call(test)
    next(around)
    with pytest.raises(StopIteration):
        around.send(outcome)
    assert [str(one) for one in forced] == (["gone"] if fails else [])


@pytest.mark.once
@pytest.mark.parametrize(
    ("runs", "total_s", "words"),
    [
        (100, None, "each under up to 100 schedules for up to 60 s"),
        (1, 600.0, "each under up to 1 schedule for up to 60 s, 600 s in all"),
    ],
)
def test_what_is_asked_for_is_told_in_words(runs: int, total_s: float | None, words: str) -> None:
    own = Hunts.__new__(Hunts)
    own._asked, own._total_s = Asked(runs, 60.0), total_s
    assert own.limits == words
