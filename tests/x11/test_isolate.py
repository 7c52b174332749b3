"""Isolation of the actions that a failure needs, on real displays."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from replay_dd.cli.replay_session import play_session
from replay_dd.cli.session_playback import conditions_of
from replay_dd.events.isolate import Plan, isolate_events
from replay_dd.events.log import read_session, write_session
from replay_dd.events.model import (
    Ending,
    EndingKind,
    Pace,
    Playback,
    Rectangle,
    Session,
    Window,
)
from replay_dd.events.run import Conditions
from replay_dd.experiment.baseline import Rate
from replay_dd.experiment.driver import Observer
from replay_dd.outcome import Outcome
from replay_dd.report.events import events_as_json, events_as_text, session_as_text
from replay_dd.report.events_strip import strip_of
from tests.x11.acts import MIDDLE, NEEDED, click, key, motion, noise, with_noise
from tests.x11.conftest import SCREEN, session_of

pytestmark = pytest.mark.once

PLAN = Plan(jobs=2, conditions=Conditions(hang_limit_s=0.5, patience_s=0.5))


def failing_session() -> Session:
    return session_of("in order=key:a+button:1+key:z", actions=with_noise(2, 3, 4, 2))


def test_the_needed_actions_are_found(tmp_path: Path) -> None:
    session = failing_session()
    told: list[int] = []
    found = isolate_events(
        session, replace(PLAN, pictures=tmp_path / "film"), observer=Observer(lambda record: told.append(record.number))
    )
    assert found.minimal.actions == NEEDED
    assert [session.actions[number] for number in found.needed] == list(NEEDED)
    assert found.ending.kind is EndingKind.SIGNAL
    assert found.isolation.complete
    assert found.isolation.baseline.rate == Rate(6, 6)
    assert found.isolation.proof.failing == Rate(3, 3)
    # Two bisections over 22 actions, a test after each, the check of three, the whole session, and one more because a
    # crash may be noticed one action late.
    assert found.isolation.tests <= 18
    assert told == list(range(1, len(found.isolation.steps) + 1))
    assert found.film is not None
    assert [frame.action for frame in found.film.frames] == list(NEEDED)
    assert all(frame.before is not None and frame.before.is_file() for frame in found.film.frames)
    strip = strip_of(found)
    assert [(frame.number, frame.png is not None) for frame in strip.frames] == [
        (number + 1, True) for number in found.needed
    ]
    # The window is 320 pixels wide, and the click is in its middle.
    view = strip.frames[1].view
    assert view is not None
    assert (SCREEN.width_px > view.width_px >= 320, SCREEN.height_px > view.height_px >= 200) == (True, True)
    assert view.x_px < MIDDLE[0] < view.x_px + view.width_px
    assert strip.end.headline.startswith("killed by SIGSEGV")
    assert strip.end.details


def test_a_difference_that_lies_in_the_passing_session(tmp_path: Path) -> None:
    # The program fails because nobody pressed q, which would have ended it: an action that is left out.
    area = Rectangle(0, 0, 10, 10)
    # The last action is never played: it comes after the failure.
    failing = (*(replace(action, window=0) for action in noise(9, 9)), NEEDED[0], NEEDED[1], key("b"))
    ending = replace(key("q"), window=0)
    session = session_of(
        "in order=key:a+button:1,key:q=exit0", actions=failing, windows=(Window(0, "", "", "One", area, area),)
    )
    passing = replace(
        session,
        actions=(*failing[:3], ending, *failing[3:]),
        windows=(Window(0, "", "", "Other", area, area),),
    )
    found = isolate_events(session, replace(PLAN, pictures=tmp_path / "film"), passing=passing)
    assert [(item.action.text, item.place, item.in_passing) for item in found.differing] == [("q", 3, True)]
    assert found.needed == ()
    assert found.passing is not None
    write_session(found.passing, tmp_path / "passing.log")
    told = list(session_as_text(read_session(tmp_path / "passing.log")))
    assert [line.split(None, 1)[1] for line in told if "press q" in line] == ['press q in "Other"']
    text = "\n".join(events_as_text(found, Path("minimal.log"), Path("passing-minimal.log")))
    assert "The difference is 1 action:\n  -    4  press q" in text
    assert "without the difference, 0 of 3" in text
    assert events_as_json(found, Path("minimal.log"))["answer"]["actions"][0]["only_in"] == "passing"
    strip = strip_of(found)
    assert [frame.left_out for frame in strip.frames].count(True) == 1
    together = [frame for frame in strip.frames if frame.more]
    shown = [frame for frame in strip.frames if not frame.more and not frame.left_out]
    assert sum(len(frame.more) for frame in together) + len(shown) == len(found.minimal.actions)
    assert all(frame.png for frame in shown)


def test_the_answer_is_replayed_as_it_was_tested(tmp_path: Path) -> None:
    """Without a window manager, windows stand in the corner: under one, the clicks would miss the window."""
    session = session_of("in order=key:a+button:1", actions=(click(2, 2), key("a"), click(2, 2), key("b")))
    conditions = replace(PLAN.conditions, settle_s=0.2, hang_limit_s=0.7)
    found = isolate_events(session, replace(PLAN, conditions=conditions, window_manager="", pace=Pace.UNHURRIED))
    assert found.minimal.actions == session.actions[:3], "keys go where the pointer is"
    write_session(found.minimal, tmp_path / "minimal.log")
    written = read_session(tmp_path / "minimal.log")
    assert (written.window_manager, written.pace) == ("", Pace.UNHURRIED)
    assert written.playback == Playback(settle_s=0.2, hang_limit_s=0.7)
    again = conditions_of(pace=written.pace, recorded=written.playback)
    assert (again.settle_s, again.hang_limit_s) == (0.2, 0.7)
    assert conditions_of(settle=0.0, recorded=written.playback).settle_s == 0.0
    assert play_session(written, again).ending.kind is EndingKind.SIGNAL


def test_a_failure_of_who_does_not_wait_for_the_program(tmp_path: Path) -> None:
    """The program is busy for five seconds after a, and b must come meanwhile: whoever waits for it comes too late."""
    actions = (key("c"), replace(key("a"), time_ms=100), replace(key("b"), time_ms=200))
    ending = Ending(EndingKind.SIGNAL, "killed by SIGSEGV", "signal SIGSEGV", signal=11)
    session = session_of("key:a=work,key:b=disturb", actions=actions, ending=ending)
    conditions = replace(PLAN.conditions, patience_s=60.0)
    assert play_session(session, replace(conditions, pace=Pace.RECORDED)).ending.kind is EndingKind.OPEN
    assert play_session(session, replace(conditions, pace=Pace.IMPATIENT)).ending.kind is EndingKind.SIGNAL


def test_at_the_recorded_pace_a_timer_may_end_after_the_last_action(monkeypatch: pytest.MonkeyPatch) -> None:
    """The pointer's motion only passed the time until the timer crashed the program."""
    monkeypatch.setattr("replay_dd.events.run.AFTER_PAUSES_S", 30.0)
    actions = (replace(key("a"), time_ms=100), replace(motion(400, 300), time_ms=300))
    session = replace(session_of("key:a=later", actions=actions), pace=Pace.RECORDED)
    found = isolate_events(session, PLAN)
    assert found.minimal.actions == actions[:1]
    assert found.isolation.baseline.rate == Rate(6, 6)


def test_an_oracle_of_the_user() -> None:
    # The program never fails by itself: the command looks for an event in what it wrote.
    session = replace(failing_session(), program=session_of("").program)
    oracle = 'grep -q "^key:z" "$REPLAY_DD_OUTPUT" && test -s "$REPLAY_DD_SCREENSHOT" && exit 1; exit 0'
    found = isolate_events(session, replace(PLAN, conditions=replace(PLAN.conditions, oracle=oracle)))
    assert found.minimal.actions == (NEEDED[2],)
    assert found.ending.kind is EndingKind.ORACLE


def test_an_oracle_that_cannot_tell_decides_nothing() -> None:
    session = session_of("", actions=(key("a"), key("b")))
    oracle = 'grep -q "^key:b" "$REPLAY_DD_OUTPUT" || exit 125; exit 1'
    found = isolate_events(session, replace(PLAN, conditions=replace(PLAN.conditions, oracle=oracle)))
    assert found.minimal.actions == (key("b"),)
    assert {step.outcome for step in found.isolation.steps} == {Outcome.FAIL, Outcome.UNRESOLVED}
