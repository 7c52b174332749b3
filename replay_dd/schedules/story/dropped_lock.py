"""A lock that is taken out of its table while another thread has got it from there, and only then takes it.

``lock.release(); del locks[key]``: who comes later makes another lock for the same key. Two threads are then inside of
what the lock should guard, and something is torn there; but the cause is that the lock was taken out.

Rules of this module:

* Both sides of what is torn hold locks that have one name, and are different objects.
* One of these was taken out after the look that got it, and before the thread of that look took it.
* Another one was stored in its place later.
"""

from __future__ import annotations

from replay_dd.schedules.observed.observation import Access, Observation
from replay_dd.schedules.story.conflict import Conflict, Edge
from replay_dd.schedules.story.edges import takes_out
from replay_dd.schedules.story.kinds import DROPPED_LOCK
from replay_dd.schedules.story.twin_guards import twin_guards
from replay_dd.schedules.story.words import at_place

INFERRED = "that two locks were made in the place of one because the first was taken away: no order was tried"


def find_dropped_lock(torn: Conflict, failing: Observation) -> Conflict | None:
    """The conflict of a thread that takes a lock which another one has taken away meanwhile; None if none is seen.

    Args:
        torn: what the threads did to each other.
        failing: all that the failing run accessed.
    """
    guards = twin_guards(torn, failing)
    removed = [one for one in failing.accesses if one.old.number in guards and _removes(one)] if guards else []
    for take in removed:
        made = [one for one in failing.accesses if one.does == "stores" and one.thing == take.thing]
        later = [one for one in made if one.number > take.number and one.new.number in guards]
        look = _look_before(take, failing)
        if not later or look is None:
            continue
        own = [one for one in failing.accesses if one.thread == look.thread and one.number > take.number]
        acquired = (one for one in own if one.does == "acquires" and one.thing[1] == take.old.number)
        last = next(acquired, None)
        if last is not None:
            others = (take, *(one for one in later[:1] if one.number < last.number and one.thread != look.thread))
            left, right = (Edge(one, others, inferred=False) for one in (look, last))
            return Conflict(look.thread, left, right, last.place, others, (look,), (last,), fault=DROPPED_LOCK)
    return None


def dropped_lock_in_words(conflict: Conflict) -> str:
    """What happened, as two sentences.

    Args:
        conflict: as :func:`find_dropped_lock` gives it.
    """
    left, right = conflict.left, conflict.right
    assert left is not None
    assert right is not None
    look, take, last = left.access, left.others[0], right.access
    return (
        f"Thread {look.thread} gets {look.name} ({at_place(look.place)}), and acquires it ({at_place(last.place)}) "
        f"only after thread {take.thread} has taken it out of there ({at_place(take.place)}). Who comes later makes "
        "another lock, so that two threads are inside at a time."
    )


def help_of_dropped_lock(conflict: Conflict, failing: Observation) -> str:
    """What would help.

    Args:
        conflict: as :func:`find_dropped_lock` gives it.
        failing: all that the failing run accessed.
    """
    left = conflict.left
    assert left is not None
    look, take = left.access, left.others[0]
    common = [failing.locks[lock] for lock in look.held if lock in take.held and lock in failing.locks]
    under = f" under {common[0]}" if common else ""
    return (
        f"keep {look.name}, or count{under} how many threads have got it from there, and take it out "
        f"({at_place(take.place)}) only when the last of them has released it"
    )


def _removes(access: Access) -> bool:
    return access.thing[0] in ("item", "attribute") and (access.does == "deletes" or takes_out(access))


def _look_before(take: Access, failing: Observation) -> Access | None:
    """The last look of another thread that got the lock before it was taken out."""
    got = (
        one
        for one in reversed(failing.accesses)
        if one.number < take.number and one.thread != take.thread and one.reads and one.old.same(take.old)
    )
    return next((one for one in got if one.thing == take.thing), None)
