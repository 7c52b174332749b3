"""Raw events become what a person did, and each action can be played alone."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replay_dd.events.actions import MODIFIERS, actions_from, text_of
from replay_dd.events.describe import in_words
from replay_dd.events.model import Action, ActionKind, Event, Input, InputKind, Rectangle, Window
from replay_dd.events.paths import LONGEST_STEP_PX, simplified
from replay_dd.events.wellformed import completed, groups_of, held_by, is_press, is_well_formed

SHIFTED = {"a": "A", "1": "exclam"}


class Person:
    """Makes events, each a few milliseconds after the last one."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.now, self.x, self.y = 0, 100, 100
        self.held: list[str] = []

    def _add(self, kind: InputKind, after: int, button: int = 0, key: str = "") -> None:
        self.now += after
        shift = any(name.startswith("Shift") for name in self.held)
        symbol = SHIFTED.get(key, key) if shift else key
        self.events.append(Event(kind, self.now, self.x, self.y, button, key, symbol, window=0))

    def move(self, x: int, y: int, after: int = 10) -> Person:
        self.x, self.y = x, y
        self._add(InputKind.MOVE, after)
        return self

    def down(self, button: int = 1, after: int = 50) -> Person:
        self._add(InputKind.BUTTON_PRESS, after, button)
        return self

    def up(self, button: int = 1, after: int = 50) -> Person:
        self._add(InputKind.BUTTON_RELEASE, after, button)
        return self

    def click(self, button: int = 1, after: int = 50) -> Person:
        return self.down(button, after).up(button)

    def press(self, key: str, after: int = 50) -> Person:
        self._add(InputKind.KEY_PRESS, after, key=key)
        self.held.append(key)
        return self

    def let_go(self, key: str, after: int = 50) -> Person:
        self.held.remove(key)
        self._add(InputKind.KEY_RELEASE, after, key=key)
        return self

    def type(self, *keys: str) -> Person:
        for key in keys:
            self.press(key).let_go(key)
        return self

    @property
    def actions(self) -> tuple[Action, ...]:
        return actions_from(self.events)

    @property
    def told(self) -> list[str]:
        area = Rectangle(0, 0, 500, 500)
        return [in_words(action, Window(0, "", "", "W", area, area)) for action in self.actions]


def test_typing_becomes_text() -> None:
    person = Person().type("h", "i", "space").press("Shift_L").type("1").let_go("Shift_L").type("Return", "x")
    assert person.told == ["type 'hi !' in \"W\"", 'press Return in "W"', "type 'x' in \"W\""]


@pytest.mark.parametrize(
    "symbols, text",
    [
        (["eacute", "0x10020ac", "aring", "Ooblique"], "é€åØ"),
        (["0x101f600"], "😀"),
        (["EuroSign", "yen", "ydiaeresis"], "€¥ÿ"),
    ],
)
def test_characters_without_a_key_of_their_own_are_text(symbols: list[str], text: str) -> None:
    assert "".join(map(text_of, symbols)) == text


@pytest.mark.parametrize("symbol", ["Return", "0x1000007", "0x100d800", "0x110ffff1", "0xff0d", "0x20ac"])
def test_other_key_symbols_are_none(symbol: str) -> None:
    assert text_of(symbol) == ""


def test_keys_that_overlap_count_in_the_order_of_their_presses() -> None:
    person = Person().press("a").press("b").let_go("a").press("c").let_go("b").let_go("c")
    assert person.told == ["type 'abc' in \"W\""]


def test_a_key_that_repeats_itself() -> None:
    person = Person().press("a").press("a").press("a").let_go("a")
    assert person.told == ["type 'aaa' in \"W\""]


def test_a_pause_divides_text() -> None:
    person = Person().type("a").press("b", after=2000).let_go("b")
    assert len(person.actions) == 2


def test_chords_and_modifiers_alone() -> None:
    person = Person().press("Control_L").press("Alt_L").type("p").let_go("Alt_L").let_go("Control_L").type("Super_L")
    assert person.told == ['press Ctrl+Alt+p in "W"', 'press Super_L in "W"']
    keys = [item.key for item in person.actions[0].inputs]
    assert keys == ["Control_L", "Alt_L", "p", "p", "Alt_L", "Control_L"]


def test_clicks() -> None:
    person = Person().click().move(200, 200, after=800).click(3, after=900)
    assert person.told == [
        'click at 100,100 in "W"',
        'move the pointer to 200,200 in "W"',
        'right-click at 200,200 in "W"',
    ]


def test_two_clicks_are_a_double_click_only_if_they_are_quick_and_near() -> None:
    assert [action.kind for action in Person().click().move(102, 100).click().actions] == [ActionKind.DOUBLE_CLICK]
    assert [action.kind for action in Person().click().click(after=900).actions] == [ActionKind.CLICK] * 2
    kinds = [action.kind for action in Person().click().move(150, 100).click().actions]
    assert kinds == [ActionKind.CLICK, ActionKind.MOTION, ActionKind.CLICK]
    assert [action.kind for action in Person().click().click(3).actions] == [ActionKind.CLICK] * 2


def test_a_hand_that_trembles_does_not_drag() -> None:
    (action,) = Person().down().move(101, 102).up().actions
    assert action.kind is ActionKind.CLICK
    assert [item.kind for item in action.inputs].count(InputKind.MOVE) == 1


