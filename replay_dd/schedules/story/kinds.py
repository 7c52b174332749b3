"""What kind of failure a conflict is, in the field's words.

Atomicity and order violations as in Lu, Park, Seo and Zhou, "Learning from Mistakes" (ASPLOS 2008); the interleavings
of two accesses by one thread and one by another that no serial order explains as in Lu, Tucek, Qin and Zhou, "AVIO"
(ASPLOS 2006); pairs of variables that belong together as in Lu et al., "MUVI" (SOSP 2007).
"""

from __future__ import annotations

from dataclasses import replace

from replay_dd.schedules.model import Ending
from replay_dd.schedules.observation import Access
from replay_dd.schedules.story.conflict import Conflict, Edge, checks, one_thing, used_unready

LOST_UPDATE = "lost update"
CHECK_THEN_ACT = "check-then-act"
NON_REPEATABLE_READ = "non-repeatable read"
TORN_UPDATE = "torn update"
TORN_READ = "torn read"
TOO_EARLY = "read before initialisation"
INVALIDATED = "use after close or invalidation"
ORDER_VIOLATION = "order violation"
MISSED_NOTIFICATION = "missed notification"
LOCK_ORDER = "lock-order deadlock"
SELF_DEADLOCK = "self-deadlock"
EARLY_TIMEOUT = "early time-out"
DEADLOCK = "deadlock"
HOLD_AND_WAIT = "deadlock of a lock held over a wait"
JOIN_CIRCLE = "deadlock of threads that join each other"
COMMUNICATION = "communication deadlock"
STARVED_POOL = "starved thread pool"
BLOCKED_LOOP = "blocked event loop"
LEAKED_LOCK = "lock never released"
LEAKED_PERMIT = "permit never released"
SHORT_BARRIER = "barrier with a thread missing"
NO_PRODUCER = "missing producer"
NO_CONSUMER = "missing consumer"
NEVER_COMPLETED = "future never completed"
NEVER_COMES = "wait for what never comes"
IMPORT = "import deadlock"
LIVELOCK = "livelock"
SPIN = "endless loop"
WAITS_OUTSIDE = "wait for something outside"
BUSY = "still running"

_NOTIFIES = ("notify", "notify_all", "set", "put", "put_nowait", "release", "set_result")
_HANDS_OVER = ("put", "put_nowait")
_CLOSES = ("close", "shutdown", "cancel", "clear", "stop", "terminate")
_EMPTY = ("{}", "[]", "set()", "()", "deque([])", "None", "''")


def kind_of(conflict: Conflict, ending: Ending) -> str:
    """The kind of a conflict; empty if the observation does not tell.

    Args:
        conflict: what the threads did.
        ending: how the failing run ended.
    """
    if ending.deadlock:
        return _of_deadlock(conflict, ending)
    left, right = conflict.left, conflict.right
    if (left is None or left.inferred) and _gives_up(conflict):
        return EARLY_TIMEOUT
    if right is not None and _clears_unseen(right):
        return MISSED_NOTIFICATION
    if right is not None and _invalidates(right) and right.access.reads and not _is_counted_item(right.access):
        return INVALIDATED
    if right is not None and right.access.writes and _found_nothing(right) and not _was_there(conflict, right):
        return TOO_EARLY if _publishes(left, right) else TORN_UPDATE
    if left is None or right is None:
        return TOO_EARLY if used_unready(conflict) else _of_one(left, right)
    if one_thing(left.access, right.access):
        return _of_one_thing(left, right)
    return _of_two_things(left, right)


def essential(conflict: Conflict, ending: Ending) -> Conflict:
    """A conflict without an edge that its kind does not need: to use what is gone is wrong whatever came before.

    Args:
        conflict: what the threads did.
        ending: how the failing run ended.
    """
    left, right = conflict.left, conflict.right
    if left is None or right is None or one_thing(left.access, right.access):
        return conflict
    return replace(conflict, left=None) if kind_of(conflict, ending) == INVALIDATED else conflict


