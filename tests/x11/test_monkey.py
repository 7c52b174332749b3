"""Monkeys: random, but the same for the same seed; they find failures and record them."""

from __future__ import annotations

import random
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from recorders.monkey import MonkeyRecorder
from replay_dd.events.log import read_session
from replay_dd.events.model import EndingKind, InputKind, Rectangle, Screen, Window
from replay_dd.events.monkey import next_action
from replay_dd.events.run import Conditions
from replay_dd.events.wellformed import is_well_formed
from tests.x11.conftest import session_of

AREA = Rectangle(100, 50, 300, 200)
WINDOW = Window(0, "a", "A", "Title", AREA, Rectangle(120, 60, 30, 20))


@given(st.integers())
def test_what_a_monkey_does_is_well_formed_and_hits_the_window(seed: int) -> None:
    screen = Screen(800, 600)
    action = next_action(random.Random(seed), [WINDOW], screen)
    assert action == next_action(random.Random(seed), [WINDOW], screen)
    assert is_well_formed(action.inputs)
    assert action.window == 0
    for item in action.inputs:
        if item.kind is InputKind.MOVE:
            assert AREA.contains(item.x_px, item.y_px)


@given(st.integers(), st.integers(-500, 900), st.integers(-500, 900))
def test_positions_lie_on_the_screen(seed: int, x: int, y: int) -> None:
    area = Rectangle(x, y, 100, 100)
    action = next_action(random.Random(seed), [Window(0, "", "", "", area, area)], Screen(800, 600))
    for item in action.inputs:
        if item.kind is InputKind.MOVE:
            assert 0 <= item.x_px < 800
            assert 0 <= item.y_px < 600


def test_a_monkey_finds_a_failure_and_records_it(tmp_path: Path) -> None:
    log = tmp_path / "monkey.log"
    conditions = Conditions(patience_s=0.5)
    run = MonkeyRecorder().record(session_of("button:3=crash"), log, seed=1, actions=120, conditions=conditions)
    assert run.session.ending is not None
    assert run.session.ending.kind is EndingKind.SIGNAL
    assert run.session.verified
    assert run.session.actions[-1].button == 3
    assert read_session(log) == run.session


def test_a_monkey_may_find_nothing(tmp_path: Path) -> None:
    log = tmp_path / "monkey.log"
    run = MonkeyRecorder().record(session_of(""), log, seed=1, actions=10, conditions=Conditions(patience_s=0.5))
    assert run.session.ending is not None
    assert not run.session.ending.failed
    assert len(run.session.actions) == 10
