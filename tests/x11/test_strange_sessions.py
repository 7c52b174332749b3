"""Whatever a session says that can be read, playing it ends, and not with a traceback."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest

from replay_dd.errors.user import NoSuchKeyError
from replay_dd.events.model import Action, ActionKind, Input, InputKind, Screen, Session
from replay_dd.events.run import Conditions, run_session
from replay_dd.events.target import describe_gui_program
from replay_dd.events.x11.connection import Connection
from replay_dd.events.x11.display import PrivateDisplay
from replay_dd.events.x11.keys import keyboard_of

pytestmark = pytest.mark.once


def pressed(key: str) -> tuple[Input, ...]:
    return Input(InputKind.KEY_PRESS, key=key), Input(InputKind.KEY_RELEASE, key=key)


def clicked(button: int) -> tuple[Input, ...]:
    return Input(InputKind.BUTTON_PRESS, button=button), Input(InputKind.BUTTON_RELEASE, button=button)


@pytest.mark.parametrize(
    "inputs",
    [
        *(pressed(f"0x{'f' * 20}"), pressed("0xffffffff"), pressed("0x_1"), pressed("\udcff"), pressed("\0")),
        *(pressed("x" * 5000), pressed(""), pressed("-help"), clicked(255), clicked(0)),
        (Input(InputKind.MOVE, 32767, -32768), Input(InputKind.MOVE, 70_000, -70_000)),
    ],
)
def test_strange_inputs(inputs: tuple[Input, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a working folder that also holds the folder for temporary files, with what the display has there."""
    monkeypatch.chdir(tmp_path)
    actions = tuple(Action(kind, inputs, text="\0\ud800") for kind in (ActionKind.MOTION, ActionKind.TEXT))
    session = Session(describe_gui_program(("xclock",)), Screen(400, 300), actions=actions)
    keys = {one.key for one in inputs if one.kind is InputKind.KEY_PRESS}
    refused = contextlib.suppress(NoSuchKeyError) if keys else contextlib.nullcontext()
    with PrivateDisplay(session.screen, "") as display, refused:
        assert not run_session(session, actions, display, Conditions()).ending.failed


@pytest.mark.parametrize("keyboard", ["../../../evil;;", "/evil", "us;\0;", "a b", "us;;;;;;", "us\n;;"])
def test_a_strange_keyboard_is_left_out(keyboard: str) -> None:
    with PrivateDisplay(Screen(400, 300, keyboard=keyboard), "") as display:
        assert keyboard_of(display.connection).startswith("us")


def test_a_keyboard_that_is_there_is_taken() -> None:
    with PrivateDisplay(Screen(400, 300, keyboard="de;nodeadkeys;"), "") as display:
        connection = Connection(display.name)
        try:
            assert keyboard_of(connection).startswith("de;nodeadkeys")
        finally:
            connection.close()
