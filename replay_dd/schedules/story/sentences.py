"""What happened and when it does not, in a sentence each."""

from __future__ import annotations

from replay_dd.schedules.observation import Access
from replay_dd.schedules.story import kinds
from replay_dd.schedules.story.conflict import Conflict
from replay_dd.schedules.story.words import listed


def summary_of(kind: str, conflict: Conflict) -> str:
    """What happened, in a sentence or two."""
    one = conflict.thread
    edge = conflict.right or conflict.left
    other = edge.others[-1].thread if edge is not None else "?"
    left, right = (None if side is None else side.access for side in (conflict.left, conflict.right))
    names = listed(dict.fromkeys(side.name for side in (left, right) if side is not None))
    if kind == kinds.CHECK_THEN_ACT and right is not None and right.writes and _made_twice(conflict):
        return "Both threads found it missing and both made it; the second store throws away the first one's."
    sentences = {
        kinds.LOST_UPDATE: f"Thread {one} computes a new value from one that thread {other} has replaced meanwhile; "
        f"storing it throws away what thread {other} stored.",
        kinds.CHECK_THEN_ACT: f"Thread {one} acts on what it has checked, but thread {other} has changed it meanwhile.",
        kinds.NON_REPEATABLE_READ: f"Thread {one} looks twice, and thread {other} changes it in between.",
        kinds.TORN_UPDATE: f"Thread {one} changes {names} in two steps; thread {other} looks in between and sees only "
        "the first.",
        kinds.TORN_READ: f"Thread {one} reads {names} one after the other; thread {other} changes them in between.",
        kinds.TOO_EARLY: f"Thread {other} uses it before thread {one} has set it.",
        kinds.INVALIDATED: f"Thread {one} goes on using what thread {other} has taken away meanwhile.",
        kinds.MISSED_NOTIFICATION: f"Thread {other} notifies before thread {one} waits; nothing wakes it any more.",
        kinds.EARLY_TIMEOUT: f"The time-out of thread {other} expires before thread {one} is done.",
    }
    return sentences.get(kind) or _order(conflict)


def _order(conflict: Conflict) -> str:
    """Which order fails."""
    edge = conflict.right or conflict.left
    if edge is None:
        return ""
    own = f"thread {conflict.thread} {_in_short(edge.access)}"
    other = f"thread {edge.others[0].thread} {_in_short(edge.others[0])}"
    first, then = (other, own) if conflict.right is not None else (own, other)
    return f"{first[0].upper()}{first[1:]} before {then}; the other way round it passes."


def _made_twice(conflict: Conflict) -> bool:
    right = conflict.right
    if right is None or right.access.does != "stores":
        return False
    stores = [other for other in right.others if other.does == "stores"]
    return bool(stores) and (stores[0].old.is_missing or stores[0].old.text in ("None", "False"))


def passes_in_words(kind: str, conflict: Conflict, order: tuple[Access, Access] | None) -> str:
    """When the run passes.

    Args:
        kind: in the field's words.
        conflict: what the threads did in the failing run.
        order: two accesses in the order that passes, as both runs show it; None if they show none.
    """
    right, left = conflict.right, conflict.left
    edge = right or left
    if kind == kinds.EARLY_TIMEOUT and edge is not None:
        own = f"thread {conflict.thread} {_in_short(edge.access)}"
        return f"if {own} before the time-out of thread {edge.others[-1].thread} expires"
    if order is None and right is not None and not right.inferred:
        order = (right.access, right.others[0])
    elif order is None and left is not None:
        order = (left.others[0], left.access)
    if order is None:
        return ""
    first, then = order
    return f"if thread {first.thread} {_in_short(first)} before thread {then.thread} {_in_short(then)}"


def _in_short(access: Access) -> str:
    """An access in a few words, such as ``stores (bank.py:14)``."""
    does = access.does
    if does == "calls":
        does = f"calls {access.detail.partition('(')[0]}()"
    elif access.thing[0] == "file":
        does = f"does its {does}"
    elif does == "iterates":
        does = "takes the next item"
    file = access.place.file.rpartition("/")[2]
    return f"{does} ({file}:{access.place.line})"
