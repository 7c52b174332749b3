"""The objects of a program as it tells them to assistive technologies, read at one moment.

Rules of this module:

* One level of the tree is asked in one go, so reading takes as many turns as the tree is deep.
* What cannot be seen is not looked into, and of what has very many children only the one at the place asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from replay_dd.events.model import Rectangle
from replay_dd.events.x11.accessibility.bus import Ask, Program

LIMIT_S = 2.0
_ACCESSIBLE = "org.a11y.atspi.Accessible"
_APPLICATION = "org.a11y.atspi.Application"
_COMPONENT = "org.a11y.atspi.Component"
_PROPERTIES = "org.freedesktop.DBus.Properties"
# Bits of a set of states, and numbers of relations and of kinds of coordinates (at-spi2-core, atspi/atspi-constants.h).
FOCUSED, MULTI_LINE, SELECTED, SHOWING, VISIBLE = 12, 17, 23, 25, 30
_LABELLED_BY = 2
_OF_SCREEN, _OF_WINDOW = 0, 1
_MOST_CHILDREN = 300
_MOST_OBJECTS = 5000
_NOWHERE = Rectangle(0, 0, 0, 0)


@dataclass(frozen=True)
class Widget:
    """An object of the program.

    Attributes:
        path: how the program knows it.
        role: what it is, such as ``push button``.
        name: its text or label; empty if it has none.
        states: a set of bits.
        area: where it is; the programs of some toolkits count from the corner of its window.
        parent: the number of the object that holds it, in the list of all; None for a window.
    """

    path: str
    role: str
    name: str
    states: int
    area: Rectangle
    parent: int | None

    def has(self, state: int) -> bool:
        """Whether it is in a state."""
        return bool(self.states >> state & 1)


def read(program: Program, place: tuple[int, int] | None) -> list[Widget]:
    """What can be seen of a program, those that hold others before what they hold.

    Args:
        program: asked.
        place: a point of the screen that is of interest; None for the keyboard.
    """
    question = Ask(program.root, _PROPERTIES, "Get", "ss", (_APPLICATION, "ToolkitName"))
    (toolkit,) = program.ask([question], LIMIT_S)
    # GTK 4 does not know where its windows are, nor whether something is shown.
    places_known = _variant(toolkit) != "GTK"
    coordinates = _OF_SCREEN if places_known else _OF_WINDOW
    found: list[Widget] = []
    level: list[tuple[str, int | None]] = [(path, None) for path in _children(program, [program.root])[0]]
    while level and len(found) < _MOST_OBJECTS:
        asks = [ask for path, _ in level for ask in _questions(path, coordinates)]
        answers = program.ask(asks, LIMIT_S)
        each = len(asks) // len(level)
        inside: list[tuple[str, int]] = []
        crowded: list[tuple[str, int]] = []
        for number, (path, parent) in enumerate(level):
            role, name, states, area, count = answers[number * each : (number + 1) * each]
            widget = Widget(path, _first(role, ""), _variant(name) or "", _bits(states), _area(area), parent)
            seen = widget.has(SHOWING) if places_known or parent is None else widget.has(VISIBLE)
            if not seen or not widget.role:
                continue
            children = _variant(count) or 0
            if children:
                (inside if children <= _MOST_CHILDREN else crowded).append((path, len(found)))
            found.append(widget)
        below = _children(program, [path for path, _ in inside])
        level = [(child, parent) for (_, parent), paths in zip(inside, below, strict=True) for child in paths]
        if place is not None and crowded:
            at = [Ask(path, _COMPONENT, "GetAccessibleAtPoint", "iiu", (*place, coordinates)) for path, _ in crowded]
            for (path, parent), answer in zip(crowded, program.ask(at, LIMIT_S), strict=True):
                child = answer[0][1] if answer else path
                level += [(child, parent)] if child != path else []
    return found


def labels_of(program: Program, widget: Widget) -> str:
    """The text of what a program says that labels a widget of it; empty if there is nothing."""
    (relations,) = program.ask([Ask(widget.path, _ACCESSIBLE, "GetRelationSet")], LIMIT_S)
    labels = [to[1] for kind, targets in _first(relations, []) if kind == _LABELLED_BY for to in targets]
    names = program.ask([Ask(label, _PROPERTIES, "Get", "ss", (_ACCESSIBLE, "Name")) for label in labels], LIMIT_S)
    return " ".join(text for text in map(_variant, names) if text)


def _questions(path: str, coordinates: int) -> Sequence[Ask]:
    return (
        Ask(path, _ACCESSIBLE, "GetRoleName"),
        Ask(path, _PROPERTIES, "Get", "ss", (_ACCESSIBLE, "Name")),
        Ask(path, _ACCESSIBLE, "GetState"),
        Ask(path, _COMPONENT, "GetExtents", "u", (coordinates,)),
        Ask(path, _PROPERTIES, "Get", "ss", (_ACCESSIBLE, "ChildCount")),
    )


def _children(program: Program, paths: Sequence[str]) -> list[list[str]]:
    answers = program.ask([Ask(path, _ACCESSIBLE, "GetChildren") for path in paths], LIMIT_S)
    return [[path for _, path in _first(answer, [])] for answer in answers]


def _first(answer: tuple[Any, ...] | None, otherwise: Any) -> Any:
    return answer[0] if answer else otherwise


def _variant(answer: tuple[Any, ...] | None) -> Any:
    return answer[0][1] if answer else None


def _bits(answer: tuple[Any, ...] | None) -> int:
    low, high = (*_first(answer, []), 0, 0)[:2]
    return int(low) | int(high) << 32


def _area(answer: tuple[Any, ...] | None) -> Rectangle:
    return Rectangle(*answer[0]) if answer else _NOWHERE
