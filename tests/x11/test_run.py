"""One run on a private display: what reaches the program, and how its end is told."""

from __future__ import annotations

import importlib.util
import re
import shutil
import signal
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest
from Xlib import X

from replay_dd.errors.machine import DisplayLostError
from replay_dd.errors.program import NoWindowError
from replay_dd.errors.user import ProgramNotFoundError
from replay_dd.events.failure_signature import outcome_of
from replay_dd.events.model import (
    Action,
    ActionKind,
    Ending,
    EndingKind,
    Input,
    InputKind,
    Rectangle,
    Session,
    Window,
)
from replay_dd.events.run import Conditions, Run, run_session
from replay_dd.events.x11.display import PrivateDisplay, choose_window_manager
from replay_dd.events.x11.idle import IdleRule
from replay_dd.events.x11.player import XTestPlayer
from replay_dd.events.x11.players import player_named
from replay_dd.events.x11.program import RunningProgram
from replay_dd.events.x11.windows import window_at
from replay_dd.outcome import Outcome
from tests.x11.acts import click, key, motion
from tests.x11.conftest import SCREEN, session_of

QUICK = Conditions(hang_limit_s=0.5, patience_s=0.5)
ACTIONS = (motion(400, 300), key("a"), click(), key("b"))


def run(display: PrivateDisplay, behaviour: str, conditions: Conditions = QUICK) -> Run:
    return run_session(session_of(behaviour), ACTIONS, display, conditions)


def test_each_action_reaches_the_program_in_order(display: PrivateDisplay) -> None:
    done = run(display, "")
    assert done.ending.kind is EndingKind.OPEN
    assert not done.ending.failed
    assert done.ending.output.split() == ["start", "motion", *("key:a", "key"), *("button:1", "button"), "key:b", "key"]
    assert [window.name for window in done.windows] == ["First"]
    assert done.windows[0].area.width_px == 320


@pytest.mark.parametrize(
    "deed, kind, text",
    [
        ("crash", EndingKind.SIGNAL, "killed by SIGSEGV in .*ctypes"),
        ("abort", EndingKind.SIGNAL, "killed by SIGABRT"),
        ("thread", EndingKind.SIGNAL, "killed by SIGSEGV"),
        ("raise", EndingKind.EXCEPTION, "LookupError: no such thing in raise_here"),
        ("report", EndingKind.EXCEPTION, "LookupError: no such thing in raise_here"),
        ("badwindow", EndingKind.X_ERROR, "BadWindow.* of X_MapWindow"),
        ("dialog", EndingKind.DIALOG, "Application Error"),
        ("hang", EndingKind.HANG, "did not respond"),
        ("exit3", EndingKind.EXIT, "exit status 3"),
    ],
)
def test_failures(display: PrivateDisplay, deed: str, kind: EndingKind, text: str) -> None:
    ending = run(display, f"button={deed}").ending
    assert ending.kind is kind, ending
    assert ending.failed
    assert re.search(text, ending.text), ending.text
    assert ending.actions in (3, 4)


