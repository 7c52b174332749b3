"""A count of what is under way that is zero for a moment, although more is to come.

Whoever gives out work counts each piece, and gives it out at once; whoever finishes a piece counts down, and says at
zero that all is done. Each is right on its own, and no lock helps: if the first piece is finished before the second one
is counted, all seems to be done.

Rules of this module:

* The thread that counts up had counted up before at the same line.
* The other one finds zero, and then gives a signal in the same call.
"""

from __future__ import annotations

from replay_dd.schedules.observed.observation import Access, Observation
from replay_dd.schedules.story.conflict import Conflict, checks, comes_down_to
from replay_dd.schedules.story.edges import NUMBERS
from replay_dd.schedules.story.kinds import ORDER_VIOLATION
from replay_dd.schedules.story.words import at_place

_SIGNALS = ("set", "set_result", "notify", "notify_all", "release", "put")
_ZERO = "0"


def help_of_early_zero(kind: str, conflict: Conflict, failing: Observation) -> str:
    """What would help; empty if no count is zero too early.

    Args:
        kind: of the story.
        conflict: what the threads did in the failing run.
        failing: all that the failing run accessed.
    """
    right = conflict.right
    if kind != ORDER_VIOLATION or right is None or right.access.does != "stores":
        return ""
    counted = right.access
    if counted.old.text != _ZERO or counted.new.type not in NUMBERS:
        return ""
    look = next((one for one in reversed(right.others) if checks(one) and one.old.text == _ZERO), None)
    again = [one for one in failing.accesses if one.number < counted.number and _counts_alike(one, counted)]
    signal = None if look is None or not again else _signal_after(look, failing)
    if look is None or signal is None:
        return ""
    method = signal.detail.partition("(")[0]
    return (
        f"count all that is to be done before the first of it is given out: {counted.name} is 0 in between "
        f"({at_place(look.place)}), and {method}() of {signal.name} ({at_place(signal.place)}) says that all is done. "
        "Or count one more at the beginning, and take that back when all is given out"
    )


def _counts_alike(one: Access, counted: Access) -> bool:
    same = one.thread == counted.thread and one.thing == counted.thing and one.does == "stores"
    return same and one.place.line == counted.place.line and one.place.function == counted.place.function


def _signal_after(look: Access, failing: Observation) -> Access | None:
    """The signal that a thread gives after its look, in the same call of a function."""
    own = (one for one in failing.accesses if one.thread == look.thread and one.number > look.number)
    here = (one for one in own if comes_down_to(look, one))
    return next((one for one in here if one.does == "calls" and one.detail.partition("(")[0] in _SIGNALS), None)
