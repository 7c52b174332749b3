"""What kind of failure a conflict is, in the field's words.

Atomicity and order violations as in Lu, Park, Seo and Zhou, "Learning from Mistakes" (ASPLOS 2008); the interleavings
of two accesses by one thread and one by another that no serial order explains as in Lu, Tucek, Qin and Zhou, "AVIO"
(ASPLOS 2006); pairs of variables that belong together as in Lu et al., "MUVI" (SOSP 2007).
"""

from __future__ import annotations

from replay_dd.schedules.model import Ending
from replay_dd.schedules.observed.observation import Access
from replay_dd.schedules.story.conflict import Conflict, Edge, checks, expired_in, one_thing, searches, used_unready
from replay_dd.schedules.story.edges import (
    NUMBERS,
    adds,
    clears_unseen,
    finds_it_gone,
    found_nothing,
    hands_over,
    invalidates,
    is_counted_item,
    misses,
    publishes,
    puts_back,
    replaced_together,
    replaces,
    replaces_container,
    sets_flag,
    takes_out,
    was_taken,
    was_there,
)
from replay_dd.schedules.story.parts import are_parts
from replay_dd.schedules.story.request_reply import is_exchange, receives, sends
from replay_dd.schedules.story.same_file import opened_by_other

LOST_UPDATE = "lost update"
CHECK_THEN_ACT = "check-then-act"
SAVE_AND_RESTORE = "interleaved save and restore"
NON_REPEATABLE_READ = "non-repeatable read"
UPDATE_AND_READ = "non-atomic update and read"
OVERWRITTEN = "overwritten before use"
CHANGED_IN_LOOP = "modified while iterated"
WAIT_WITHOUT_LOOP = "condition not checked again after the wait"
ABA = "ABA problem"
TORN_UPDATE = "torn update"
TORN_READ = "torn read"
OF_TWO_READS = (NON_REPEATABLE_READ, TORN_READ)
ROLLED_BACK = "undone by a rollback"
TOO_SOON = "result read too early"
TOO_EARLY = "read before initialisation"
INCOMPLETE = "published before it is complete"
INVALIDATED = "use after close or invalidation"
ORDER_VIOLATION = "order violation"
MIXED_REPLIES = "interleaved request and reply"
CONCURRENT_USE = "concurrent use"
SHARED_CONTEXT = "context entered twice"
OUTSIDE_LOOP = "call from outside of the event loop"
DROPPED_LOCK = "lock removed while in use"
EXTRA_PERMIT = "permit released without being taken"
LEFT_OVER = "left over from an earlier call"
MISSED_STATE = "state missed between two looks"
LATE_CANCEL = "timer cancelled too late"
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
NEVER_DONE = "item never done"
NEVER_COMPLETED = "future never completed"
NEVER_COMES = "wait for what never comes"
IMPORT = "import deadlock"
LIVELOCK = "livelock"
SPIN = "endless loop"
WAITS_OUTSIDE = "wait for something outside"
BUSY = "still running"


