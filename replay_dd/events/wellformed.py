"""What a sequence of inputs must be to be played: no release without its press, nothing held at the end.

Rules of this module:

* These constraints are data: actions that hold something for each other belong to one *group*, and a configuration
  keeps or drops whole groups. So a configuration that is not well formed is never run.
* Actions that replay-dd makes are well formed by themselves, one group each; logs that were edited by hand need not be.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from replay_dd.events.model import Action, Input, InputKind

Held = tuple[str, str | int]
"""What is held down: ``("key", symbol)`` or ``("button", number)``."""


def held_by(item: Input) -> Held | None:
    """What an input presses or releases; None for a move."""
    if item.kind in (InputKind.KEY_PRESS, InputKind.KEY_RELEASE):
        return "key", item.key
    if item.kind in (InputKind.BUTTON_PRESS, InputKind.BUTTON_RELEASE):
        return "button", item.button
    return None


def is_press(item: Input) -> bool:
    """Whether an input presses something."""
    return item.kind in (InputKind.KEY_PRESS, InputKind.BUTTON_PRESS)


def release_of(held: Held) -> Input:
    """The input that lets go of something."""
    kind, what = held
    if kind == "key":
        return Input(InputKind.KEY_RELEASE, key=str(what))
    return Input(InputKind.BUTTON_RELEASE, button=int(what))


def is_well_formed(inputs: Iterable[Input]) -> bool:
    """Whether each press is followed by its release, and each release has its press."""
    held: set[Held] = set()
    for item in inputs:
        what = held_by(item)
        if what is None:
            continue
        if is_press(item) == (what in held):
            return False
        held ^= {what}
    return not held


def completed(inputs: Iterable[Input]) -> tuple[Input, ...]:
    """The nearest well-formed inputs: releases without press and second presses are left out, releases added.

    Presses that have no release are released at the end, the last one first.
    """
    held: dict[Held, None] = {}
    kept: list[Input] = []
    for item in inputs:
        what = held_by(item)
        if what is not None:
            if is_press(item) == (what in held):
                continue
            if is_press(item):
                held[what] = None
            else:
                del held[what]
        kept.append(item)
    return (*kept, *(release_of(what) for what in reversed(held)))


def groups_of(actions: Sequence[Action]) -> tuple[tuple[int, ...], ...]:
    """The actions, by number, that can only be kept or dropped together; in the order of their first ones.

    Two actions belong together if one releases what the other pressed.
    """
    group_of = list(range(len(actions)))
    pressed_in: dict[Held, int] = {}

    def leader(number: int) -> int:
        while group_of[number] != number:
            number = group_of[number]
        return number

    for number, action in enumerate(actions):
        for item in action.inputs:
            what = held_by(item)
            if what is None:
                continue
            if is_press(item):
                pressed_in.setdefault(what, number)
            elif what in pressed_in:
                one, other = sorted((leader(pressed_in.pop(what)), leader(number)))
                group_of[other] = one
    groups: dict[int, list[int]] = {}
    for number in range(len(actions)):
        groups.setdefault(leader(number), []).append(number)
    return tuple(tuple(group) for group in groups.values())