def test_a_drag_keeps_its_path() -> None:
    person = Person().press("Shift_L").down()
    for step in range(1, 101):
        person.move(100 + step, 100)
    (action,) = person.up().let_go("Shift_L").actions
    assert action.kind is ActionKind.DRAG
    assert (action.start, action.end) == ((100, 100), (200, 100))
    assert action.modifiers == ("Shift_L",)
    moves = [item for item in action.inputs if item.kind is InputKind.MOVE]
    assert 3 < len(moves) < 12
    assert person.told == ['Shift+drag from 100,100 to 200,100 in "W"']


def test_the_wheel() -> None:
    assert Person().click(5).click(5).click(5).told == ['wheel down at 100,100 in "W", 3 times']


def test_a_key_within_a_drag_stays_in_it() -> None:
    (action,) = Person().down().move(150, 150).type("Escape").move(180, 150).up().actions
    assert action.kind is ActionKind.DRAG
    assert "Escape" in [item.key for item in action.inputs]


def test_a_session_that_ends_in_the_middle_of_a_gesture() -> None:
    for person in (Person().down(), Person().press("Alt_L"), Person().press("Control_L").press("a")):
        (action,) = person.actions
        assert is_well_formed(action.inputs)


KEYS = st.sampled_from(["a", "1", "Return", "Shift_L", "Control_L", "Alt_L"])


@st.composite
def event_lists(draw: st.DrawFn) -> list[Event]:
    """Events as a server might report them, including unmatched presses and releases."""
    now, events = 0, []
    for _ in range(draw(st.integers(0, 40))):
        now += draw(st.sampled_from([0, 5, 60, 400, 1500]))
        kind = draw(st.sampled_from(InputKind))
        x, y = draw(st.integers(0, 60)), draw(st.integers(0, 60))
        is_key = kind in (InputKind.KEY_PRESS, InputKind.KEY_RELEASE)
        is_button = kind in (InputKind.BUTTON_PRESS, InputKind.BUTTON_RELEASE)
        key = draw(KEYS) if is_key else ""
        button = draw(st.sampled_from([1, 3, 4])) if is_button else 0
        events.append(Event(kind, now, x, y, button, key, key))
    return events


@given(event_lists())
def test_every_action_can_be_played_by_itself(events: list[Event]) -> None:
    actions = actions_from(events)
    assert all(is_well_formed(action.inputs) for action in actions)
    assert groups_of(actions) == tuple((number,) for number in range(len(actions)))


@given(event_lists())
def test_the_order_of_presses_is_kept(events: list[Event]) -> None:
    actions = actions_from(events)
    played = [item for action in actions for item in action.inputs if is_press(item)]
    buttons = [item.button for item in played if item.button]
    held: set[int] = set()
    expected = []
    for event in events:
        if event.kind is InputKind.BUTTON_PRESS and event.button not in held:
            held.add(event.button)
            expected.append(event.button)
        elif event.kind is InputKind.BUTTON_RELEASE:
            held.discard(event.button)
    assert buttons == expected
    if not expected:
        keys = [item.key for item in played if item.key not in MODIFIERS]
        assert keys == [
            event.key for event in events if event.kind is InputKind.KEY_PRESS and event.key not in MODIFIERS
        ]
        assert not [action for action in actions if action.kind in (ActionKind.CLICK, ActionKind.DRAG)]


@given(event_lists())
def test_times_do_not_go_back(events: list[Event]) -> None:
    times = [action.time_ms for action in actions_from(events) if action.kind is not ActionKind.KEY]
    assert times == sorted(times)


INPUTS = st.lists(
    st.one_of(
        st.builds(Input, st.sampled_from([InputKind.KEY_PRESS, InputKind.KEY_RELEASE]), key=st.sampled_from("ab")),
        st.builds(Input, st.sampled_from([InputKind.BUTTON_PRESS, InputKind.BUTTON_RELEASE]), button=st.integers(1, 2)),
        st.builds(Input, st.just(InputKind.MOVE), st.integers(0, 9), st.integers(0, 9)),
    ),
    max_size=8,
)


@given(INPUTS)
def test_completed_inputs_are_well_formed(inputs: list[Input]) -> None:
    whole = completed(inputs)
    assert is_well_formed(whole)
    if is_well_formed(inputs):
        assert whole == tuple(inputs)


@given(st.lists(INPUTS, max_size=6))
def test_groups_are_a_partition_that_keeps_presses_with_their_releases(lists: list[list[Input]]) -> None:
    actions = [Action(ActionKind.KEY, tuple(inputs)) for inputs in lists]
    groups = groups_of(actions)
    assert sorted(number for group in groups for number in group) == list(range(len(actions)))
    assert [group[0] for group in groups] == sorted(group[0] for group in groups)
    whole = [item for action in actions for item in action.inputs]
    if is_well_formed(whole):
        # Then every group is well formed, and so is each configuration of groups.
        for group in groups:
            assert is_well_formed([item for number in group for item in actions[number].inputs])
    for item in whole:
        assert (held_by(item) is None) == (item.kind is InputKind.MOVE)


@given(st.lists(st.tuples(st.integers(0, 300), st.integers(0, 300)), max_size=30))
def test_a_simplified_path_has_the_same_ends_and_only_old_points(path: list[tuple[int, int]]) -> None:
    points = simplified(path)
    assert set(points) <= set(path)
    assert points[:1] == path[:1]
    assert points[-1:] == path[-1:]


def test_a_straight_path_keeps_some_points() -> None:
    points = simplified([(x, 50) for x in range(301)])
    steps = [other[0] - one[0] for one, other in itertools.pairwise(points)]
    assert max(steps) <= LONGEST_STEP_PX
    assert len(points) < 15
    corner = simplified([(x, 0) for x in range(20)] + [(19, y) for y in range(20)])
    assert (19, 0) in corner