def _gives_up(conflict: Conflict) -> bool:
    """Whether the other thread gets its turn because a time-out expires, although the first one could go on.

    The call that waits so long began before.
    """
    others = {access.thread for edge in (conflict.left, conflict.right) if edge is not None for access in edge.others}
    first = {access.thread: access for access in reversed(conflict.stretch) if access.does != "calls"}
    return any(thread in first and first[thread].does == "gives up" for thread in others)


def _of_deadlock(conflict: Conflict, ending: Ending) -> str:
    for waiter in ending.deadlock:
        if any(word in waiter.explanation for word in ("notified", "to be set", "an item", "for the result")):
            return MISSED_NOTIFICATION
    return "deadlock"


def _of_one(left: Edge | None, right: Edge | None) -> str:
    return "" if left is None and right is None else ORDER_VIOLATION


def _of_one_thing(left: Edge, right: Edge) -> str:
    first, last = left.access, right.access
    if _hands_over(first) and _hands_over(last):
        return ORDER_VIOLATION  # one item does not belong to the next: the other thread only came between them
    if first.reads:
        again = (first.place.path, first.place.line) == (last.place.path, last.place.line) and first.does == last.does
        if checks(first) and (last.writes or not again):
            return CHECK_THEN_ACT
        if last.writes:
            return LOST_UPDATE
        return NON_REPEATABLE_READ
    return TORN_UPDATE if last.writes else LOST_UPDATE


def _of_two_things(left: Edge, right: Edge) -> str:
    first, last = left.access, right.access
    if first.writes and last.writes:
        return TORN_UPDATE
    if first.reads and last.reads:
        return CHECK_THEN_ACT if checks(first) else TORN_READ
    if first.reads and last.writes:
        return CHECK_THEN_ACT
    # It takes one thing, and leaves another there, before it looks at the second.
    return TORN_READ if any(other.writes for other in left.others) else ORDER_VIOLATION


def _publishes(left: Edge | None, right: Edge) -> bool:
    """Whether the first of two writes only shows the others the way to the second: a flag, or the object itself."""
    if left is None or not left.access.writes or one_thing(left.access, right.access):
        return True
    new = left.access.new
    return new.type == "bool" or (bool(new.type) and right.access.name.startswith(f"{new.type}."))


def _invalidates(edge: Edge) -> bool:
    """Whether the last that the others do to the thing is to take it away."""
    writes = [other for other in edge.others if other.writes]
    if not writes:
        return False
    last = writes[-1]
    if last.does == "calls" and last.detail.partition("(")[0] in _CLOSES:
        return True
    return last.thing[0] in ("attribute", "global", "cell") and (last.new.is_missing or last.new.text == "None")


def _clears_unseen(edge: Edge) -> bool:
    """Whether it clears an event that another thread has set meanwhile."""
    clears = edge.access.holder_type == "Event" and edge.access.detail.startswith("clear(")
    return clears and any(other.detail.startswith("set(") for other in edge.others)


def _hands_over(access: Access) -> bool:
    """Whether it gives another thread something in one step."""
    return access.does == "calls" and access.detail.partition("(")[0] in _HANDS_OVER


def _is_counted_item(access: Access) -> bool:
    return access.thing[0] in ("item", "whole")


def _found_nothing(edge: Edge) -> bool:
    """Whether the others find what is only written later missing or empty, and go on with that."""
    reads = [other for other in edge.others if other.reads and not other.tested]
    return any(other.old.is_missing or other.old.text in _EMPTY for other in reads)


def _was_there(conflict: Conflict, edge: Edge) -> bool:
    """Whether the thread had changed the thing before, or looked at it: then it does not set it for the first time."""
    if conflict.left is not None and conflict.left.access.reads:
        return True
    before = [one for one in conflict.before if one.writes and one.touches(edge.access)]
    return any(not one.new.is_missing and not (one.does == "stores" and one.new.text in _EMPTY) for one in before)