def kind_of(conflict: Conflict, ending: Ending) -> str:
    """The kind of a conflict; empty if the observation does not tell.

    Args:
        conflict: what the threads did.
        ending: how the failing run ended.
    """
    if ending.deadlock:
        return _of_deadlock(conflict, ending)
    if conflict.fault:
        return conflict.fault
    if conflict.refused:
        return CHECK_THEN_ACT
    if conflict.outdated is not None:
        return ABA
    if conflict.inside is not None:
        return CONCURRENT_USE
    left, right = conflict.left, conflict.right
    if (left is None or left.inferred) and expired_in(conflict) is not None:
        return INVALIDATED if right is not None and finds_it_gone(right) else EARLY_TIMEOUT
    if asked_while_running(conflict) is not None:
        return CONCURRENT_USE
    if right is not None and clears_unseen(right):
        return MISSED_NOTIFICATION
    if left is not None and right is not None and is_exchange(left.access, right.access):
        return MIXED_REPLIES
    if opened_by_other(conflict) is not None:
        return OVERWRITTEN
    if right is not None and invalidates(right) and right.access.reads and not is_counted_item(right.access):
        within_itself = bool(conflict.interrupter)  # what it has checked is its own, and no other thread's to close
        looked = left is not None and (right.access.thing[0] == "file" or within_itself) and checks(left.access)
        return CHECK_THEN_ACT if looked else INVALIDATED
    if right is not None and was_taken(right) and (left is None or left.access.writes):
        return INVALIDATED
    sets_first = right is not None and right.access.writes and conflict.looked is None
    if sets_first and right is not None and found_nothing(right) and not was_there(conflict, right):
        return TOO_EARLY if left is None or publishes(left, right) else _two_writes(left, right)
    if left is None or right is None:
        return TOO_EARLY if used_unready(conflict) else _of_one(conflict, left, right)
    if one_thing(left.access, right.access):
        return SAVE_AND_RESTORE if saved_before(conflict) is not None else _of_one_thing(conflict, left, right)
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
    # A permit has no value that belongs to another one.
    needless = _is_of_permits(left.access)
    needless = needless or (kind_of(conflict, ending) == INVALIDATED and not is_of_found(left.access, right.access))
    return conflict._replace(left=None) if needless else conflict


def is_of_found(look: Access, use: Access) -> bool:
    """Whether a thread uses the object itself that it found by an earlier look.

    Args:
        look: the earlier access.
        use: the later one, to an attribute or an item of something.
    """
    return use.thing[0] in ("attribute", "item", "whole") and 0 <= look.old.number == use.thing[1]


def _is_of_permits(access: Access) -> bool:
    """Whether it is a call of a semaphore: a class of the program may have that name, and values."""
    return access.thing[0] == "object" and "Semaphore" in access.holder_type


def saved_before(conflict: Conflict) -> Access | None:
    """Where the interrupted thread read what it puts back after the others, having stored something else meanwhile."""
    right = conflict.right
    if right is None or right.access.does != "stores" or not right.access.new.is_known:
        return None
    last, replaced = right.access, False
    own = [*conflict.before, *(one for one in conflict.after if one.number < last.number)]
    for one in reversed([one for one in own if one.thing == last.thing]):
        if replaced and one.does == "reads" and not one.tested:
            return one if one.old.same(last.new) else None
        if one.reads and not replaced and (last.new.type in NUMBERS or one.place.line == last.place.line):
            return None  # it counts up and down again
        replaced = replaced or (one.does == "stores" and not one.new.same(last.new))
    return None


def asked_while_running(conflict: Conflict) -> tuple[Access, Access] | None:
    """(who asks a generator for its next, who is inside it at that moment); None if nobody does."""
    for edge in (conflict.right, conflict.left):
        if edge is not None and edge.access.holder_type == "generator":
            if edge.access.old.is_missing:
                return edge.access, edge.others[-1]
            refused = next((other for other in edge.others if other.old.is_missing), None)
            if refused is not None:
                return refused, edge.access
    return None


def _of_deadlock(conflict: Conflict, ending: Ending) -> str:
    for waiter in ending.deadlock:
        if any(word in waiter.explanation for word in ("notified", "to be set", "an item", "for the result")):
            return MISSED_NOTIFICATION
    return "deadlock"


def _of_one(conflict: Conflict, left: Edge | None, right: Edge | None) -> str:
    if left is None and right is None:
        return ""
    if conflict.looked is not None:
        return CHECK_THEN_ACT
    if conflict.since is not None:
        return TORN_UPDATE
    return TOO_SOON if looked_too_soon(conflict) is not None else ORDER_VIOLATION


