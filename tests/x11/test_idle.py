"""When a program that is never idle has done what an action made it do."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from replay_dd.events.model import EndingKind, GuiProgram, Session
from replay_dd.events.run import Conditions, run_session
from replay_dd.events.x11 import idle
from replay_dd.events.x11.display import PrivateDisplay
from replay_dd.events.x11.idle import CALM_AFTER, IMPATIENT_AFTER, IdleRule
from replay_dd.events.x11.turns import TURNS, IsAnswered
from tests.x11.acts import key, motion
from tests.x11.conftest import SCREEN
from tests.x11.test_toolkits import TOOLKITS, python_with

PATIENCE_S = 4.0
# It never waits for anything.
BUSY = """
import tkinter
root = tkinter.Tk()
root.bind("<Key>", lambda event: print("key", event.keysym, flush=True))
while True:
    root.update()
"""


class Clock:
    """Passes only while somebody sleeps."""

    def __init__(self) -> None:
        self.now_s = 0.0

    def monotonic(self) -> float:
        return self.now_s

    def sleep(self, seconds: float) -> None:
        self.now_s += seconds


class Connection:
    def sync(self) -> None:
        """There is nothing to wait for."""


class Busy:
    """Processes that are idle only where they are told to be."""

    reads_terminal = False
    excused = 0
    idle = False

    def look(self) -> tuple[()] | None:
        return () if self.idle else None

    def starved_s(self) -> float:
        return 0.0

    def excuse_sleepers(self) -> None:
        self.excused += 1


class Loop:
    """An event loop that takes two looks to answer."""

    def __init__(self) -> None:
        self.asked = 0

    def ask(self) -> IsAnswered:
        self.asked += 1
        looks = iter([False, True])
        return lambda: next(looks)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(idle, "time", made)
    return made


def rule_with(ask: Callable[[], IsAnswered | None], *others: Any, program: Any = None) -> IdleRule:
    connection: Any = Connection()
    rule = IdleRule(connection, [program or Busy(), *others], lambda: False, PATIENCE_S)
    rule.ask = ask
    return rule


def test_who_is_never_idle_is_asked_when_patience_has_run_out(clock: Clock) -> None:
    loop = Loop()
    rule = rule_with(loop.ask)
    waits = []
    for _ in range(IMPATIENT_AFTER + 2):
        begin, asked = clock.now_s, loop.asked
        assert rule.wait()
        assert loop.asked - asked == TURNS
        waits.append(clock.now_s - begin)
    assert min(waits[:IMPATIENT_AFTER]) > PATIENCE_S
    assert max(waits[IMPATIENT_AFTER:]) < 1


def test_who_is_busy_from_the_beginning_is_asked_early_at_once(clock: Clock) -> None:
    rule = rule_with(Loop().ask)
    assert rule.wait(PATIENCE_S)
    begin = clock.now_s
    assert rule.wait()
    assert clock.now_s - begin < 1


@pytest.mark.parametrize("calm, asked_late", [(CALM_AFTER - 1, False), (CALM_AFTER, True)])
def test_who_looks_idle_now_and_then_is_still_asked_early(clock: Clock, calm: int, asked_late: bool) -> None:
    program: Any = Busy()
    rule = rule_with(Loop().ask, program=program)
    assert rule.wait(PATIENCE_S)
    program.idle = True
    assert all(rule.wait() for _ in range(calm))
    program.idle = False
    begin = clock.now_s
    assert rule.wait()
    assert (clock.now_s - begin > PATIENCE_S) is asked_late


@pytest.mark.parametrize("ask, expected", [(lambda: None, [4, 4, 4, 2, 1]), (lambda: lambda: False, [8, 8, 8, 2, 1])])
def test_patience_gets_shorter_if_nobody_answers(
    clock: Clock, ask: Callable[[], IsAnswered | None], expected: list[int]
) -> None:
    rule = rule_with(ask)
    waits = []
    for _ in range(IMPATIENT_AFTER + 2):
        begin = clock.now_s
        assert not rule.wait()
        waits.append(round(clock.now_s - begin))
    assert waits == expected


def test_an_answer_does_not_count_while_the_window_manager_is_at_work(clock: Clock) -> None:
    assert not rule_with(Loop().ask, Busy()).wait()


def test_a_program_of_tk_that_never_waits_is_ready_when_it_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    python = python_with(TOOLKITS["Tk"][1])
    if python is None:
        pytest.skip("NO TK: busy programs of it are not tried (on Debian: apt install python3-tk)")
    ready: list[bool] = []
    wait = IdleRule.wait

    def noting(rule: IdleRule, patience_s: float | None = None) -> bool:
        ready.append(wait(rule, patience_s))
        return ready[-1]

    monkeypatch.setattr(IdleRule, "wait", noting)
    session = Session(GuiProgram((python, "-c", BUSY), str(Path.cwd()), here=True), SCREEN)
    with PrivateDisplay(SCREEN, "") as display:
        ready.clear()
        done = run_session(session, (motion(20, 20), *map(key, "abc")), display, Conditions(patience_s=0.2))
    assert done.ending.kind is EndingKind.OPEN, done.ending
    assert "".join(done.ending.output.split()) == "keyakeybkeyc"
    assert all(ready)
