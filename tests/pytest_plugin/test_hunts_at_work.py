"""Which known races are tried for a test, and what becomes of what they show."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from replay_dd.outcome import Outcome
from replay_dd.pytest_plugin import hunts_at_work
from replay_dd.pytest_plugin.asking import Asked
from replay_dd.pytest_plugin.hunted_call import WHICH_CALL
from replay_dd.pytest_plugin.hunts_at_work import HuntsAtWork
from replay_dd.pytest_plugin.known import Replayed
from replay_dd.pytest_plugin.results import NO_FAILURE, NOT_HUNTED, RACE, HuntResult

OWN = "test_it.py::test_it"
BACK = Replayed(Outcome.FAIL, "AssertionError")
GONE = Replayed(Outcome.PASS, "passed")
UNFIT = Replayed(Outcome.UNRESOLVED, "passed", "it starts no thread")

Worker = Callable[..., HuntsAtWork]


@pytest.fixture
def worker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Worker:
    """A worker for which logs of these names are of a test, of one of its calls, and show this when replayed."""

    def make(logs: dict[str, tuple[str, str, Replayed]]) -> HuntsAtWork:
        def read(path: Path) -> SimpleNamespace:
            test, call, shows = logs[path.name]
            environment = {WHICH_CALL: call} if call else {}
            program = SimpleNamespace(command=("pytest", test), environment=environment)
            return SimpleNamespace(program=program, shows=shows)

        for name in logs:
            (tmp_path / name).touch()
        monkeypatch.setattr(hunts_at_work, "read_log", read)
        monkeypatch.setattr(HuntsAtWork, "_replayed", lambda _, *about: about[-1].shows)
        monkeypatch.setattr(HuntsAtWork, "_hunt", lambda _, test, *more, **named: HuntResult(test, NO_FAILURE, 7))
        folder = str(tmp_path)
        return HuntsAtWork(folder, folder, folder, (), (), 60.0, None, None, 0)

    return make


@pytest.mark.once
@pytest.mark.parametrize(("shows", "verdict", "runs"), [(BACK, RACE, 1), (GONE, NO_FAILURE, 1), (UNFIT, NOT_HUNTED, 0)])
def test_known_races_are_tried_where_nothing_is_hunted(
    shows: Replayed, verdict: str, runs: int, worker: Worker
) -> None:
    asked = Asked(0, 60.0, known=("a.log",))
    found = worker({"a.log": (OWN, "", shows)}).hunt_test(OWN, "test_it.py", asked, 1, 1)
    assert (found.verdict, found.runs, bool(found.unfit)) == (verdict, runs, shows is UNFIT)


@pytest.mark.once
@pytest.mark.parametrize(("runs", "tried"), [(0, False), (5, True)])
def test_a_log_of_another_test_is_tried_only_beside_a_hunt(runs: int, tried: bool, worker: Worker) -> None:
    asked = Asked(runs, 60.0, known=("a.log",), for_several=True)
    found = worker({"a.log": ("test_it.py::test_other", "", BACK)}).hunt_test(OWN, "test_it.py", asked, 1, 1)
    assert (found.verdict == RACE) == tried
    assert not found.unfit


@pytest.mark.once
@pytest.mark.parametrize(("number", "failure"), [(1, "whole"), (2, "second"), (3, "")])
def test_a_call_tries_its_own_known_races(number: int, failure: str, worker: Worker) -> None:
    whole, second = (Replayed(Outcome.FAIL, name) for name in ("whole", "second"))
    logs = {"whole.log": (OWN, "", whole), "b.log": (OWN, "2", second)}
    asked = Asked(5, 60.0, known=tuple(logs))
    found = worker(logs).hunt_call(OWN, "test_it.py", asked, number)
    assert (found.failure, found.runs) == ((failure, 1) if failure else ("", 7))


@pytest.mark.once
def test_a_call_whose_log_is_unfit_is_hunted_all_the_same(worker: Worker) -> None:
    found = worker({"a.log": (OWN, "1", UNFIT)}).hunt_call(OWN, "test_it.py", Asked(5, 60.0, known=("a.log",)), 1)
    assert (found.verdict, found.runs) == (NO_FAILURE, 7)
    assert "it starts no thread" in found.unfit[0]


@pytest.mark.once
@pytest.mark.parametrize(
    ("calls", "several", "missed"), [(0, False, "ab"), (1, False, "b"), (2, False, ""), (0, True, "ab")]
)
def test_logs_of_calls_that_were_not_made_guard_against_nothing(
    calls: int, several: bool, missed: str, worker: Worker
) -> None:
    logs = {"a.log": (OWN, "", GONE), "b.log": (OWN, "2", GONE)}
    others = {"c.log": ("test_it.py::test_other", "", GONE)} if several else {}
    asked = Asked(5, 60.0, known=(*logs, *others), for_several=several)
    why = worker({**logs, **others}).not_called(OWN, asked, calls)
    assert [one.partition(": ")[0] for one in why] == [f"Cannot check the known race in {name}.log" for name in missed]


@pytest.mark.once
def test_a_log_that_cannot_be_read_is_told_by_the_calls_or_else_by_the_test(worker: Worker) -> None:
    asked = Asked(5, 60.0, known=("nothing.log",))
    assert worker({}).not_called(OWN, asked, 1) == ()
    (told,) = worker({}).not_called(OWN, asked, 0)
    assert told.startswith("Cannot check the known race in nothing.log: there is no log at ")
