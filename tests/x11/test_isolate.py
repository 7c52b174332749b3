"""Isolation of the actions that a failure needs, on real displays."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from replay_dd.cli.replay_session import play_session
from replay_dd.cli.session_playback import conditions_of
from replay_dd.errors.program import DoesNotFailError, DoesNotPassError, NotReproducedError
from replay_dd.errors.user import NothingRecordedError, TwoProgramsError
from replay_dd.events.describe import in_words
from replay_dd.events.isolate import Plan, isolate_events
from replay_dd.events.log import read_session, write_session
from replay_dd.events.model import (
    Action,
    ActionKind,
    Ending,
    EndingKind,
    Input,
    InputKind,
    Pace,
    Playback,
    Rectangle,
    Screen,
    Session,
    Window,
)
from replay_dd.events.monkey import typed_text
from replay_dd.events.run import Conditions, Run
from replay_dd.events.runner import SessionRunner
from replay_dd.experiment.baseline import Rate
from replay_dd.experiment.driver import Observer
from replay_dd.outcome import Outcome
from replay_dd.report.events import events_as_json, events_as_text, session_as_text
from replay_dd.report.events_strip import strip_of
from tests.x11.acts import MIDDLE, click, key, motion
from tests.x11.conftest import SCREEN, session_of

pytestmark = pytest.mark.once

# The program ends with a crash when it gets these, in this order, whatever comes between.
NEEDED = (key("a"), click(), key("z"))
PLAN = Plan(jobs=2, conditions=Conditions(hang_limit_s=0.5, patience_s=0.5))


def noise(count: int, seed: int) -> list[Action]:
    chance = random.Random(seed)
    makers = [
        lambda: motion(chance.randrange(250, 550), chance.randrange(220, 380)),
        lambda: key(chance.choice("bcdefg")),
        lambda: click(chance.randrange(250, 550), chance.randrange(220, 380), 3),
    ]
    return [chance.choice(makers)() for _ in range(count)]


def failing_session() -> Session:
    first, second, third, rest = (noise(count, count) for count in (5, 9, 7, 6))
    actions = (*first, NEEDED[0], *second, NEEDED[1], *third, NEEDED[2], *rest)
    return session_of("in order=key:a+button:1+key:z", actions=actions)


@pytest.fixture(scope="module")
def memory() -> list[tuple[object, Run]]:
    return []


@pytest.fixture
def recalled(memory: list[tuple[object, Run]], monkeypatch: pytest.MonkeyPatch) -> None:
    """Play what has been played before from memory, for programs that always do the same.

    Searches replay what they know many times over, to measure how often it fails. That each of these runs is a fresh
    one is tested by the tests that do not ask for this.
    """
    real = SessionRunner.run

    def run(runner: SessionRunner, actions: Sequence[Action], **more: Any) -> Run:
        asked = (runner.session, runner.conditions, tuple(actions), more)
        known = [result for question, result in memory if question == asked]
        if not known:
            known = [real(runner, actions, **more)]
            memory.append((asked, known[0]))
        return known[0]

    monkeypatch.setattr(SessionRunner, "run", run)


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


@pytest.mark.usefixtures("recalled")
def test_the_answer_of_a_search_is_kept_if_its_film_is_interrupted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("replay_dd.events.isolate._film", interrupted)
    found = isolate_events(failing_session(), replace(PLAN, pictures=tmp_path / "film"))
    assert (found.minimal.actions, found.film) == (NEEDED, None)
    assert (found.isolation.complete, found.isolation.verified, found.exit_code) == (True, True, 130)
    told = list(events_as_text(found, tmp_path / "minimal.log"))
    assert "The answer was not filmed: interrupted." in told


@pytest.mark.usefixtures("recalled")
def test_the_difference_to_a_passing_session() -> None:
    session = failing_session()
    place = session.actions.index(NEEDED[1])
    passing = replace(session, actions=(*session.actions[:place], *session.actions[place + 1 :], key("q")))
    found = isolate_events(session, PLAN, passing=passing)
    assert [session.actions[number] for number in found.needed] == [NEEDED[1]]
    assert found.passing is not None
    assert found.passing.actions[:place] == found.minimal.actions[:place]
    assert found.isolation.proof.failing == Rate(3, 3)
    assert found.isolation.proof.passing == Rate(0, 3)
    # What came after the failure was never played.
    assert found.minimal.actions[-1] == NEEDED[2]


@pytest.mark.usefixtures("recalled")
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


def test_an_answer_that_does_not_fail_again_is_no_answer(tmp_path: Path) -> None:
    # It fails in the six runs of the whole session, in the one test that the search needs, and never again.
    session = session_of("key:a=at first", actions=(key("b"), key("a"), key("c")))
    program = replace(session.program, environment={"TEST_COUNTER": str(tmp_path / "counter"), "TEST_TIMES": "7"})
    found = isolate_events(replace(session, program=program), replace(PLAN, jobs=1))
    assert not found.reproduced
    assert found.minimal.ending is not None
    assert found.minimal.ending.kind is EndingKind.SIGNAL
    lines = list(events_as_text(found, Path("minimal.log")))
    assert lines[0].startswith("Not reproduced: in 3 fresh replays")
    assert "needs" not in lines[1]
    assert events_as_json(found, Path("minimal.log"))["proof"]["holds"] is False


@pytest.mark.usefixtures("recalled")
def test_what_is_left_can_be_made_smaller_inside() -> None:
    text = Action(ActionKind.TEXT, typed_text("bacz"), text="bacz")
    drag = Action(
        ActionKind.DRAG,
        (
            Input(InputKind.MOVE, *MIDDLE),
            Input(InputKind.BUTTON_PRESS, button=1),
            *(Input(InputKind.MOVE, MIDDLE[0] + step, MIDDLE[1]) for step in (5, 9, 20)),
            Input(InputKind.BUTTON_RELEASE, button=1),
        ),
    )
    session = session_of("in order=key:a+key:z+button:1", actions=(key("b"), text, motion(300, 250), drag))
    whole = isolate_events(session, PLAN)
    assert [action.kind for action in whole.minimal.actions] == [ActionKind.TEXT, ActionKind.DRAG]
    assert whole.needed == (1, 3)
    found = isolate_events(session, replace(PLAN, finer=True))
    assert [in_words(action, None) for action in found.minimal.actions] == [
        "type 'az'",
        "click where the pointer is",  # it is in the window from the beginning
    ]
    assert found.needed == (1, 3)
    assert found.isolation.complete
    assert found.isolation.proof.failing == Rate(3, 3)
    assert found.isolation.tests > whole.isolation.tests


@pytest.mark.usefixtures("recalled")
def test_another_failure_does_not_count() -> None:
    # Without the first key the program ends with another failure.
    actions = (key("a"), motion(400, 300), key("z"))
    session = session_of("in order=key:a+key:z,key:z=exit3", actions=actions)
    found = isolate_events(session, PLAN)
    assert found.minimal.actions == (key("a"), key("z"))
    assert {step.outcome for step in found.isolation.steps} >= {Outcome.UNRESOLVED, Outcome.FAIL}


def test_sessions_that_cannot_be_used() -> None:
    with pytest.raises(NothingRecordedError):
        isolate_events(session_of(""), PLAN)
    passed = session_of("", actions=(key("a"),), ending=Ending(EndingKind.OPEN, "still running"))
    with pytest.raises(DoesNotFailError):
        isolate_events(passed, PLAN)
    failed = replace(passed, ending=Ending(EndingKind.SIGNAL, "killed by SIGSEGV", "signal SIGSEGV", signal=11))
    with pytest.raises(DoesNotPassError):
        isolate_events(failed, PLAN, passing=failed)
    with pytest.raises(TwoProgramsError):
        isolate_events(failed, PLAN, passing=replace(passed, screen=Screen(640, 480)))


@pytest.mark.usefixtures("recalled")
def test_a_hang_that_is_noticed_late_has_few_causes() -> None:
    # The program waits for ever after the first action, and nothing shows that until the end.
    conditions = replace(PLAN.conditions, hang_limit_s=0.3)
    session = session_of("key:a=deadlock", actions=(key("b"), key("a"), motion(400, 300), key("c"), motion(401, 300)))
    found = isolate_events(session, replace(PLAN, conditions=conditions))
    assert found.minimal.actions == (key("a"),)
    assert found.ending.kind is EndingKind.HANG


@pytest.mark.usefixtures("recalled")
def test_a_failure_that_does_not_show_again() -> None:
    ending = Ending(EndingKind.SIGNAL, "killed by SIGSEGV", "signal SIGSEGV", signal=11)
    with pytest.raises(NotReproducedError):
        isolate_events(session_of("", actions=(key("a"),), ending=ending), PLAN)


def test_a_flaky_failure_is_measured_and_tried_again(tmp_path: Path) -> None:
    session = session_of("key:a=sometimes", actions=(key("b"), key("a"), motion(400, 300)))
    program = replace(session.program, environment={"TEST_COUNTER": str(tmp_path / "counter")})
    found = isolate_events(replace(session, program=program), replace(PLAN, jobs=1))
    rate = found.isolation.baseline.rate
    assert 0 < rate.failed < rate.runs
    assert found.minimal.actions == (key("a"),)
    assert found.isolation.proof.failing.failed > 0


@pytest.mark.usefixtures("recalled")
def test_the_search_can_be_stopped() -> None:
    found = isolate_events(failing_session(), replace(PLAN, max_tests=3))
    assert not found.isolation.complete
    assert found.isolation.tests == 4, "the whole session, too"
    assert len(found.minimal.actions) >= 3


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


@pytest.mark.usefixtures("recalled")
def test_slower_paces_are_tried_until_one_shows_the_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    session = session_of("in order=key:a+key:z", actions=(key("a"), key("b"), key("z")))
    tried: list[Pace] = []

    def play(runner: SessionRunner, actions: Sequence[Action], **more: Any) -> Run:
        tried.append(runner.conditions.pace)
        if runner.conditions.pace is not Pace.RECORDED:
            actions = actions[:1]
        return run(runner, actions, **more)

    run = SessionRunner.run
    monkeypatch.setattr(SessionRunner, "run", play)
    notes: list[str] = []
    ending = Ending(EndingKind.SIGNAL, "killed by SIGSEGV", "signal SIGSEGV", signal=11)
    session = replace(session, ending=ending)
    with pytest.raises(NotReproducedError):
        isolate_events(session, replace(PLAN, pace=Pace.FAST))
    assert set(tried) == {Pace.FAST}
    found = isolate_events(session, PLAN, observer=Observer(on_note=notes.append))
    assert (found.minimal.actions, found.minimal.pace) == ((key("a"), key("z")), Pace.RECORDED)
    assert [note.partition(";")[2] for note in notes] == [" trying `unhurried`", " trying `recorded`"]
    assert Pace.IMPATIENT not in tried


@pytest.mark.usefixtures("recalled")
def test_an_oracle_of_the_user() -> None:
    # The program never fails by itself: the command looks for an event in what it wrote.
    session = replace(failing_session(), program=session_of("").program)
    oracle = 'grep -q "^key:z" "$REPLAY_DD_OUTPUT" && test -s "$REPLAY_DD_SCREENSHOT" && exit 1; exit 0'
    found = isolate_events(session, replace(PLAN, conditions=replace(PLAN.conditions, oracle=oracle)))
    assert found.minimal.actions == (NEEDED[2],)
    assert found.ending.kind is EndingKind.ORACLE


@pytest.mark.usefixtures("recalled")
def test_an_oracle_that_cannot_tell_decides_nothing() -> None:
    session = session_of("", actions=(key("a"), key("b")))
    oracle = 'grep -q "^key:b" "$REPLAY_DD_OUTPUT" || exit 125; exit 1'
    found = isolate_events(session, replace(PLAN, conditions=replace(PLAN.conditions, oracle=oracle)))
    assert found.minimal.actions == (key("b"),)
    assert {step.outcome for step in found.isolation.steps} == {Outcome.FAIL, Outcome.UNRESOLVED}
