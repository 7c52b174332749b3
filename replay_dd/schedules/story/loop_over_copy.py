"""Whether a thread goes through a container that others change meanwhile, where a copy would do.

To copy a built-in container is one call of the interpreter, and no other thread comes in between.
"""

from __future__ import annotations

from replay_dd.schedules.story import kinds
from replay_dd.schedules.story.conflict import Conflict
from replay_dd.schedules.story.story import called_at
from replay_dd.schedules.story.words import at_place

_BUILT_IN = ("dict", "list", "set", "deque", "OrderedDict", "defaultdict", "Counter")


def help_of_loop(kind: str, conflict: Conflict) -> str:
    """What would help; empty if it is nothing like that.

    Args:
        kind: of the story.
        conflict: what the threads did.
    """
    right = conflict.right
    if kind != kinds.CHANGED_IN_LOOP or right is None or right.access.does != "iterates":
        return ""
    step = right.access
    if called_at(step) is not None or step.holder_type not in _BUILT_IN:
        return ""
    return (
        f"go through a copy of {step.name} ({at_place(step.place)}), such as `list(...)`, if what is removed meanwhile "
        "may still be seen there"
    )
