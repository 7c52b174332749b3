"""When the run passes, in a few words.

Longer sentences about what happened are in sentences.py.
"""

from __future__ import annotations

from collections.abc import Callable

from replay_dd.schedules.observed.observation import Access
from replay_dd.schedules.story import kinds
from replay_dd.schedules.story.conflict import Conflict, expired_in
from replay_dd.schedules.story.sentences import in_short

IN_THIS_ORDER = "in this order"  # what follows are the steps of the passing run


def passes_in_words(
    kind: str,
    conflict: Conflict,
    order: tuple[Access, Access] | None,
    is_kept: Callable[[Access, Access], bool] = lambda first, then: False,
) -> str:
    """When the run passes.

    Args:
        kind: in the field's words.
        conflict: what the threads did in the failing run.
        order: two accesses in the order that passes, as both runs show it; None if they show none.
        is_kept: whether two accesses of the failing run come in the same order in the passing run: then it is not
            their order that makes it pass.
    """
    right, left = conflict.right, conflict.left
    edge = right or left
    if conflict.fault or kind == kinds.MIXED_REPLIES:
        return ""
    if kind == kinds.EARLY_TIMEOUT and edge is not None:
        own = f"thread {conflict.thread} {in_short(edge.access)}"
        return f"if {own} before the time-out of thread {(expired_in(conflict) or edge.others[-1]).thread} expires"
    if order is not None:
        return turned_round(*reversed(order))
    if right is not None and not right.inferred:
        order = (right.access, right.others[0])
    elif left is not None:
        order = (left.others[0], left.access)
    else:
        return ""
    then, first = order
    return IN_THIS_ORDER if is_kept(first, then) else turned_round(first, then)


def turned_round(first: Access, then: Access) -> str:
    """When the run passes, if the order of two accesses is what makes it fail.

    Args:
        first: what comes first in the failing run.
        then: what comes after it.
    """
    return f"if thread {then.thread} {in_short(then)} before thread {first.thread} {in_short(first)}"
