"""Which widget an action is done to, and how it is called."""

from __future__ import annotations

import pytest

from replay_dd.events.model import Rectangle, Window
from replay_dd.events.x11.accessibility.pointed import in_words, opened, widget_at
from replay_dd.events.x11.accessibility.tree import FOCUSED, MULTI_LINE, SELECTED, Widget

AREA = Rectangle(100, 50, 400, 300)
WINDOW = Window(0, "", "", "Tasks", AREA, AREA)


def widget(
    role: str, name: str = "", area: tuple[int, int, int, int] = (0, 0, 0, 0), parent: int | None = 0, state: int = 0
) -> Widget:
    return Widget(f"/{role}", role, name, 1 << state, Rectangle(*area), parent)


FORM = [
    widget("frame", "Tasks", (100, 50, 400, 300), None),
    widget("filler", "", (100, 50, 400, 300)),
    widget("label", "Name:", (110, 60, 50, 20), 1),
    widget("text", "", (170, 60, 100, 20), 1),
    widget("text", "", (280, 60, 100, 20), 1),
    widget("push button", "Save", (110, 90, 80, 20), 1),
    widget("list", "", (110, 120, 100, 60), 1),
    widget("list item", "tea", (110, 120, 100, 20), 6),
    widget("page tab", "Note", (300, 120, 50, 20), 1, FOCUSED),
    widget("label", "Comment", (110, 190, 60, 20), 1),
    widget("text", "", (110, 215, 200, 60), 1, MULTI_LINE),
    widget("table cell", "", (300, 250, 10, 10), 1),
    widget("panel", "Extras", (330, 230, 150, 70), 1),
    widget("slider", "", (340, 275, 100, 20), 12),
    widget("combo box", "red", (340, 250, 100, 20), 12),
    widget("spin button", "", (340, 90, 80, 20), 1),
    widget("text", "3", (340, 90, 60, 20), 15),
]


def told(
    widgets: list[Widget],
    place: tuple[int, int] | None,
    window: Window = WINDOW,
    labelled: str = "",
    menus: tuple[Rectangle, ...] = (),
) -> str:
    found = widget_at(widgets, window, place, menus)
    return "" if found is None else in_words(widgets, found, lambda _: labelled)


@pytest.mark.parametrize(
    "place, words",
    [
        ((120, 95), 'button "Save"'),
        ((180, 65), 'entry "Name"'),
        ((300, 65), "entry 2 of 2"),  # between it and the label is what that is for
        ((120, 125), 'row "tea" of list'),
        ((120, 170), "list"),
        ((310, 125), 'tab "Note"'),
        ((120, 220), 'text "Comment"'),
        ((302, 252), "cell"),
        ((350, 280), 'slider "Extras"'),
        ((350, 255), 'combo box "Extras"'),  # not what is chosen in it
        ((350, 95), "spinbox"),  # not the entry in it
        ((120, 65), 'label "Name"'),
        ((490, 340), ""),
    ],
)
def test_what_is_under_a_place(place: tuple[int, int], words: str) -> None:
    assert told(FORM, place) == words


def test_what_the_program_says_of_a_label_counts_before_what_stands_beside() -> None:
    assert told(FORM, (180, 65), labelled="Full name:") == 'entry "Full name"'
    assert told(FORM, (350, 255), labelled="Colour") == 'combo box "Colour"'


def test_the_keyboard_is_with_what_has_it_and_not_with_the_tab_in_front() -> None:
    assert told(FORM, None) == 'tab "Note"'
    typed = [*FORM[:3], widget("text", "", (170, 60, 100, 20), 1, FOCUSED), *FORM[4:]]
    assert told(typed, None) == 'entry "Name"'


def test_places_count_from_the_corner_of_a_window_that_does_not_know_where_it_is() -> None:
    there = [
        widget("window", "Tasks", (0, 0, 400, 300), None),
        widget("button", "GtkMenuButton", (0, 92, 400, 34)),
        widget("button", "", (11, 97, 378, 24), 1),
        widget("label", "Menu", (172, 97, 36, 24), 2),
        widget("text box", "GtkEntry", (52, 1, 150, 32)),
        widget("list item", "", (2, 128, 396, 16)),
        widget("label", "one", (2, 128, 396, 16), 5),
        widget("button", "Save", (17, 39, 366, 24)),
        widget("label", "Save", (17, 39, 366, 24), 7),
    ]
    assert told(there, (300, 155)) == 'button "Menu"'
    assert told(there, (160, 65)) == "entry"
    assert told(there, (160, 180)) == 'row "one"'
    assert told(there, (160, 95)) == 'button "Save"'


