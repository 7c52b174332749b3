"""Progress where no line can be overwritten: a line now and then."""

from __future__ import annotations

import pytest

from replay_dd.cli.progress import VARIABLE, Progress
from replay_dd.experiment.result import TestRecord
from replay_dd.outcome import Outcome


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    monkeypatch.delenv(VARIABLE, raising=False)
    return Clock()


def test_a_line_every_ten_seconds(clock: Clock, capsys: pytest.CaptureFixture[str]) -> None:
    progress = Progress(clock)
    for second in range(25):
        clock.now = 100.0 + second
        progress.show(f"run {second}")
    progress.clear()
    assert capsys.readouterr().err.splitlines() == ["replay-dd: run 10", "replay-dd: run 20"]


def test_lines_can_be_switched_off(
    clock: Clock, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(VARIABLE, "0")
    progress = Progress(clock)
    clock.now += 60
    progress.show("run 60")
    progress.note("it stays")
    assert capsys.readouterr().err == "replay-dd: it stays\n"


def test_the_pace(clock: Clock) -> None:
    progress = Progress(clock)
    assert progress.pace(3, 100) == ""
    clock.now += 20
    assert progress.pace(40, 960) == "2.0 a second, up to 960 more (8 min)"
    assert progress.pace(40, 20, at_least=True) == "2.0 a second, at least 20 more (10 s)"
    assert progress.pace(40, 20_000) == "2.0 a second, up to 20,000 more (2.8 h)"
    assert progress.pace(40, None) == "2.0 a second"
    clock.now += 100
    assert progress.pace(3, 2) == "1.5 a minute, up to 2 more (80 s)"


@pytest.mark.parametrize("halves, more", [(True, ", at least 7 more (14 s)"), (False, "")])
def test_what_a_search_still_needs(halves: bool, more: str, clock: Clock, capsys: pytest.CaptureFixture[str]) -> None:
    """One that finds 2 needed actions among 299 took 20 tests: no number of them follows from what is left."""
    observer = Progress(clock).observer("choice", halves=halves)
    clock.now += 10
    observer.on_test(TestRecord(5, 50, Outcome.FAIL, 100))
    (line,) = capsys.readouterr().err.splitlines()
    assert line == f"replay-dd: test 5: FAIL, 100 choices left; 0.5 a second{more}"
