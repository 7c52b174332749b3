"""Keys by their symbols on a real display."""

from __future__ import annotations

import struct

import pytest

from replay_dd.errors.user import NoSuchKeyError
from replay_dd.events.model import Input, InputKind
from replay_dd.events.x11.display import PrivateDisplay
from replay_dd.events.x11.keys import Keyboard, is_character
from replay_dd.events.x11.player import XTestPlayer
from replay_dd.events.x11.stream import KeyboardChange, keyboard_changes


def test_symbols_without_a_key_get_spare_ones_again_and_again(display: PrivateDisplay) -> None:
    keyboard = Keyboard(display.connection)
    names = [f"0x{0x1000400 + number:x}" for number in range(300)]
    codes = [keyboard.key_for(name) for name in names]
    assert len(set(codes)) > 10
    assert len(set(codes[-11:])) == 11, "nobody holds so many"
    fresh = Keyboard(display.connection)
    assert [fresh.symbol_at(code, 0) for code in codes[-11:]] == [
        Keyboard(display.connection).symbol_at(code, 1) for code in codes[-11:]
    ]
    assert keyboard.key_for("a") == fresh.key_for("a"), "keys of the layout stay as they are"
    assert fresh.key_for(names[-1]) == codes[-1]


@pytest.mark.parametrize("name", ["NoSuchSymbol", "", "0xzz"])
def test_a_symbol_that_does_not_exist_is_refused(display: PrivateDisplay, name: str) -> None:
    with pytest.raises(NoSuchKeyError, match=f"`{name}`") as refused:
        XTestPlayer(display.connection).play(Input(InputKind.KEY_PRESS, key=name))
    assert "--player xtest" not in str(refused.value.hint), "this is that player"


def test_what_is_a_character() -> None:
    typed = ["a", "space", "eacute", "0x20ac", "Cyrillic_yeru", "KP_5", "0x1000451"]
    assert [name for name in typed if not is_character(name)] == []
    others = ["Return", "Shift_L", "F1", "Left", "Escape", "KP_Enter", "0x1008ff13", "nothing"]
    assert [name for name in others if is_character(name)] == []


def test_recorded_changes_of_the_keyboard() -> None:
    request = struct.pack("=BBHBBxx4I", 100, 2, 6, 97, 2, 0xE9, 0xC9, 0, 0)
    change = KeyboardChange(97, ((0xE9, 0xC9), (0, 0)))
    assert list(keyboard_changes(request)) == [change]
    assert list(keyboard_changes(request + request)) == [change, change]
    assert list(keyboard_changes(request[:-4])) == []
    assert list(keyboard_changes(b"\0" * 8)) == []
