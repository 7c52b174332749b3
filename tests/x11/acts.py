"""Short names for the actions of the tests."""

from __future__ import annotations

import random

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


# Three actions that belong together, whatever comes between.
NEEDED = (key("a"), click(), key("z"))


def noise(count: int, seed: int) -> list[Action]:
    """Actions that do nothing to them."""
    chance = random.Random(seed)
    makers = [
        lambda: motion(chance.randrange(250, 550), chance.randrange(220, 380)),
        lambda: key(chance.choice("bcdefg")),
        lambda: click(chance.randrange(250, 550), chance.randrange(220, 380), 3),
    ]
    return [chance.choice(makers)() for _ in range(count)]


def with_noise(*counts: int) -> tuple[Action, ...]:
    """The needed actions, with so many others before, between and after them."""
    first, second, third, rest = (noise(count, count) for count in counts)
    return (*first, NEEDED[0], *second, NEEDED[1], *third, NEEDED[2], *rest)
