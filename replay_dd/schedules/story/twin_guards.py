"""A lock that was made twice: two threads are each inside of what one of them guards, as if there were no lock.

What is torn there is only the effect. The cause is the place that both locks came from: one thread stored the second
lock over the first, which the other thread had already.

Rules of this module:

* Two locks are twins if they have one name, since both were got from the same place, and are different objects.
* Each is held by another thread at the accesses of the conflict.
"""

from __future__ import annotations

from itertools import product

from replay_dd.schedules.observed.observation import Access, Observation
from replay_dd.schedules.story.conflict import Conflict


def twin_guards(conflict: Conflict, failing: Observation) -> frozenset[int]:
    """The locks under which both sides of a conflict are, by number, though one lock was meant; empty if one is.

    Args:
        conflict: what the threads did to each other.
        failing: all that the failing run accessed.
    """
    pairs = [(edge.access, other) for edge in conflict.edges for other in edge.others]
    return frozenset(
        lock
        for own, other in pairs
        for one, another in product(_held(own, failing), _held(other, failing))
        if one != another and failing.locks[one] == failing.locks[another]
        for lock in (one, another)
    )


def of_making(conflict: Conflict) -> Conflict:
    """A conflict of two threads that both make a lock, without those who then take one: that is no part of making it.

    Args:
        conflict: what the threads did to each other.
    """
    right = conflict.right
    makes = () if right is None else tuple(one for one in right.others if one.changes)
    return conflict._replace(right=right._replace(others=makes)) if right is not None and makes else conflict


def _held(access: Access, failing: Observation) -> list[int]:
    return [lock for lock in access.held if lock in failing.locks]
