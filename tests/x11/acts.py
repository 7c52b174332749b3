"""Short names for the actions of the tests."""

from __future__ import annotations

from replay_dd.events.model import Action, ActionKind, Input, InputKind

MIDDLE = (400, 300)


def key(name: str) -> Action:
    inputs = (Input(InputKind.KEY_PRESS, key=name), Input(InputKind.KEY_RELEASE, key=name))
    return Action(ActionKind.KEY, inputs, text=name)


def motion(x: int, y: int) -> Action:
    return Action(ActionKind.MOTION, (Input(InputKind.MOVE, x, y),))


def click(x: int = MIDDLE[0], y: int = MIDDLE[1], button: int = 1) -> Action:
    inputs = (
        Input(InputKind.MOVE, x, y),
        Input(InputKind.BUTTON_PRESS, button=button),
        Input(InputKind.BUTTON_RELEASE, button=button),
    )
    return Action(ActionKind.CLICK, inputs)