def looked_too_soon(conflict: Conflict) -> tuple[Access, Access] | None:
    """(the look of a thread, what a thread that it has started adds there only then); None if nothing is like that.

    Args:
        conflict: of which one side is known.
    """
    left, right = conflict.left, conflict.right
    if left is not None and left.access.reads:
        looks, added = [left.access], list(left.others)
    elif right is not None:
        looks, added = [one for one in right.others if one.reads], [right.access]
    else:
        return None
    if not looks or not all(adds(one) for one in added if one.writes):
        return None
    started = all(one.thread.startswith(f"{look.thread}.") for one in added for look in looks)
    late = next((one for one in added if one.writes), None)
    return (looks[0], late) if started and late is not None else None


def _of_one_thing(conflict: Conflict, left: Edge, right: Edge) -> str:
    first, last = left.access, right.access
    if hands_over(first) and hands_over(last):  # else one does not belong to the next: the other only came between
        return TORN_UPDATE if are_parts(left, right) else ORDER_VIOLATION
    if _is_of_permits(first) and _is_of_permits(last):
        return ORDER_VIOLATION  # nor does one permit; and a wait that goes on is no second look
    if last.reads and last.holder_type == "Random":
        return UPDATE_AND_READ  # a number is drawn from where the generator was left
    if puts_back(first, last) or (sends(first) and sends(last)):
        return TORN_UPDATE
    if receives(first) and receives(last):
        return TORN_READ
    if first.reads or first.in_vain:
        again = (first.place.path, first.place.line) == (last.place.path, last.place.line) and first.does == last.does
        if again and last.tested and sets_flag(right):
            return INVALIDATED
        if last.does == "iterates" and (first.does == "iterates" or not checks(first) or first.place == last.place):
            return CHANGED_IN_LOOP
        if _looks_elsewhere(left, right):
            return NON_REPEATABLE_READ
        if (checks(first) or misses(first, last)) and (last.writes or not again):
            return CHECK_THEN_ACT if waited_between(conflict) is None else WAIT_WITHOUT_LOOP
        if searches(first) and last.does == "stores" and last.thing[0] == "item":
            return CHECK_THEN_ACT  # it has looked for a place
        if last.writes:
            # What a function took away in vain, another one hardly makes anything of: it found nothing there.
            elsewhere = first.in_vain and first.place.function != last.place.function
            return LOST_UPDATE if replaces(last) and not elsewhere else CHECK_THEN_ACT
        if _stored_after(conflict, first, last):
            return UPDATE_AND_READ if _read_before_storing(conflict, right) else OVERWRITTEN
        # An update in one statement reads anew: nothing is lost, but it rests on the first look.
        return CHECK_THEN_ACT if updates(conflict) else NON_REPEATABLE_READ
    if last.writes and rollback_by_others(conflict) is not None:
        return ROLLED_BACK
    if last.writes and _moves(first) and _moves(last):
        return ORDER_VIOLATION  # of two moves in a file, the second does not rest on the first
    if last.writes:
        return TOO_SOON if _goes_on(conflict, left, right) else TORN_UPDATE
    return UPDATE_AND_READ if _read_before_storing(conflict, right) else OVERWRITTEN


def _moves(access: Access) -> bool:
    """Whether it only moves to a place in a file."""
    return access.thing[0] == "file" and access.detail.startswith("seek(")


def _looks_elsewhere(left: Edge, right: Edge) -> bool:
    """Whether the second look only stands in for an edge, and is in another function: it need not rest on the first."""
    first, last = left.access, right.access
    if not right.inferred or last.does != "reads" or not (checks(first) and checks(last)):
        return False
    return (last.place.path, last.place.function) != (first.place.path, first.place.function)


def rollback_by_others(conflict: Conflict) -> Access | None:
    """Where another thread rolls back between two steps of a change to a database; None if none does."""
    left, right = conflict.left, conflict.right
    if left is None or right is None or left.access.thing[0] != "database":
        return None
    return next((one for one in reversed(right.others) if one.detail.startswith("rollback(")), None)