def test_a_crash_that_is_told_late(display: PrivateDisplay, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a busy machine: the process has ended, and looks idle."""
    ending = RunningProgram.ending
    since: list[float] = []

    def tell_late(program: RunningProgram) -> Ending | None:
        found = ending(program)
        if found is not None and found.kind is EndingKind.SIGNAL:
            since.append(time.monotonic())
            return found if since[-1] - since[0] > 0.5 else None
        return found

    monkeypatch.setattr(RunningProgram, "ending", tell_late)
    done = run_session(session_of("button=crash"), ACTIONS[:3], display, QUICK)
    assert done.ending.kind is EndingKind.SIGNAL, done.ending


@pytest.mark.parametrize("deed", ["exit0", "nap", "child", "daemon", "window"])
def test_no_failures(display: PrivateDisplay, deed: str) -> None:
    ending = run(display, f"button={deed}").ending
    assert not ending.failed, ending
    assert ending.kind is (EndingKind.EXIT if deed == "exit0" else EndingKind.OPEN)


@pytest.mark.parametrize(
    "behaviour",
    [
        "button=deadlock",
        "button=listening deadlock",
        "ping=yes,button=listening deadlock",
        "ping=qt,button=listening deadlock",
        "ping=never,button=listening deadlock",
        "ping=yes,button=hang",
        "ping=never,button=hang",
    ],
)
def test_a_program_that_waits_for_ever_hangs(display: PrivateDisplay, behaviour: str) -> None:
    ending = run(display, behaviour).ending
    assert ending.kind is EndingKind.HANG, ending
    assert ending.signature == "hang"


@pytest.mark.parametrize("ping", ["yes", "qt"])
def test_a_program_that_answers_does_not_hang_whatever_else_it_does(display: PrivateDisplay, ping: str) -> None:
    done = run(display, f"ping={ping},button=compute")
    assert done.ending.kind is EndingKind.OPEN, done.ending
    assert done.ending.actions == len(ACTIONS)


def test_a_program_that_never_answers_does_not_hang(display: PrivateDisplay) -> None:
    # It announces answers and has never given one: that it gives none now says nothing.
    done = run(display, "ping=never,button=child")
    assert done.ending.kind is EndingKind.OPEN, done.ending


def test_a_helper_that_waits_for_a_lock_is_no_hang(display: PrivateDisplay) -> None:
    done = run(display, "button=helper deadlock")
    assert done.ending.kind is EndingKind.OPEN, done.ending


@pytest.mark.parametrize("manager, place", [(choose_window_manager(None), (400, 300)), ("", (100, 100))])
def test_a_window_without_a_class(manager: str, place: tuple[int, int], tmp_path: Path) -> None:
    with PrivateDisplay(SCREEN, manager) as display:
        assert window_at(display.connection, *place) is None
        done = run_session(session_of("class=none"), [click(*place), key("a")], display, QUICK, pictures=tmp_path)
    assert [(window.name, window.class_name) for window in done.windows] == [("First", "")]
    assert [frame.window and frame.window.name for frame in done.frames] == ["First", "First"]
    assert done.ending.output.split()[-2:] == ["key:a", "key"]


def test_a_window_of_which_all_news_come_too_early(display: PrivateDisplay, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(display.connection, "windows_changed", lambda: False)
    assert run(display, "").ending.kind is EndingKind.OPEN


def test_a_crash_has_the_same_signature_each_time(display: PrivateDisplay) -> None:
    first = run(display, "button=crash").ending
    again = run(display, "key:b=crash").ending
    other = run(display, "button=abort").ending
    assert first.signature == again.signature
    assert outcome_of(again, first) is Outcome.FAIL
    assert outcome_of(other, first) is Outcome.UNRESOLVED
    assert outcome_of(Ending(EndingKind.OPEN, "still running"), first) is Outcome.PASS
    assert first.signal == signal.SIGSEGV


@pytest.mark.skipif(shutil.which("gdb") is None, reason="gdb is not installed")
def test_a_backtrace_tells_no_addresses_that_change(display: PrivateDisplay) -> None:
    done = run_session(session_of("button=crash"), ACTIONS, display, QUICK, want_backtrace=True)
    assert len(done.ending.frames) > 3
    for number, frame in enumerate(done.ending.frames):
        assert re.match(rf"#{number}\s+[^0\s]", frame), done.ending.frames
        assert "?? ()" not in frame


def test_actions_are_moved_along_with_a_window_that_stands_elsewhere(display: PrivateDisplay, tmp_path: Path) -> None:
    area = run(display, "").windows[0].area
    corner = Rectangle(0, 0, area.width_px, area.height_px)
    then = Window(0, "windows", "Windows", "First", corner, corner)
    action = replace(click(20, 30), window=0)
    for window, reaches in (
        (then, True),
        (replace(then, title="Renamed"), True),
        (replace(then, title="Another", area=replace(corner, width_px=7)), False),
        (replace(then, class_name="Other"), False),
    ):
        done = run_session(session_of("", windows=(window,)), [action], display, QUICK, pictures=tmp_path)
        assert ("button:1" in done.ending.output.split()) is reaches, window
        moved = (area.x_px + 20, area.y_px + 30)
        assert done.frames[0].pointer == (moved if reaches else (20, 30))


def test_a_slow_handler_is_waited_for(display: PrivateDisplay) -> None:
    # It naps while it handles the click; the key is played when it has woken.
    done = run(display, "button=nap,key:b=crash")
    assert done.ending.kind is EndingKind.SIGNAL
    assert done.ending.actions == 4


def test_a_drag_is_waited_for_where_it_begins_and_where_it_ends(
    display: PrivateDisplay, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A window manager takes hold of a window at the first move, and resizes it only as far as it has come."""
    places = [(410, 310), (440, 330), (470, 350), (490, 360)]
    inputs = (
        Input(InputKind.MOVE, 400, 300),
        Input(InputKind.BUTTON_PRESS, button=1),
        *(Input(InputKind.MOVE, *place) for place in places),
        Input(InputKind.BUTTON_RELEASE, button=1),
    )
    waited: list[tuple[int, int]] = []
    wait = IdleRule.wait

    def noting(rule: IdleRule, patience_s: float | None = None) -> bool:
        done = wait(rule, patience_s)
        pointer = display.connection.root.query_pointer()
        if pointer.mask & X.Button1Mask:
            waited.append((pointer.root_x, pointer.root_y))
        return done

    monkeypatch.setattr(IdleRule, "wait", noting)
    run_session(session_of(""), [Action(ActionKind.DRAG, inputs)], display, QUICK)
    # After a move once more, when a toolkit has drawn again.
    assert waited == [(400, 300), *(2 * [places[0]]), *(2 * [places[-1]])]


def test_a_program_that_forks_away_is_followed(display: PrivateDisplay) -> None:
    done = run(display, "first=fork")
    assert done.ending.kind is EndingKind.OPEN
    assert [window.name for window in done.windows] == ["First"]


def test_a_program_without_a_window(display: PrivateDisplay) -> None:
    with pytest.raises(NoWindowError):
        run(display, "none=none", replace(QUICK, start_limit_s=0.3))


def test_a_program_that_ends_before_it_has_a_window(display: PrivateDisplay) -> None:
    done = run(display, "start=exit7")
    assert (done.ending.status, done.ending.actions) == (7, 0)


def test_a_missing_program(display: PrivateDisplay) -> None:
    session = session_of("")
    missing = Session(replace(session.program, command=("no-such-program",)), session.screen)
    with pytest.raises(ProgramNotFoundError):
        run_session(missing, ACTIONS, display, QUICK)


def test_a_display_that_dies_in_the_middle(display: PrivateDisplay) -> None:
    timer = threading.Timer(0.4, display.server.kill)
    timer.start()
    try:
        with pytest.raises(DisplayLostError):
            run_session(session_of(""), [motion(n % 700, 300) for n in range(5000)], display, QUICK)
    finally:
        timer.join()


def test_a_program_that_ends_as_its_display_dies_has_not_failed(
    display: PrivateDisplay, monkeypatch: pytest.MonkeyPatch
) -> None:
    class LosingPlayer(XTestPlayer):
        def play(self, item: Input) -> None:
            monkeypatch.setattr(IdleRule, "_is_idle", lose_both)

    def lose_both(rule: IdleRule) -> bool:
        display.server.kill()
        return False

    with pytest.raises(DisplayLostError):
        run(display, "", replace(QUICK, patience_s=20, player=lambda display: LosingPlayer(display.connection)))


def test_pictures(display: PrivateDisplay, tmp_path: Path) -> None:
    done = run_session(session_of("button=crash"), ACTIONS, display, QUICK, pictures=tmp_path)
    assert [frame.action for frame in done.frames] == list(ACTIONS[:3])
    assert done.opening is not None
    for frame in done.frames:
        assert frame.before is not None
        assert frame.before.read_bytes().startswith(b"\x89PNG\r\n")
    assert done.frames[-1].after is None
    assert done.frames[-1].window is not None
    assert done.frames[-1].window.name == "First"


def test_a_film_tells_what_each_action_was_done_to(display: PrivateDisplay, tmp_path: Path) -> None:
    actions = (motion(1, 1), click(), key("a"))
    run_of_film = run_session(session_of(""), actions, display, QUICK, pictures=tmp_path)
    names = [None if frame.window is None else frame.window.name for frame in run_of_film.frames]
    # The click begins in the window, although the pointer is still in the corner when the picture is taken.
    assert names == [None, "First", "First"]
    assert all(frame.before is not None and frame.before.is_file() for frame in run_of_film.frames)


@pytest.mark.skipif(importlib.util.find_spec("pyautogui") is None, reason="PyAutoGUI is not installed")
def test_the_second_player_does_the_same(display: PrivateDisplay) -> None:
    pytest.importorskip("tkinter", reason="PyAutoGUI needs tkinter")
    actions = (motion(400, 300), key("a"), key("Return"), key("comma"), click(), click(button=3), key("b"))
    outputs = []
    for name in ("xtest", "pyautogui"):
        done = run_session(session_of(""), actions, display, replace(QUICK, player=player_named(name)))
        # PyAutoGUI moves the pointer to where it is already before each button.
        outputs.append([event for event in done.ending.output.split() if event != "motion"])
    assert outputs[0] == outputs[1]
    assert "key:Return" in outputs[0]
