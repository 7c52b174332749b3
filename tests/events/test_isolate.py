"""What an isolation makes of the runs of a simulated program; isolating real ones is in tests/x11."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from pathlib import Path

import pytest

from replay_dd.errors.program import DoesNotFailError, DoesNotPassError, NotReproducedError
from replay_dd.errors.user import NothingRecordedError, TwoProgramsError
from replay_dd.events.describe import in_words
from replay_dd.events.failure_signature import of_hang, of_signal
from replay_dd.events.hangs import sooner
from replay_dd.events.isolate import Plan, isolate_events, with_backtrace
from replay_dd.events.model import Action, ActionKind, Ending, EndingKind, Input, InputKind, Pace, Screen, Session
from replay_dd.events.monkey import typed_text
from replay_dd.events.run import Conditions
from replay_dd.events.runner import SessionRunner
from replay_dd.experiment.baseline import Rate
from replay_dd.experiment.driver import Observer
from replay_dd.outcome import Outcome
from replay_dd.report.events import events_as_json, events_as_text
from tests.events.simulated import ACTION_S, CRASH, SimulatedProgram, session_of
from tests.x11.acts import MIDDLE, NEEDED, click, key, motion, with_noise

PLAN = Plan()


@pytest.fixture(autouse=True)
def program(monkeypatch: pytest.MonkeyPatch) -> SimulatedProgram:
    """What the sessions are played to, without a display."""
    simulated = SimulatedProgram()
    monkeypatch.setattr("replay_dd.events.isolate.DisplaySupply", lambda *_: contextlib.nullcontext())
    monkeypatch.setattr(SessionRunner, "run", lambda *args, **more: simulated.run(*args, **more))
    return simulated


def failing_session() -> Session:
    return session_of("in order=key:a+button:1+key:z", actions=with_noise(5, 9, 7, 6))


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


def test_an_answer_that_does_not_fail_again_is_no_answer() -> None:
    # It fails in the six runs of the whole session, in the one test that the search needs, and never again.
    session = session_of("key:a=seven times", actions=(key("b"), key("a"), key("c")))
    found = isolate_events(session, PLAN)
    assert not found.reproduced
    assert found.minimal.ending is not None
    assert found.minimal.ending.kind is EndingKind.SIGNAL
    lines = list(events_as_text(found, Path("minimal.log")))
    assert lines[0].startswith("Not reproduced: in 3 fresh replays")
    assert "needs" not in lines[1]
    assert events_as_json(found, Path("minimal.log"))["proof"]["holds"] is False


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
    finer = "fewer keys   replay-dd events --finer --exact-site minimal.log"
    assert list(events_as_text(whole, Path("minimal.log"), options="--exact-site "))[-1] == finer
    found = isolate_events(session, replace(PLAN, finer=True))
    assert [in_words(action, None) for action in found.minimal.actions] == [
        "type 'az'",
        "click where the pointer is",  # it is in the window from the beginning
    ]
    assert found.needed == (1, 3)
    assert found.isolation.complete
    assert found.isolation.proof.failing == Rate(3, 3)
    assert found.isolation.tests > whole.isolation.tests
    assert not any("--finer" in line for line in events_as_text(found, Path("minimal.log")))


def test_a_failure_that_a_timer_brings_needs_no_actions_that_pass_the_time() -> None:
    session = failing_session()
    command = ("program", f"{session.program.command[1]},timer=5")
    found = isolate_events(replace(session, program=replace(session.program, command=command)), PLAN)
    assert found.minimal.actions == NEEDED
    assert found.isolation.baseline.rate.steady
    # As long as the failing run took, and a little more; the log keeps it, so that it replays.
    failed_after = session.actions.index(NEEDED[2]) + 1 + 5
    assert found.minimal.playback.linger_s == pytest.approx(failed_after * ACTION_S * 1.2)
    assert isolate_events(session, PLAN).minimal.playback.linger_s == 0


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
    failed = replace(passed, ending=CRASH)
    with pytest.raises(DoesNotPassError):
        isolate_events(failed, PLAN, passing=failed)
    with pytest.raises(TwoProgramsError):
        isolate_events(failed, PLAN, passing=replace(passed, screen=Screen(640, 480)))


def test_a_hang_that_is_noticed_late_has_few_causes() -> None:
    # The program waits for ever after the first action, and nothing shows that until the end.
    session = session_of("key:a=deadlock", actions=(key("b"), key("a"), motion(400, 300), key("c"), motion(401, 300)))
    found = isolate_events(session, PLAN)
    assert found.minimal.actions == (key("a"),)
    assert found.ending.kind is EndingKind.HANG


def test_a_failure_that_does_not_show_again() -> None:
    with pytest.raises(NotReproducedError):
        isolate_events(session_of("", actions=(key("a"),), ending=CRASH), PLAN)


def test_a_flaky_failure_is_measured_and_tried_again() -> None:
    session = session_of("key:a=sometimes", actions=(key("b"), key("a"), motion(400, 300)))
    found = isolate_events(session, PLAN)
    rate = found.isolation.baseline.rate
    assert 0 < rate.failed < rate.runs
    assert found.minimal.actions == (key("a"),)
    assert found.isolation.proof.failing.failed > 0


def test_the_search_can_be_stopped() -> None:
    found = isolate_events(failing_session(), replace(PLAN, max_tests=3))
    assert not found.isolation.complete
    assert found.isolation.tests == 4, "the whole session, too"
    assert len(found.minimal.actions) >= 3


def test_slower_paces_are_tried_until_one_shows_the_failure(program: SimulatedProgram) -> None:
    program.deaf_at = (Pace.FAST, Pace.UNHURRIED)
    actions = (key("a"), key("b"), key("z"))
    session = session_of("in order=key:a+key:z", actions=actions, ending=CRASH)
    notes: list[str] = []
    with pytest.raises(NotReproducedError):
        isolate_events(session, replace(PLAN, pace=Pace.FAST))
    assert set(program.paces) == {Pace.FAST}
    found = isolate_events(session, PLAN, observer=Observer(on_note=notes.append))
    assert (found.minimal.actions, found.minimal.pace) == ((key("a"), key("z")), Pace.RECORDED)
    assert [note.partition(";")[2] for note in notes] == [" trying `unhurried`", " trying `recorded`"]
    assert Pace.IMPATIENT not in program.paces


def test_two_actions_that_cancel_each_other_are_left_out() -> None:
    """Who presses b has to press it again: with the needed ones between, they are far apart."""
    actions = (key("b"), key("a"), click(), key("x"), key("b"), key("z"))
    found = isolate_events(session_of("in order=key:a+button:1+key:x+key:z,twice=key:b", actions=actions), PLAN)
    assert found.minimal.actions == (*actions[1:4], key("z"))


def test_the_film_gives_the_names_in_a_backtrace() -> None:
    named = replace(CRASH, frames=("#0 save () at save.c:7",))
    assert with_backtrace(CRASH, named).frames == named.frames
    assert with_backtrace(named, replace(CRASH, frames=())).frames == named.frames


def test_a_neighbouring_crash_in_the_film_has_another_backtrace() -> None:
    other = of_signal(6, "libc.so.6+0x20", ["#0 abort () at abort.c:1"], "")
    assert with_backtrace(CRASH, other) == CRASH


def test_only_the_proof_of_a_hang_waits_for_the_whole_limit(program: SimulatedProgram) -> None:
    session = session_of("key:a=deadlock", actions=with_noise(3, 4, 5, 6))
    found = isolate_events(session, PLAN)
    assert found.minimal.actions == (key("a"),)
    assert (found.isolation.baseline.rate, found.isolation.proof.failing) == (Rate(6, 6), Rate(3, 3))
    whole_s = PLAN.conditions.hang_limit_s
    assert [number for number, limit_s in enumerate(program.limits_s) if limit_s == whole_s] == [
        *(0, 1),
        *(len(program.limits_s) - before for before in (3, 2, 1)),
    ]
    assert set(program.limits_s) == {whole_s, 0.5}
    assert found.ending.text == f"did not respond for {whole_s:g} s"


@pytest.mark.parametrize(
    "behaviour, keys, needed",
    [
        ("key:z=deadlock,key:s=slow", "bsz", "z"),  # the session seems to hang at another action than before
        ("key:z=slow but", "baz", "az"),  # the answer does not hang
    ],
)
def test_a_program_that_was_only_slow_is_waited_for(
    program: SimulatedProgram, behaviour: str, keys: str, needed: str
) -> None:
    notes: list[str] = []
    session = session_of(behaviour, actions=tuple(map(key, keys)))
    found = isolate_events(session, PLAN, observer=Observer(on_note=notes.append))
    assert found.minimal.actions == tuple(map(key, needed))
    assert found.isolation.proof.failing == Rate(3, 3)
    assert len(notes) == 1
    first = program.limits_s.index(0.5)
    assert 0.5 not in program.limits_s[program.limits_s.index(5.0, first) :]


def test_finer_inputs_of_a_hang_are_proved_with_the_whole_limit(program: SimulatedProgram) -> None:
    text = Action(ActionKind.TEXT, typed_text("cab"), text="cab")
    found = isolate_events(session_of("key:a=deadlock", actions=(key("b"), text)), replace(PLAN, finer=True))
    assert [in_words(action, None) for action in found.minimal.actions] == ["type 'a'"]
    last = len(program.limits_s)
    assert [n for n, limit_s in enumerate(program.limits_s) if limit_s == 5.0] == [0, 1, last - 3, last - 2, last - 1]


def test_a_short_limit_is_not_made_shorter(program: SimulatedProgram) -> None:
    plan = replace(PLAN, conditions=Conditions(hang_limit_s=0.2))
    isolate_events(session_of("key:a=deadlock", actions=(key("b"), key("a"))), plan)
    assert set(program.limits_s) == {0.2}
    assert sooner(Conditions(hang_limit_s=60)).hang_limit_s == 6
    assert sooner(Conditions(patience_s=0.1)).patience_s == 0.1


@pytest.mark.parametrize(
    "verified, pace, linger_s",
    [(True, None, 0.0), (True, Pace.UNHURRIED, 6.0), (False, None, 6.0), (None, None, 6.0)],
)
def test_what_was_tried_when_a_session_was_checked_is_not_waited_for(
    verified: bool | None, pace: Pace | None, linger_s: float
) -> None:
    ending = replace(of_hang(5, ""), time_ms=5000)
    session = session_of("key:a=deadlock", actions=(key("a"),), ending=ending, recorder="x11", verified=verified)
    found = isolate_events(session, replace(PLAN, pace=pace))
    assert found.minimal.playback.linger_s == linger_s