def _goes_on(conflict: Conflict, left: Edge, right: Edge) -> bool:
    """Whether one instruction does the same to a thing again and again, and who started its thread looks too soon.

    Each time is an update of its own, and no part of the next: the other thread had to wait for all of them.
    """
    looks = [other for other in (*left.others, *right.others) if other.reads]
    starters = all(conflict.thread.startswith(f"{look.thread}.") for look in looks)
    again = left.access.place == right.access.place and left.access.does == right.access.does
    return again and bool(looks) and starters and not any(other.writes for other in right.others)


def updates(conflict: Conflict) -> bool:
    """Whether the read at the right edge is the first half of an update in one statement, such as ``+=``."""
    right = conflict.right
    if right is None or right.access.does != "reads":
        return False
    last = right.access
    following = (one for one in conflict.after if one.number > last.number and one.thing == last.thing)
    then = next(following, None)
    return then is not None and then.does == "stores" and then.place.line == last.place.line


def _stored_after(conflict: Conflict, first: Access, last: Access) -> bool:
    """Whether the first look belongs to an update, which the thread has made before it looks again."""
    own = (one for one in conflict.before if first.number < one.number < last.number and one.thing == first.thing)
    return any(one.does == "stores" and one.place.line == first.place.line for one in own)


def _read_before_storing(conflict: Conflict, right: Edge) -> bool:
    """Whether what the others store last was computed from what the interrupted thread had left there."""
    last = [other for other in right.others if other.writes][-1]
    if last.does != "stores":
        return True  # a method, which adds to it or takes from it
    looks = [one for one in conflict.stretch if one.number < last.number and one.thing == last.thing and one.reads]
    return any(one.thread == last.thread and one.place.line == last.place.line for one in looks)


def waited_between(conflict: Conflict) -> Access | None:
    """Where the interrupted thread waited for a notification between its look and what it does after the others."""
    left, right = conflict.left, conflict.right
    if left is None or right is None:
        return None
    own = (*conflict.before, *conflict.after)
    waits = [one for one in own if left.access.number < one.number < right.access.number and _waits(one)]
    same = [one for one in waits if one.place.function == left.access.place.function == right.access.place.function]
    return same[-1] if same else None


def _waits(access: Access) -> bool:
    return access.does == "calls" and access.holder_type == "Condition" and access.detail.startswith("wait(")


def _of_two_things(left: Edge, right: Edge) -> str:
    first, last = left.access, right.access
    if first.writes and last.writes:
        return _two_writes(left, right)
    if first.reads and last.reads:
        if replaced_together(left, right):
            return TORN_READ
        if is_of_found(first, last) and not checks(first):
            return INVALIDATED  # others have taken it from where it was found, and changed it
        return CHECK_THEN_ACT if checks(first) or takes_out(last) else TORN_READ
    if first.reads and last.writes:
        if _adds_to_replaced(left, last):
            return INVALIDATED
        return LOST_UPDATE if replaces_container(left, right) else CHECK_THEN_ACT
    # It takes one thing, and leaves another there, before it looks at the second.
    return TORN_READ if any(other.writes for other in left.others) else ORDER_VIOLATION


def _adds_to_replaced(left: Edge, last: Access) -> bool:
    """Whether a thread adds to the container that it got before others have put another one in its place."""
    changes = [other for other in left.others if other.writes]
    replaced = bool(changes) and changes[-1].does == "stores" and changes[-1].thing == left.access.thing
    return replaced and adds(last) and is_of_found(left.access, last) and not checks(left.access)


def _two_writes(left: Edge, right: Edge) -> str:
    """What two writes by one thread are: two steps of one change, or to show an object and to complete it only then."""
    new, last = left.access.new, right.access
    of_it = 0 <= new.number == last.thing[1] or (bool(new.type) and last.name.startswith(f"{new.type}."))
    return INCOMPLETE if of_it and left.access.does == "stores" else TORN_UPDATE
