"""How much a lock would hold, and locks that hold only the updates of one thing.

Rules of this module:

* A lock is as wide as what the failing run accesses under it: lines say nothing of the loops and calls in them.
* For an update to be lost, somebody else has to store in between. Who only looks, once, needs no lock; if it is a loop
  that waits for the updates, a lock around it would be waited for by what it waits for.
* The lock of an update is the innermost: nothing else is taken under it, so it leads to no deadlock.
"""

from __future__ import annotations

from replay_dd.schedules.experiments.narrow import covers_in
from replay_dd.schedules.experiments.proposals import joined
from replay_dd.schedules.experiments.sources import Sources, between
from replay_dd.schedules.observed.observation import Access, Observation
from replay_dd.schedules.story.conflict import Conflict, one_thing
from replay_dd.schedules.virtual import VirtualLock

_TIMES = 2  # as wide, for a lock to be worth a search for a narrower one


def width_of(lock: VirtualLock, failing: Observation) -> int:
    """How many accesses the failing run makes under a lock.

    Args:
        lock: the lock.
        failing: all that the failing run accessed.
    """
    return len(_under(lock, failing))


def is_much_narrower(lock: VirtualLock, than: VirtualLock, failing: Observation) -> bool:
    """Whether another lock is held around calls only of the functions of this one, over twice as many accesses.

    A lock that is held in these functions themselves can be narrowed.

    Args:
        lock: the lock.
        than: the other one.
        failing: all that the failing run accessed.
    """
    functions = {(one.file, one.function) for one in lock.regions}
    inside = any((one.file, one.function) in functions for one in than.regions)
    return not inside and _TIMES * width_of(lock, failing) < width_of(than, failing)


def lock_of_updates(conflict: Conflict, failing: Observation, sources: Sources) -> VirtualLock | None:
    """A lock around the statements that update one thing; None if it is no update, or one of them takes a lock itself.

    Args:
        conflict: what the threads did in the failing run.
        failing: all that the failing run accessed.
        sources: the program's sources.
    """
    left, right = conflict.left, conflict.right
    if left is None or right is None or not one_thing(left.access, right.access) or not right.access.writes:
        return None
    own = between(left.access, right.access, sources)[:1]
    updates = [sources.statement(one) for one in right.others if one.writes]
    regions = [one for one in (*own, *updates) if one is not None]
    lock = VirtualLock(joined(regions, sources))
    return lock if own and not any(one.does == "acquires" for one in _under(lock, failing)) else None


def _under(lock: VirtualLock, failing: Observation) -> list[Access]:
    return [one for one in failing.accesses if any(covers_in(region, one) for region in lock.regions)]
