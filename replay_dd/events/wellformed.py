"""Well-formed sequences of inputs: no release without its press, nothing held at the end.

Rules of this module:

* The constraints are data: actions that release what others press belong to one *group*, and a configuration keeps or
  drops whole groups. So an ill-formed configuration is never run.
* Each action that replay-dd creates is well formed, hence a group of one; those in hand-edited logs may not be.
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
    """The input that releases something."""
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
    """The nearest well-formed inputs: drops releases without a press and repeated presses, and adds missing releases.

    What is still held is released at the end, last pressed first.
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
    """The groups of actions, by number, that can only be kept or dropped together; ordered by their first actions.

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
