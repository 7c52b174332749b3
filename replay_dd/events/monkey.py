"""Chooses what a monkey does next: random actions, from a seed and the current windows.

Rules of this module:

* All randomness comes from the ``random.Random`` passed in.
* A monkey stays inside the program's windows: their frames belong to the window manager. It never presses Alt+F4, which
  closes a window.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

from replay_dd.events.actions import SYMBOLS
from replay_dd.events.model import Action, ActionKind, Input, InputKind, Rectangle, Screen, Window

_KEYS = (
    *("Return", "Tab", "Escape", "space", "BackSpace", "Delete", "Left", "Right", "Up", "Down", "Home", "End"),
    *("Prior", "Next", "Insert", "Menu", "F1", "F2", "F3", "F5", "F6", "F9", "F10", "F12"),
)
_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"
_TEXTS = "abcdefghijklmnopqrstuvwxyz0123456789    .,-+*/=()%#&'\"<>?!_"
_CHORD_KEYS = (*_LETTERS, "Return", "Tab", "Left", "Right", "Up", "Down", "Home", "End", "Delete", "space")
_WEIGHTS = {
    ActionKind.CLICK: 40,
    ActionKind.MOTION: 10,
    ActionKind.KEY: 14,
    ActionKind.TEXT: 10,
    ActionKind.CHORD: 10,
    ActionKind.DRAG: 8,
    ActionKind.DOUBLE_CLICK: 5,
    ActionKind.WHEEL: 3,
}
_BUTTON_WEIGHTS = {1: 80, 3: 13, 2: 7}
# Menus and dialogs are above other windows, and a person would use them first.
_TOPMOST = 0.7


def next_action(chance: random.Random, windows: Sequence[Window], screen: Screen) -> Action:
    """Choose the next action.

    Args:
        chance: the source of randomness.
        windows: the program's windows, from bottom to top; ``part`` is the part to aim at.
        screen: the screen, which limits positions.
    """
    kind = chance.choices(list(_WEIGHTS), list(_WEIGHTS.values()))[0]
    window = _window(chance, windows)
    number = None if window is None else window.number
    match kind:
        case ActionKind.KEY:
            key = chance.choice(_KEYS)
            return Action(kind, _typed(key), window=number, text=key)
        case ActionKind.TEXT:
            text = "".join(chance.choice(_TEXTS) for _ in range(chance.randint(1, 8)))
            return Action(kind, typed_text(text), window=number, text=text)
        case ActionKind.CHORD:
            modifier, name = chance.choice([("Control_L", "Ctrl"), ("Alt_L", "Alt"), ("Shift_L", "Shift")])
            key = chance.choice(_CHORD_KEYS)
            return Action(kind, _typed(key, modifier), window=number, text=f"{name}+{key}")
    start = _point(chance, window, screen)
    move = Input(InputKind.MOVE, *start)
    button = chance.choices(list(_BUTTON_WEIGHTS), list(_BUTTON_WEIGHTS.values()))[0]
    match kind:
        case ActionKind.MOTION:
            return Action(kind, (move,), window=number)
        case ActionKind.DRAG:
            end = _point(chance, window, screen)
            steps = [
                Input(
                    InputKind.MOVE,
                    start[0] + (end[0] - start[0]) * step // 4,
                    start[1] + (end[1] - start[1]) * step // 4,
                )
                for step in range(1, 5)
            ]
            press, release = _clicked(button)
            return Action(kind, (move, press, *steps, release), window=number)
        case ActionKind.WHEEL:
            return Action(kind, (move, *_clicked(chance.choice([4, 5])) * chance.randint(1, 3)), window=number)
        case ActionKind.DOUBLE_CLICK:
            return Action(kind, (move, *_clicked(1) * 2), window=number)
    return Action(ActionKind.CLICK, (move, *_clicked(button)), window=number)


def typed_text(text: str) -> tuple[Input, ...]:
    """The inputs that type a text; its characters must be on a US keyboard."""
    inputs: list[Input] = []
    for character in text:
        symbol = SYMBOLS.get(character, character)
        shifted = _SHIFTED.get(character) or (character.lower() if character.isupper() else None)
        inputs += _typed(shifted, "Shift_L") if shifted else _typed(symbol)
    return tuple(inputs)


def _typed(key: str, modifier: str = "") -> tuple[Input, ...]:
    inputs = (Input(InputKind.KEY_PRESS, key=key), Input(InputKind.KEY_RELEASE, key=key))
    if not modifier:
        return inputs
    return (Input(InputKind.KEY_PRESS, key=modifier), *inputs, Input(InputKind.KEY_RELEASE, key=modifier))


def _clicked(button: int) -> tuple[Input, Input]:
    return Input(InputKind.BUTTON_PRESS, button=button), Input(InputKind.BUTTON_RELEASE, button=button)


def _window(chance: random.Random, windows: Sequence[Window]) -> Window | None:
    if not windows:
        return None
    return windows[-1] if chance.random() < _TOPMOST else chance.choice(windows)


def _point(chance: random.Random, window: Window | None, screen: Screen) -> tuple[int, int]:
    whole = Rectangle(0, 0, screen.width_px, screen.height_px)
    for area in (whole,) if window is None else (window.part, window.area, whole):
        left, right = max(area.x_px, 0), min(area.x_px + area.width_px, screen.width_px)
        top, bottom = max(area.y_px, 0), min(area.y_px + area.height_px, screen.height_px)
        if left < right and top < bottom:
            return chance.randrange(left, right), chance.randrange(top, bottom)
    return 0, 0


# The key that types a character together with Shift (in the US layout, which Xvfb uses).
_UNSHIFTED = (
    "1 2 3 4 5 6 7 8 9 0 minus equal bracketleft bracketright backslash semicolon apostrophe comma period slash grave"
)
_SHIFTED = dict(zip('!@#$%^&*()_+{}|:"<>?~', _UNSHIFTED.split(), strict=True))
