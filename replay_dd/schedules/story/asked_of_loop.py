"""What would help where a thread looks, and asks an event loop to act on that: ``loop.call_soon_threadsafe(f.cancel)``.

The loop does it later, and another thread may have asked for the same in between. No lock around the look and the
asking can help, but a look in the thread of the loop does: nobody else changes there what belongs to the loop.
"""

from __future__ import annotations

from replay_dd.schedules.story import kinds
from replay_dd.schedules.story.conflict import Conflict
from replay_dd.schedules.story.words import at_place

_ASKS = "asks for "


def help_of_asked_act(kind: str, conflict: Conflict) -> str:
    """What would help; empty if it is nothing like that.

    Args:
        kind: of the story.
        conflict: what the threads did.
    """
    left, right = conflict.left, conflict.right
    if kind != kinds.CHECK_THEN_ACT or left is None or right is None or not right.access.detail.startswith(_ASKS):
        return ""
    look, act = left.access, right.access
    called = act.detail.removeprefix(_ASKS).partition("(")[0]
    return (
        f"look at {look.name} in the thread of the loop, too: in the place of {act.name}.{called} "
        f"({at_place(act.place)}), hand the loop a function that looks first, and then calls that"
    )