def test_a_dialog_hides_what_is_below_it() -> None:
    dialog = Rectangle(90, 40, 200, 100)
    both = [*FORM, widget("dialog", "Sure?", (90, 40, 200, 100), None)]
    both.append(widget("push button", "Yes", (110, 90, 80, 20), len(FORM)))
    assert told(both, (120, 95), Window(1, "", "", "Sure?", dialog, dialog)) == 'button "Yes"'
    assert told(both, (120, 95)) == 'button "Save"'


def test_entries_of_an_open_menu_that_is_a_window_but_no_object() -> None:
    menu = Rectangle(100, 70, 80, 60)
    opened = [
        widget("frame", "Tasks", (100, 50, 400, 300), None),
        widget("menu", "Edit", (100, 50, 40, 20)),
        widget("menu item", "Delete", (101, 80, 78, 20), 1),
        widget("push button", "Save", (110, 60, 180, 80)),
    ]
    assert told(opened, (120, 90), Window(1, "", "", "program", menu, menu, (), True)) == 'menu entry "Delete"'


def test_windows_of_one_size_are_told_apart_by_title_and_place() -> None:
    twins = []
    for title, corner, text in (("Tasks", (0, 0), "One"), ("Other", (100, 50), "Two"), ("Tasks", (100, 50), "Three")):
        twins.append(widget("frame", title, (*corner, 400, 300), None))
        twins.append(widget("push button", text, (*corner, 400, 300), len(twins) - 1))
    assert told(twins, (150, 95)) == 'button "Three"'


MENU = Rectangle(300, 100, 120, 200)


def with_focus(*others: Widget) -> list[Widget]:
    """A form of which the entry has the keyboard, and what is on it."""
    return [*FORM[:3], widget("text", "", (170, 60, 100, 20), 1, FOCUSED), *others]


@pytest.mark.parametrize("state", [FOCUSED, SELECTED])
def test_keys_are_for_the_entry_of_the_open_menu_that_is_lit(state: int) -> None:
    opened = with_focus(
        widget("menu bar", "", (100, 50, 400, 20), 1, FOCUSED),
        widget("menu", "Edit", (100, 50, 40, 20), 4, state),
        widget("menu item", "Cut", (300, 100, 120, 20), 5),
        widget("check menu item", "Paste", (300, 120, 120, 20), 5, state),
        widget("menu", "Amount", (300, 140, 120, 20), 5),
        widget("list", "", (110, 120, 100, 60), 1),
        widget("list item", "tea", (110, 120, 100, 20), 9, SELECTED),
    )
    assert told(opened, None, menus=(MENU,)) == 'menu entry "Paste"'


def test_keys_are_for_nothing_else_while_a_menu_is_open() -> None:
    assert told(with_focus(), None) == 'entry "Name"'
    assert told(with_focus(), None, menus=(MENU,)) == ""


def test_keys_are_for_the_row_of_a_list_that_drops_down() -> None:
    box = with_focus(
        widget("combo box", "green", (300, 80, 120, 20), 1),
        widget("list", "", (300, 100, 150, 60), 4),
        widget("list item", "red", (300, 120, 150, 20), 5, FOCUSED),
    )
    assert told(box, None, menus=(MENU,)) == 'row "red" of combo box "green"'
    assert told(box, None) == 'entry "Name"'  # the list has gone and does not know it


def test_keys_are_for_what_is_in_a_popover() -> None:
    there = [
        widget("window", "Tasks", (0, 0, 400, 300), None),
        widget("panel", "GtkPopover", (20, 20, 100, 100)),
        widget("text box", "GtkEntry", (20, 20, 100, 30), 1, FOCUSED),
    ]
    assert told(there, None, menus=(MENU,)) == "entry"


def test_the_menu_of_an_entry() -> None:
    menu = [
        widget("frame", "Tasks", (100, 50, 400, 300), None),
        widget("menu item", "Edit"),
        widget("popup menu", "", parent=1),
        widget("menu item", "Paste", parent=2),
        widget("push button", "Save"),
    ]
    assert [opened(menu, number) for number in (3, 4)] == ['menu "Edit"', ""]
