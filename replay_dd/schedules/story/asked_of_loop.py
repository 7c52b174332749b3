"""What would help where a thread looks, and asks an event loop to act on that: ``loop.call_soon_threadsafe(f.cancel)``.

The loop does it later, and another thread may have asked for the same in between. No lock around the look and the
asking can help, but a look in the thread of the loop does: nobody else changes there what belongs to the loop.
"""

from __future__ import annotations

from replay_dd.schedules.story import kinds
from replay_dd.schedules.story.conflict import Conflict, checks
from replay_dd.schedules.story.words import at_place

_ASKS = "asks the loop for "
_KINDS = (
    kinds.CHECK_THEN_ACT,
    kinds.ORDER_VIOLATION,
)  # what is asked for may come before the other change, or after it


def help_of_asked_act(kind: str, conflict: Conflict) -> str:
    """What would help; empty if it is nothing like that.

    Args:
        kind: of the story.
        conflict: what the threads did.
    """
    own = (*conflict.before, *conflict.stretch, *conflict.after)
    pairs = (
        (look, one)
        for look in conflict.accesses
        for one in own
        if checks(look)
        and one.detail.startswith(_ASKS)
        and (one.thread, one.thing) == (look.thread, look.thing)
        and one.number > look.number
    )
    look, act = next(pairs, (None, None))
    if kind not in _KINDS or look is None or act is None:
        return ""
    called = act.detail.removeprefix(_ASKS).partition("(")[0]
    return (
        f"look at {look.name} in the thread of the loop, too: in the place of {act.name}.{called} "
        f"({at_place(act.place)}), hand the loop a function that looks first, and then calls that"
    )
