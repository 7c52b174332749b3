"""Narrows a virtual lock to the smallest one that still prevents the failure: ddmin over its statements."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from replay_dd.dd import DDMin, IntervalSet
from replay_dd.outcome import Outcome
from replay_dd.schedules.experiments.proposals import is_in, without_gaps
from replay_dd.schedules.experiments.sources import Sources, frames_of
from replay_dd.schedules.observed.observation import Access, Observation
from replay_dd.schedules.story.conflict import Conflict, one_thing
from replay_dd.schedules.virtual import Region, VirtualLock


def narrowed(lock: VirtualLock, sources: Sources, holds: Callable[[VirtualLock], bool], most: int) -> VirtualLock:
    """The smallest lock that holds, and that a ``with`` statement around each of its regions could be.

    Of each region, what is left is one run of statements: from the first statement that is needed to the last.

    Args:
        lock: a lock that holds.
        sources: the program's sources.
        holds: whether a smaller one does.
        most: how many to try.
    """
    units = [(number, part) for number, region in enumerate(lock.regions) for part in sources.parts(region)]

    algorithm = DDMin(IntervalSet.range(0, len(units)))
    while (asked := algorithm.ask()) is not None and most > 0:
        most -= 1
        smaller = without_gaps(VirtualLock(tuple(units[unit][1] for unit in asked), lock.taking), sources)
        prevents = bool(smaller.regions) and holds(smaller)
        algorithm.tell(Outcome.FAIL if prevents else Outcome.PASS)  # what is kept is what prevents it
    regions: list[Region] = []
    for number in range(len(lock.regions)):
        parts = [part for one, part in (units[unit] for unit in algorithm.c_fail) if one == number]
        if parts:
            regions.append(replace(parts[0], last=parts[-1].last))
    return without_gaps(VirtualLock(tuple(regions), lock.taking), sources)


def covers(lock: VirtualLock, accesses: Sequence[Access]) -> bool:
    """Whether a lock is held at each of these accesses; under a lock of the program, those that hold one are left out.

    Args:
        lock: the lock.
        accesses: what some threads did.
    """
    return all(
        (bool(lock.taking) and bool(access.held)) or any(covers_in(region, access) for region in lock.regions)
        for access in accesses
    )


def told_under(lock: VirtualLock, conflict: Conflict) -> list[Access]:
    """What of a conflict happens under a lock.

    It has to stay there, whatever the schedules at hand need: rarely are two threads interrupted in the same race, one
    after the other, but a lock must hold then, too.
    """
    about = {one.stack: one for one in conflict.accesses}
    return [access for access in about.values() if covers(lock, (access,))]


def is_one_step(lock: VirtualLock, conflict: Conflict) -> bool:
    """Whether one region of a lock reaches from the first of a thread's two accesses to one thing to the second.

    Without such a region, a lock may prevent a failure by keeping others from coming in between at all, as in a test
    that adds two things: what must not be torn apart still is.

    Args:
        lock: the lock.
        conflict: what the threads did.
    """
    left, right = conflict.left, conflict.right
    if left is None or right is None or left.inferred or right.inferred or not one_thing(left.access, right.access):
        return False
    return any(all(covers_in(region, edge.access) for edge in (left, right)) for region in lock.regions)


def covers_in(region: Region, access: Access) -> bool:
    """Whether an access is made in a region, or by what is called there."""
    return any(is_in(frame, region) for frame in frames_of(access))


def bodies_called(lock: VirtualLock, seen: Sequence[Observation], sources: Sources) -> Iterator[VirtualLock]:
    """Locks around what a statement calls instead of around that whole statement.

    ``return self.pool_for(host).urlopen(path)`` cannot be locked in part; the body of ``pool_for`` can be.

    Args:
        lock: one that holds, narrowed; others are proposed only where it is a single statement.
        seen: what both runs accessed.
        sources: the program's sources.
    """
    if len(lock.regions) != 1 or lock.taking or len(sources.parts(lock.regions[0])) != 1:
        return
    region = lock.regions[0]
    found: dict[VirtualLock, None] = {}
    for access in {access.stack: access for run in seen for access in run.accesses}.values():
        frames = frames_of(access)
        for outer, inner in pairwise(frames):
            if is_in(outer, region) and (inner.file, inner.function) != (outer.file, outer.function):
                found.update((VirtualLock((one,)), None) for one in sources.regions(inner)[-1:])
    yield from found
