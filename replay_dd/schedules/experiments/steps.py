"""What the other threads of a conflict do, as steps to lock.

Rules of this module:

* An access is a step of its own, but where a thread reads a thing and then changes it, that is one step.
* Of two things that belong together, all that a thread does to the first and then to the second is one step.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

from replay_dd.schedules.experiments.sources import Sources, between, spans_of
from replay_dd.schedules.observed.observation import Access, Thing
from replay_dd.schedules.virtual import Region


def lockable_regions(accesses: Iterable[Access], sources: Sources) -> list[Region]:
    """What to lock of some accesses, each region once; thousands may be made in the same way.

    Args:
        accesses: of some threads.
        sources: the program's sources.
    """
    alike = {(access.stack, bool(access.held)): access for access in accesses}
    return [region for region in dict.fromkeys(map(sources.lockable, alike.values())) if region is not None]


def steps_of(others: Sequence[Access], sources: Sources) -> list[Region]:
    """What to lock of the other threads' accesses: where one reads a thing and then changes it, from there to there.

    That is an update, too, which may be in functions that this one calls; each of all others is a step of its own.

    Args:
        others: the accesses, in order.
        sources: the program's sources.
    """
    found: dict[Region, None] = {}
    alone: dict[int, Access] = dict(enumerate(others))
    read: dict[tuple[str, Thing], int] = {}
    for number, other in enumerate(others):
        first = read.pop((other.thread, other.thing), None)
        if other.reads and not other.writes and not other.held:
            read[other.thread, other.thing] = number
        elif first is not None and other.writes and others[first].stack != other.stack:
            regions = between(others[first], other, sources)
            if regions:
                found[regions[0]] = None
                alone.pop(first, None)
                alone.pop(number, None)
    return [*found, *lockable_regions(alone.values(), sources)]


def steps_of_both(one: Access, others: Sequence[Access], sources: Sources, most: int) -> list[list[Region]]:
    """What to lock of accesses to two things, the smallest first; none if no thread accesses both.

    Args:
        one: an access to one of the things.
        others: those of the other threads, to either.
        sources: the program's sources.
        most: how many sizes there may be.
    """
    both: list[Access] = []
    rest: list[Access] = []
    for thread in dict.fromkeys(other.thread for other in others):
        own = sorted({other for other in others if other.thread == thread}, key=lambda access: access.number)
        runs = [list(run) for _, run in groupby(own, one.touches)]
        if len(runs) > 1:
            both += [*runs[0], *runs[1]]
        else:
            rest += own
    alone = steps_of(rest, sources)
    return [[*together, *alone] for together in spans_of(both, sources, most)]
