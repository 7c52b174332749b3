"""Whether a thread asks a queue how full it is, and then takes from it or puts into it, as if that still held.

``if not orders.empty(): order = orders.get()`` waits for ever once another thread has taken the last one. The queue can
do both in one step: the call that does not wait says whether it was in vain.
"""

from __future__ import annotations

from replay_dd.schedules.story import kinds
from replay_dd.schedules.story.conflict import Conflict
from replay_dd.schedules.story.words import at_place

QUEUES = ("Queue", "SimpleQueue", "LifoQueue", "PriorityQueue")
_ASKS = ("empty", "qsize", "full")
_RAISES = {"get": "Empty", "put": "Full"}


def help_of_look_at_queue(kind: str, conflict: Conflict) -> str:
    """What would help; empty if it is nothing like that.

    Args:
        kind: of the story.
        conflict: what the threads did.
    """
    left, right = conflict.left, conflict.right
    if kind != kinds.CHECK_THEN_ACT or left is None or right is None:
        return ""
    look, act = left.access, right.access
    asked, called = (one.detail.partition("(")[0] for one in (look, act))
    method = called.removesuffix("_nowait")
    if look.thing != act.thing or look.holder_type not in QUEUES or asked not in _ASKS or method not in _RAISES:
        return ""
    if method == "get" and look.old.text == "0":
        return ""  # it takes what has come since, and not what it saw
    does_not_wait = called != method
    call = "" if does_not_wait else f"call {method}_nowait() of {act.name} ({at_place(act.place)}), and "
    return (
        f"{call}take `queue.{_RAISES[method]}` for the answer: what {asked}() says ({at_place(look.place)}) may no "
        f"longer hold when {called}() is called"
    )
