"""Where in a failing range an interpreter with a GIL can switch threads by itself.

CPython looks for other threads only at some instructions: when a function begins or a generator resumes, when it jumps
back, and after calls, depending on what was called; and it lets others run during operations that may take long. A
switch at any other place has the same effect as one of these if no access lies between the two.

Rules of this module:

* The answer is read off the instructions that the thread really executed, so branches and calls are what they were.
* It is about a whole range: possible at some of its positions, at all, at none; or unknown, never guessed.
* Which instructions look was found by trying them with real threads; see
  ``docs/explanation/decisions/0020-what-the-gil-allows.md``.
"""

from __future__ import annotations

import bisect
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from replay_dd.schedules.model import Place
from replay_dd.schedules.observed.executed import Executed

ENTERED, LIBRARY, JUMPED, CALLED, OPERATION, AT_FIRST = (
    "a function begins or resumes",
    "a function of a library begins",
    "the program jumps back",
    "a call is over",
    "it does an operation during which others can run",
    "a call is over, until the interpreter has specialised it after a few executions",
)
# Where an answer can happen.
WITH_GIL, BEFORE_SPECIALISATION, WITHOUT_GIL = "with the GIL", "only before specialisation", "only without the GIL"
# Methods that a call of a class or an object reaches through C.
_THROUGH_C = ("__init__", "__new__", "__call__")


class GilAnswer(NamedTuple):
    """Where in a range the interpreter can switch.

    Attributes:
        possible: the positions at which it can: thread time, place, and why.
        positions: how many positions of the range are known.
    """

    possible: tuple[tuple[int, Place, str], ...]
    positions: int

    @property
    def reachable(self) -> bool | None:
        """Whether it can switch anywhere in the range; None if unknown."""
        return bool(self.possible) if self.positions else None

    @property
    def label(self) -> str | None:
        """Where the switch can happen; None if unknown. Free-threaded builds can make any."""
        if not self.positions:
            return None
        if not self.possible:
            return WITHOUT_GIL
        return BEFORE_SPECIALISATION if all(why == AT_FIRST for _, _, why in self.possible) else WITH_GIL


UNKNOWN = GilAnswer((), 0)


def gil_answer(positions: Mapping[int, tuple[Place, str]], first: int, last: int) -> GilAnswer:
    """The answer for the positions of one thread from one thread time to another.

    Args:
        positions: what :func:`gil_positions` said of the thread.
        first: the first thread time of the range.
        last: the last one.
    """
    inside = {time: found for time, found in positions.items() if first <= time <= last}
    possible = tuple((time, place, why) for time, (place, why) in sorted(inside.items()) if why)
    return GilAnswer(possible, len(inside))


def gil_positions(instructions: Iterable[Executed]) -> dict[int, tuple[Place, str]]:
    """For each yield point of a thread: its place, and why the interpreter can switch there; empty if it cannot.

    Args:
        instructions: what the thread executed, in order.

    The first yield point is left out unless the interpreter is known to switch there: what came before is not known.
    """
    found: dict[int, tuple[Place, str]] = {}
    latest: dict[int, tuple[int, Executed]] = {}  # in each frame
    entries: list[tuple[int, str]] = []  # when functions were entered, and which
    previous: Executed | None = None
    why: str | None = None  # None as long as it is not known what came before
    before_call: str | None = None
    for number, one in enumerate(instructions):
        at, own = latest.get(one.frame, (number, None))
        if one.place.operation:
            # What is called does this; the call itself has touched nothing yet.
            inside = before_call if previous is not None and previous.check else why
            if previous is not None and previous.looks == "never":
                inside = inside or LIBRARY
            why = OPERATION if one.check == "operation" else inside
        elif one.check == "entry":
            why = ENTERED
            entries.append((number, one.place.function))
        elif own is not None:
            later = bisect.bisect_right(entries, (at, "\U0010ffff"))
            after = _after(own, one, entries[later][1] if later < len(entries) else "")
            why = why if not after or (why and why != AT_FIRST) else after
        if one.counted and why is not None:
            found[one.time] = (one.place, why)
        before_call = why
        if one.access:
            # Others could run until the operation was over: the thread had to get the GIL back.
            why = OPERATION if one.check == "operation" else ""
        if not one.place.operation:
            latest[one.frame] = number, one
        previous = one
    return found


def _after(own: Executed, one: Executed, entered: str) -> str:
    """Why the interpreter can switch between two instructions of one frame; empty if it cannot.

    Args:
        own: the earlier one; whatever the thread did in between, ``own`` called.
        one: the later one.
        entered: the function that the thread entered first in between; empty if none of the program's.
    """
    if own.check == "jump":
        return JUMPED if one.index <= own.index else ""
    if own.check not in ("call", "star call") or one.index != own.index + 1:
        return ""
    if own.looks == "never":
        return "" if entered else LIBRARY  # library code begins with a look, and touches what only it knows
    if own.looks == "not begun":
        return ""
    if own.looks == "at first":
        return AT_FIRST
    if own.looks == "always" or own.check == "star call":
        return CALLED
    through_c = not entered or entered.rpartition(".")[2] in _THROUGH_C
    return CALLED if through_c else ""
