"""Which window matches, and what is moved along with it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replay_dd.events.model import Action, ActionKind, Input, InputKind, Rectangle, Window
from replay_dd.events.relocate import moved, placed, same_window

THERE = Rectangle(100, 50, 300, 200)
MAIN = Window(0, "tool", "Tool", "Main", THERE, THERE)
ASIDE = replace(MAIN, area=replace(THERE, x_px=130, y_px=40))
CLICK = Action(
    ActionKind.CLICK,
    (
        Input(InputKind.MOVE, 110, 60),
        Input(InputKind.BUTTON_PRESS, button=1),
        Input(InputKind.BUTTON_RELEASE, button=1),
    ),
)
offsets = st.integers(-5000, 5000)


@pytest.mark.parametrize(
    "windows, found",
    [
        ([MAIN], MAIN),
        ([ASIDE], ASIDE),
        ([replace(ASIDE, title="Main *")], replace(ASIDE, title="Main *")),
        (
            [replace(ASIDE, area=replace(ASIDE.area, width_px=10))],
            replace(ASIDE, area=replace(ASIDE.area, width_px=10)),
        ),
        ([replace(ASIDE, title="Open", area=replace(ASIDE.area, width_px=10))], None),
        ([replace(ASIDE, class_name="Other")], None),
        ([replace(ASIDE, override_redirect=True)], None),
        ([replace(MAIN, title="Second"), ASIDE], ASIDE),
        ([MAIN, ASIDE], None),
        ([], None),
    ],
)
def test_the_window_that_is_meant(windows: list[Window], found: Window | None) -> None:
    assert same_window(MAIN, windows) == found


def test_what_is_moved() -> None:
    assert placed(CLICK, MAIN, [MAIN]) is CLICK
    assert placed(CLICK, None, [ASIDE]) is CLICK
    assert placed(CLICK, MAIN, []) is CLICK
    assert placed(CLICK, MAIN, [ASIDE]).start == (140, 50)
    right, below = (replace(MAIN, area=replace(THERE, **there)) for there in ({"x_px": 130}, {"y_px": 40}))
    assert [placed(CLICK, MAIN, [window]).start for window in (right, below)] == [(140, 60), (110, 50)]
    key = Action(ActionKind.KEY, (Input(InputKind.KEY_PRESS, key="a"), Input(InputKind.KEY_RELEASE, key="a")))
    assert placed(key, MAIN, [ASIDE]) is key


@given(st.lists(st.tuples(offsets, offsets), min_size=1), offsets, offsets)
def test_moving_back_gives_the_same_action(path: list[tuple[int, int]], right: int, down: int) -> None:
    action = replace(CLICK, inputs=(*(Input(InputKind.MOVE, x, y) for x, y in path), *CLICK.inputs[1:]))
    away = moved(action, right, down)
    assert moved(away, -right, -down) == action
    assert [item.kind for item in away.inputs] == [item.kind for item in action.inputs]
