"""The optional second, finer stage: what can be left out within the remaining actions.

Rules of this module:

* A delta is one pointer move, or one press with its release, wherever that is. So any configuration is well formed.
* An action is renamed to what it has become: a drag without its path is a click, a chord without its modifier a key.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from replay_dd.dd import IntervalSet
from replay_dd.events.actions import MODIFIERS
from replay_dd.events.model import Action, ActionKind, Input, InputKind
from replay_dd.events.wellformed import Held, held_by, is_press


class WithinActions:
    """The inputs of some actions as deltas.

    Args:
        actions: the actions.
        places: their places in the whole session, counted from 0.

    Attributes:
        count: how many deltas there are.
    """

    def __init__(self, actions: Sequence[Action], places: Sequence[int]) -> None:
        self._actions = tuple(actions)
        self._places = tuple(places)
        self._deltas = _deltas_of(actions)
        self.count = 1 + max((number for numbers in self._deltas for number in numbers), default=-1)

    @property
    def all(self) -> IntervalSet:
        """All deltas."""
        return IntervalSet.range(0, self.count)

    def actions(self, configuration: IntervalSet) -> tuple[Action, ...]:
        """What is played with these deltas; actions of which nothing is left are not there."""
        return tuple(action for action, _ in self._kept(configuration))

    def places(self, configuration: IntervalSet) -> tuple[int, ...]:
        """The numbers of these actions in the whole session."""
        return tuple(place for _, place in self._kept(configuration))

    def played(self, configuration: IntervalSet, length: int) -> IntervalSet:
        """The deltas played or begun when a run of this configuration ended after ``length`` actions."""
        reached: set[int] = set()
        for number in self._numbers(configuration)[:length]:
            reached.update(self._deltas[number])
        return configuration & IntervalSet.of(sorted(reached))

    def _numbers(self, configuration: IntervalSet) -> list[int]:
        applied = set(configuration)
        return [number for number, deltas in enumerate(self._deltas) if not applied.isdisjoint(deltas)]

    def _kept(self, configuration: IntervalSet) -> list[tuple[Action, int]]:
        applied = set(configuration)
        found = []
        for number in self._numbers(configuration):
            action = self._actions[number]
            kept = [delta in applied for delta in self._deltas[number]]
            found.append((shortened(action, kept), self._places[number]))
        return found


def _deltas_of(actions: Sequence[Action]) -> list[list[int]]:
    """The number of the delta of each input of each action."""
    numbers: list[list[int]] = []
    pressed: dict[Held, int] = {}
    following = 0
    for action in actions:
        row: list[int] = []
        for item in action.inputs:
            what = held_by(item)
            if what is not None and not is_press(item) and what in pressed:
                row.append(pressed.pop(what))
                continue
            if what is not None and is_press(item):
                pressed[what] = following
            row.append(following)
            following += 1
        numbers.append(row)
    return numbers


def shortened(action: Action, kept: Sequence[bool]) -> Action:
    """An action with some of its inputs, renamed accordingly."""
    if all(kept):
        return action
    inputs = tuple(item for item, stays in zip(action.inputs, kept, strict=True) if stays)
    held = {item.key for item in inputs if item.kind is InputKind.KEY_PRESS and item.key in MODIFIERS}
    modifiers = tuple(name for name in action.modifiers if name in held)
    action = replace(action, inputs=inputs, modifiers=modifiers, text=_text_of(action, kept))
    presses = [item for item in inputs if item.kind is InputKind.BUTTON_PRESS]
    match action.kind:
        case ActionKind.DOUBLE_CLICK if len(presses) == 1:
            return replace(action, kind=ActionKind.CLICK)
        case ActionKind.DRAG if presses and not _moves_while_pressed(inputs):
            return replace(action, kind=ActionKind.CLICK)
        case ActionKind.CHORD if not held or len(inputs) == 2:
            return replace(action, kind=ActionKind.KEY)
    if not presses and all(item.kind is InputKind.MOVE for item in inputs):
        return replace(action, kind=ActionKind.MOTION, text="")
    return action


def _text_of(action: Action, kept: Sequence[bool]) -> str:
    """What is left of a typed text or of the keys of a chord."""
    keys = [
        (item.key, stays)
        for item, stays in zip(action.inputs, kept, strict=True)
        if item.kind is InputKind.KEY_PRESS and (item.key not in MODIFIERS or action.kind is ActionKind.CHORD)
    ]
    if action.kind is ActionKind.TEXT and len(keys) == len(action.text):
        return "".join(letter for letter, (_, stays) in zip(action.text, keys, strict=True) if stays)
    if action.kind is ActionKind.CHORD:
        names = action.text.split("+", len(keys) - 1)
        if len(names) == len(keys):
            return "+".join(name for name, (_, stays) in zip(names, keys, strict=True) if stays)
    return action.text


def _moves_while_pressed(inputs: Sequence[Input]) -> bool:
    pressed = 0
    for item in inputs:
        pressed += (item.kind is InputKind.BUTTON_PRESS) - (item.kind is InputKind.BUTTON_RELEASE)
        if pressed and item.kind is InputKind.MOVE:
            return True
    return False
