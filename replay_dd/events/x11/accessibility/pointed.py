"""Which object of a program an action is done to, and how a person would call it.

Rules of this module:

* The X server knows which window is under the pointer; that window is found among the objects by its size and title,
  and places count from its corner. So toolkits that do not know where their windows are are understood, too.
* What is named is what a person aims at: the button, not the label that lies on it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from replay_dd.events.describe import on_one_line
from replay_dd.events.model import Rectangle, Window
from replay_dd.events.x11.accessibility.tree import FOCUSED, MULTI_LINE, SELECTED, Widget

# What a person aims at, by the name of its role.
_PLAIN = {
    "push button": "button",
    "push button menu": "button",
    "button": "button",
    "toggle button": "toggle button",
    "check box": "check box",
    "checkbox": "check box",
    "switch": "switch",
    "radio button": "radio button",
    "radio": "radio button",
    "text": "entry",
    "entry": "entry",
    "text box": "entry",
    "textbox": "entry",
    "search box": "entry",
    "password text": "password entry",
    "combo box": "combo box",
    "combobox": "combo box",
    "spin button": "spinbox",
    "slider": "slider",
    "scroll bar": "scroll bar",
    "link": "link",
    "calendar": "calendar",
    "canvas": "canvas",
    "drawing area": "drawing area",
    "list": "list",
    "list box": "list",
    "table": "table",
    "grid": "table",
    "tree": "tree",
    "tree table": "tree",
    "tree grid": "tree",
    "menu": "menu",
}
# Parts of widgets: what they are called, and whether the widget is named, too.
_PARTS = {
    "menu item": ("menu entry", False),
    "check menu item": ("menu entry", False),
    "radio menu item": ("menu entry", False),
    "menu item checkbox": ("menu entry", False),
    "menu item radio": ("menu entry", False),
    "page tab": ("tab", False),
    "tab": ("tab", False),
    "column header": ("heading", False),
    "table column header": ("heading", False),
    "list item": ("row", True),
    "tree item": ("row", True),
    "table row": ("row", True),
    "row": ("row", True),
    "table cell": ("cell", True),
    "cell": ("cell", True),
    "grid cell": ("cell", True),
}
_MENU_ENTRIES = ("menu", *(role for role, (part, _) in _PARTS.items() if part == "menu entry"))
_TABS = ("page tab", "tab")
_LABELS = ("label", "static", "caption")
_GROUPS = ("panel", "grouping", "group", "group box")
# What shows its present value as its name, or what has been typed.
_HAS_VALUE = ("combo box", "combobox")
# GTK 4 calls what has no name after its class.
_POPOVER = "GtkPopover"
_CLASS_NAME = re.compile(r"Gtk[A-Z]\w+")
_NEAR_PX = 8
_FARTHEST_LEFT_PX = 250
_FARTHEST_ABOVE_PX = 30
_TOUCHING_PX = 3

Labels = Callable[[Widget], str]
"""Tells the text of what a program says that labels a widget."""


def widget_at(
    widgets: Sequence[Widget], window: Window, place: tuple[int, int] | None, menus: Sequence[Rectangle] = ()
) -> int | None:
    """The number of the widget that an action is done to; None where there is none.

    Args:
        widgets: those of the program.
        window: where the action is done.
        place: the point of the screen; None for the widget that has the keyboard.
        menus: where open menus are, and lists that drop down: keys are for them.
    """
    top = _top(widgets, window)
    if place is None:
        found = _lit_entry(widgets)
        if found is None:
            focused = [
                number
                for number, widget in enumerate(widgets)
                if widget.has(FOCUSED)
                and (_in_menu(widgets, number, menus) if menus else not _drops_down(widgets, number))
            ]
            here = [number for number in focused if top is not None and _is_in(widgets, number, top)]
            # Qt says of the tab in front that it has the keyboard, wherever that is.
            found = max(here or focused, key=lambda number: (widgets[number].role not in _TABS, number), default=None)
    else:
        found = min(
            _hits(widgets, window, place, top),
            # Of those of the same size the innermost one, which comes later.
            key=lambda number: (_size(widgets[number].area), -number),
            default=None,
        )
    return None if found is None else _aimed_at(widgets, found)


def in_words(widgets: Sequence[Widget], number: int, labels: Labels) -> str:
    """A widget as a person would name it; empty for what only holds others.

    Args:
        widgets: those of the program.
        number: which of them.
        labels: tells what labels one.
    """
    widget = widgets[number]
    text = _text(widgets, number)
    if widget.role in _PARTS:
        part, with_widget = _PARTS[widget.role]
        told = f'{part} "{text}"' if text else part
        holders = [n for n in _holders(widgets, number) if widgets[n].role in _PLAIN]
        # A list that drops down is a part of the combo box.
        dropped = [n for n in holders if _kind(widgets[n]) == "combo box"]
        holder = next(iter(dropped or holders), None)
        return f"{told} of {in_words(widgets, holder, labels)}" if with_widget and holder is not None else told
    if widget.role in _LABELS:
        return f'label "{text}"' if text else ""
    plain = _kind(widget)
    if not plain:
        return ""
    given = text if widget.role not in _HAS_VALUE else ""
    label = given or _tidy(labels(widget)) or _label_beside(widgets, number) or _group(widgets, number) or text
    if label:
        return f'{plain} "{label}"'
    top = _window_of(widgets, number)
    alike = [
        n
        for n, other in enumerate(widgets)
        if _kind(other) == plain and _size(other.area) and _window_of(widgets, n) == top and _aimed_at(widgets, n) == n
    ]
    alike.sort(key=lambda n: (widgets[n].area.y_px, widgets[n].area.x_px))
    return plain if len(alike) < 2 else f"{plain} {alike.index(number) + 1} of {len(alike)}"


def _lit_entry(widgets: Sequence[Widget]) -> int | None:
    """The entry of an open menu that the next key is for. GTK 3 selects it, others give it the focus."""
    lit = [
        number
        for number, widget in enumerate(widgets)
        if widget.role in _MENU_ENTRIES and (widget.has(FOCUSED) or widget.has(SELECTED))
    ]
    return max(lit, key=lambda number: (len(_holders(widgets, number)), number), default=None)


def _in_menu(widgets: Sequence[Widget], number: int, menus: Sequence[Rectangle]) -> bool:
    """Whether a widget lies in an open menu; GTK 4 does not know where that is, but calls it a popover."""
    corner = widgets[number].area
    return any(menu.contains(corner.x_px, corner.y_px) for menu in menus) or any(
        widgets[holder].name.startswith(_POPOVER) for holder in _holders(widgets, number)
    )


def _drops_down(widgets: Sequence[Widget], number: int) -> bool:
    """Whether a widget lies in the list of a combo box. Of Qt 5, it says that it has the focus when that has gone."""
    in_combo_box = any(_kind(widgets[holder]) == "combo box" for holder in _holders(widgets, number))
    return in_combo_box and _kind(widgets[number]) != "entry"


def opened(widgets: Sequence[Widget], number: int) -> str:
    """The menu of an entry, as a person would name it; empty for other widgets, or if it has no name."""
    if widgets[number].role not in _MENU_ENTRIES:
        return ""
    name = next((text for holder in _holders(widgets, number) if (text := _own_text(widgets[holder]))), "")
    return f'menu "{name}"' if name else ""


def _hits(widgets: Sequence[Widget], window: Window, place: tuple[int, int], top: int | None) -> list[int]:
    """The widgets of a window under a place."""
    if top is None:
        # An open menu of GTK 3 is a window, but no object. Its entries know where they are.
        return [
            number
            for number, widget in enumerate(widgets)
            if widget.area.contains(*place) and _is_within(widget.area, window.area)
        ]
    corner = widgets[top].area
    x_px, y_px = place[0] - window.area.x_px + corner.x_px, place[1] - window.area.y_px + corner.y_px
    return [
        number
        for number, widget in enumerate(widgets)
        if widget.area.contains(x_px, y_px) and _is_in(widgets, number, top)
    ]


def _kind(widget: Widget) -> str:
    plain = _PLAIN.get(widget.role, "")
    return "text" if plain == "entry" and widget.has(MULTI_LINE) else plain


def _top(widgets: Sequence[Widget], window: Window) -> int | None:
    """The object that is a window of the display: of its size, and then by title and place."""

    def distance(number: int) -> tuple[bool, int]:
        area = widgets[number].area
        away = abs(area.x_px - window.area.x_px) + abs(area.y_px - window.area.y_px)
        return widgets[number].name != window.title, away

    sized = [
        number
        for number, widget in enumerate(widgets)
        if abs(widget.area.width_px - window.area.width_px) <= _NEAR_PX
        and abs(widget.area.height_px - window.area.height_px) <= _NEAR_PX
    ]
    titled = [
        number
        for number, widget in enumerate(widgets)
        if widget.parent is None and window.title and widget.name == window.title
    ]
    return min(sized or titled, key=distance, default=None)


def _aimed_at(widgets: Sequence[Widget], number: int) -> int:
    """The widget itself where it is one that is aimed at, else the one that it is a piece of."""

    def counts(at: int) -> bool:
        return widgets[at].role in _PARTS or widgets[at].role in _PLAIN

    if counts(number):
        holder = widgets[number].parent
        # GTK 4 has a button in a button for a menu, and Qt and GTK have an entry in a spinbox.
        if holder is None or _kind(widgets[number]) not in ("button", "entry"):
            return number
        outer = _kind(widgets[holder])
        takes = outer in ("spinbox", "combo box") or (outer == "button" and _text(widgets, holder) != "")
        return holder if takes else number
    held = [at for at in _holders(widgets, number) if counts(at)]
    return held[0] if held else number


def _text(widgets: Sequence[Widget], number: int) -> str:
    """The name of a widget, or that of a label on it."""
    name = _own_text(widgets[number])
    if name or widgets[number].role not in (*_PARTS, "push button", "button", "toggle button"):
        return name
    inside = (n for n in range(number + 1, len(widgets)) if _is_in(widgets, n, number))
    return next((text for n in inside if widgets[n].role in _LABELS and (text := _own_text(widgets[n]))), "")


def _own_text(widget: Widget) -> str:
    return "" if _CLASS_NAME.fullmatch(widget.name) else _tidy(widget.name)


def _tidy(text: str) -> str:
    return on_one_line(text.strip().rstrip(":"))


def _label_beside(widgets: Sequence[Widget], number: int) -> str:
    """The text of the nearest label to the left with no other widget between, or else close above."""
    place = widgets[number].area
    top = _window_of(widgets, number)
    mine = [n for n in range(len(widgets)) if n != number and _window_of(widgets, n) == top]
    others = [widgets[n].area for n in mine if _kind(widgets[n]) and not _is_in(widgets, n, number)]
    found = []
    for n in mine:
        area = widgets[n].area
        text = _own_text(widgets[n])
        if widgets[n].role not in _LABELS or not text or _is_in(widgets, n, number):
            continue
        if any(_is_within(area, other) and not _is_within(place, other) for other in others):
            continue  # it is a piece of that one
        middle = area.y_px + area.height_px // 2
        left = place.x_px - area.x_px - area.width_px
        above = place.y_px - area.y_px - area.height_px
        if place.y_px <= middle <= place.y_px + place.height_px:
            between = any(
                area.x_px + area.width_px < other.x_px + other.width_px <= place.x_px + _TOUCHING_PX
                and other.y_px <= middle <= other.y_px + other.height_px
                for other in others
            )
            if -_TOUCHING_PX <= left < _FARTHEST_LEFT_PX and not between:
                found.append((0, left, text))
        elif -_TOUCHING_PX <= above < _FARTHEST_ABOVE_PX and area.x_px < place.x_px + place.width_px:
            beside = any(other.y_px <= middle <= other.y_px + other.height_px for other in others if other != place)
            if area.x_px + area.width_px > place.x_px and not beside:
                found.append((1, above, text))
    return min(found, default=(0, 0, ""))[2]


def _group(widgets: Sequence[Widget], number: int) -> str:
    held = (_own_text(widgets[n]) for n in _holders(widgets, number) if widgets[n].role in _GROUPS)
    return next((text for text in held if text), "")


def _holders(widgets: Sequence[Widget], number: int) -> list[int]:
    """Those that hold a widget, from the innermost on."""
    found = []
    at = widgets[number].parent
    while at is not None:
        found.append(at)
        at = widgets[at].parent
    return found


def _window_of(widgets: Sequence[Widget], number: int) -> int:
    return (number, *_holders(widgets, number))[-1]


def _is_in(widgets: Sequence[Widget], number: int, holder: int) -> bool:
    return number == holder or holder in _holders(widgets, number)


def _is_within(area: Rectangle, other: Rectangle) -> bool:
    return other.contains(area.x_px, area.y_px) and other.contains(
        area.x_px + area.width_px - 1, area.y_px + area.height_px - 1
    )


def _size(area: Rectangle) -> int:
    return area.width_px * area.height_px
