"""Neighbouring crash sites: one cause that shows at several places.

Rules of this module:

* A program that has gone wrong rarely dies at one place only: which of several instructions meets the bad pointer
  depends on timing and on what lies in memory. Such places are *neighbours*, and crashes there one failure.
* Neighbours in the code lie close to each other, or were called from the same place. They are found from two crashes.
* Neighbours in the session are signals that replays of one session met at the same action. Only the runs of the whole
  session show these; they are then listed in :attr:`~replay_dd.events.model.Ending.neighbours`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from replay_dd.events.model import Ending, EndingKind
from replay_dd.experiment.crash_places import C_LIBRARY

# About the size of a long function: compilers keep its parts together.
NEAR_BYTES = 4096
# On a busy machine a crash is noticed when the next action has begun.
_NEAR_ACTIONS = 1
_PLACE = re.compile(r"^(?P<module>.+)\+0x(?P<offset>[0-9a-f]+)$")
_SIGNATURE = re.compile(r"^signal \S+ in (?P<place>.+)$")
_EXCEPTION = re.compile(r"^exception (?P<where>.+):\d+\)$")


def are_neighbours(one: Ending, other: Ending) -> bool:
    """Whether two failures are the same kind of crash at neighbouring places of the code."""
    if one.kind is not other.kind or one.signal != other.signal:
        return False
    if one.kind is EndingKind.EXCEPTION:
        # Other lines of the same function.
        functions = [_EXCEPTION.match(ending.signature) for ending in (one, other)]
        return all(functions) and len({found["where"] for found in functions if found}) == 1
    first, second = _place_of(one), _place_of(other)
    if one.kind is not EndingKind.SIGNAL or first is None or second is None:
        return False
    near = first[0] == second[0] and abs(first[1] - second[1]) < NEAR_BYTES
    caller = _caller(one)
    return near or (caller is not None and caller == _caller(other))


def at_one_action(one: Ending, other: Ending) -> bool:
    """Whether two replays of one session were killed by signals at the same action."""
    killed = one.kind is other.kind is EndingKind.SIGNAL
    return killed and abs(one.actions - other.actions) <= _NEAR_ACTIONS


def _place_of(ending: Ending) -> tuple[str, int] | None:
    found = _SIGNATURE.match(ending.signature)
    place = None if found is None else _PLACE.match(found["place"])
    return None if place is None else (place["module"], int(place["offset"], 16))


def _caller(ending: Ending) -> str | None:
    """The place that called the function in which a program was killed; None if unknown."""
    frames: Sequence[str] = [frame for frame in ending.frames if _PLACE.match(frame) and not C_LIBRARY.match(frame)]
    return frames[1] if len(frames) > 1 else None
