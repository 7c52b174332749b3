"""Narrows a virtual lock to the smallest one that still prevents the failure: ddmin over its statements."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from replay_dd.dd import DDMin, IntervalSet
from replay_dd.outcome import Outcome
from replay_dd.schedules.experiments.proposals import joined
from replay_dd.schedules.experiments.sources import Sources
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
        smaller = VirtualLock(joined([units[unit][1] for unit in asked], sources), lock.taking)
        algorithm.tell(Outcome.FAIL if holds(smaller) else Outcome.PASS)  # what is kept is what prevents it
    regions: list[Region] = []
    for number in range(len(lock.regions)):
        parts = [part for one, part in (units[unit] for unit in algorithm.c_fail) if one == number]
        if parts:
            regions.append(replace(parts[0], last=parts[-1].last))
    return VirtualLock(joined(regions, sources), lock.taking)
