"""Actions with some of their inputs: always well formed, and renamed to what they have become."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from replay_dd.dd import IntervalSet
from replay_dd.events.describe import in_words
from replay_dd.events.model import Action, ActionKind, Input, InputKind, Rectangle, Screen, Window
from replay_dd.events.monkey import next_action, typed_text
from replay_dd.events.wellformed import is_well_formed
from replay_dd.events.within_actions import WithinActions

SCREEN = Screen(800, 600)
AREA = Rectangle(0, 0, 800, 600)
WINDOW = Window(0, "t", "T", "T", AREA, AREA)


def press(button: int) -> tuple[Input, Input]:
    return Input(InputKind.BUTTON_PRESS, button=button), Input(InputKind.BUTTON_RELEASE, button=button)


def keys(*names: str) -> tuple[Input, ...]:
    downs = [Input(InputKind.KEY_PRESS, key=name) for name in names]
    return (*downs, *(Input(InputKind.KEY_RELEASE, key=name) for name in reversed(names)))


def move(x: int, y: int) -> Input:
    return Input(InputKind.MOVE, x, y)


@given(st.integers(0, 10**6), st.integers(1, 12), st.randoms(use_true_random=False))
def test_any_part_of_a_session_is_well_formed(seed: int, count: int, chance: random.Random) -> None:
    monkey = random.Random(seed)
    actions = [next_action(monkey, [WINDOW], SCREEN) for _ in range(count)]
    difference = WithinActions(actions, range(count))
    assert difference.actions(difference.all) == tuple(actions)
    kept = IntervalSet.of(sorted(number for number in range(difference.count) if chance.random() < 0.5))
    left = difference.actions(kept)
    assert is_well_formed(item for action in left for item in action.inputs)
    assert all(action.inputs for action in left)
    assert len(left) == len(difference.places(kept)) == len(set(difference.places(kept)))
    length = chance.randrange(len(left) + 1)
    assert difference.actions(difference.played(kept, length)) == left[:length]
    for action in left:
        assert in_words(action, WINDOW)


def test_what_an_action_becomes() -> None:
    first, second = press(1)
    drag = Action(ActionKind.DRAG, (move(1, 1), first, move(5, 5), move(9, 9), second))
    double = Action(ActionKind.DOUBLE_CLICK, (move(1, 1), first, second, first, second))
    chord = Action(ActionKind.CHORD, keys("Control_L", "Alt_L", "p"), text="Ctrl+Alt+p")
    text = Action(ActionKind.TEXT, typed_text("aBc"), text="aBc")
    for action, kept, kind, words in (
        (drag, {0, 1}, ActionKind.CLICK, "click at 1,1 of the screen"),
        (drag, {0, 1, 3}, ActionKind.DRAG, "drag from 1,1 of the screen to 9,9 of the screen"),
        (drag, {2, 3}, ActionKind.MOTION, "move the pointer to 9,9 of the screen"),
        (drag, {1}, ActionKind.CLICK, "click where the pointer is"),
        (double, {0, 2}, ActionKind.CLICK, "click at 1,1 of the screen"),
        (chord, {2}, ActionKind.KEY, "press p"),
        (chord, {0, 2}, ActionKind.CHORD, "press Ctrl+p"),
        (chord, {1}, ActionKind.KEY, "press Alt"),
        (text, {1, 2, 3}, ActionKind.TEXT, "type 'Bc'"),
        (text, {0}, ActionKind.TEXT, "type 'a'"),
    ):
        difference = WithinActions([action], [7])
        (found,) = difference.actions(IntervalSet.of(sorted(kept)))
        assert (found.kind, in_words(found, None)) == (kind, words)
        assert difference.places(IntervalSet.of(sorted(kept))) == (7,)


def test_a_press_that_another_action_releases() -> None:
    first, second = press(1)
    actions = [Action(ActionKind.CLICK, (move(1, 1), first)), Action(ActionKind.CLICK, (move(2, 2), second))]
    difference = WithinActions(actions, [0, 1])
    assert difference.count == 3
    assert [action.inputs for action in difference.actions(IntervalSet.of([1]))] == [(first,), (second,)]
