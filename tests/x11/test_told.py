"""What the actions of a session are done to, as GTK and Qt tell it in a run of its own."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from recorders.x11_verify import verify_session
from replay_dd.cli.show_session import show_session
from replay_dd.errors.program import NoWindowError
from replay_dd.events.model import Ending, EndingKind, GuiProgram, Rectangle, Session, Window, WindowChange
from replay_dd.events.run import Conditions, Run, run_session
from replay_dd.events.told import told_targets
from replay_dd.events.x11.display import PrivateDisplay
from tests.x11.acts import click, key, motion
from tests.x11.conftest import SCREEN
from tests.x11.test_toolkits import PROGRAM, TOOLKITS, python_with

pytestmark = pytest.mark.once

OPEN = Ending(EndingKind.OPEN, "still running at the end")


@pytest.fixture(params=[name for name in TOOLKITS if name.startswith(("Qt", "GTK"))])
def editor(request: pytest.FixtureRequest) -> GuiProgram:
    argument, check, package = TOOLKITS[request.param]
    python = python_with(check)
    if python is None:
        pytest.skip(f"NO {request.param.upper()}: its names are not tried (on Debian: apt install {package})")
    return GuiProgram((python, str(PROGRAM), argument), str(PROGRAM.parent))


def test_widgets_are_named_by_their_toolkit(editor: GuiProgram) -> None:
    # Where in the window the toolkit puts the field and the button is its own affair.
    actions = (motion(160, 10), *(click(160, y) for y in range(5, 200, 15)), click(160, 190))
    session = Session(editor, SCREEN)
    with PrivateDisplay(SCREEN, "") as display:
        plain = run_session(session, actions, display, Conditions(), want_targets=True)
    assert plain.can_tell
    assert not any(plain.targets)
    with PrivateDisplay(SCREEN, "") as display:
        told = run_session(session, actions, display, Conditions(), want_targets=True, on_bus=True)
    assert told.ending.kind is EndingKind.OPEN, told.ending
    assert {"entry", 'button "Button"'} <= set(told.targets) <= {"entry", 'button "Button"', ""}
    assert told.targets[0] == ""


def test_keys_are_for_what_has_the_keyboard(editor: GuiProgram, display: PrivateDisplay) -> None:
    session = Session(editor, SCREEN)
    told = run_session(session, (key("a"),), display, Conditions(), want_targets=True, on_bus=True)
    assert told.targets == ("entry",)
    assert "text a" in told.ending.output


def test_a_recorded_session_is_named_when_it_is_checked(editor: GuiProgram) -> None:
    actions = tuple(replace(click(160, y), time_ms=y) for y in range(5, 200, 15))
    place = Rectangle(0, 0, 320, 200)
    windows = (Window(0, "", "", "Editor", place, place),)
    changes = (WindowChange(0, 0, True),)
    session = Session(editor, SCREEN, windows=windows, changes=changes, actions=actions, ending=OPEN)
    found = verify_session(session, Conditions())
    assert 'button "Button"' in {target.text for target in found.targets}
    assert verify_session(replace(session, masked=True), Conditions()).targets == ()


def test_the_pictures_of_a_session_come_with_names(
    editor: GuiProgram, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    actions = tuple(click(160, y) for y in range(5, 200, 15))
    session = Session(editor, SCREEN, window_manager="", actions=actions)
    show_session(session, tmp_path / "session.log", as_json=False, pictures=tmp_path / "pictures")
    assert '(button "Button")' in capsys.readouterr().out


def run(*targets: str, can_tell: bool = True) -> Run:
    return Run(OPEN, (), 0.0, 0.0, targets=targets, can_tell=can_tell)


def test_names_of_the_other_run_count_if_it_got_as_far() -> None:
    assert told_targets(run("", "x"), lambda: run("a", "")) == ("a", "x")
    assert told_targets(run("", "x"), lambda: run("a")) == ("", "x")


def test_no_further_run_where_nothing_more_can_be_told() -> None:
    def no_run() -> Run:
        raise AssertionError

    assert told_targets(run("", "x", can_tell=False), no_run) == ("", "x")


@pytest.mark.parametrize("error", [NoWindowError("no window"), KeyboardInterrupt()])
def test_an_answer_does_not_depend_on_names(error: BaseException) -> None:
    def fails() -> Run:
        raise error

    assert told_targets(run(""), fails) == ("",)
