"""The conflict that the first look shows which found something else than in the passing run.

The isolated switch may only have given the threads time: then nothing at it touches what they share. But both final
runs differ in that switch alone, and what it did to the program shows where a decision first rests on another value.

Rules of this module:

* A look counts if it decided something, and the same visit of the same place found another plain value in the passing
  run.
* Another thread must have stored there, before the look in one run and after it in the other. Where it stores only in
  the failing run, as another one did so in the passing run, it must store what the look found there.
"""

from __future__ import annotations

from collections.abc import Iterator

from replay_dd.schedules.observed.observation import Access, Observation
from replay_dd.schedules.story.conflict import Conflict, Edge, checks
from replay_dd.schedules.story.order import visits_of

MOST = 3  # looks that are tried
INFERRED = "that this look decides: of those that find something else than in the passing run, it is the first one"


def conflicts_of_first_looks(failing: Observation, passing: Observation) -> Iterator[Conflict]:
    """The conflicts of looks that found something else than in the passing run, the earliest first.

    Args:
        failing: all that the failing run accessed.
        passing: all that the passing run accessed.
    """
    usual = dict(visits_of(passing.accesses))
    numbers = {visit: access.number for visit, access in usual.items()}
    visits = [(visit, access) for visit, access in visits_of(failing.accesses) if visit in usual]
    when = {access.number: numbers[visit] for visit, access in visits}
    found = 0
    for visit, look in visits:
        if not checks(look) or look.does != "reads" or not _differ(look, usual[visit]) or found == MOST:
            continue
        stores = [one for one in failing.accesses if one.thread != look.thread and _stores(one, look)]
        now = when[look.number]
        expected = usual[visit].old
        late = [
            one
            for one in stores
            if one.number > look.number and (when[one.number] < now if one.number in when else one.new.same(expected))
        ]
        early = [one for one in stores if one.number < look.number and when.get(one.number, -1) > now]
        if late:
            found += 1
            yield _conflict(failing, late[-1], look)
        elif early:
            found += 1
            yield _conflict(failing, look, early[-1])


def _differ(look: Access, usual: Access) -> bool:
    """Whether two looks found different plain values; objects have other numbers in another run."""
    known = look.old.is_known and usual.old.is_known
    return known and not look.old.same(usual.old) and min(look.old.number, usual.old.number) < 0


def _stores(access: Access, look: Access) -> bool:
    return access.does == "stores" and access.thing == look.thing


def _conflict(failing: Observation, own: Access, other: Access) -> Conflict:
    """The conflict of a thread that makes its access after that of the other one."""
    mine = [one for one in failing.accesses if one.thread == own.thread]
    before = tuple(one for one in mine if one.number < other.number)
    after = tuple(one for one in mine if one.number > other.number)
    begins = before[-1].number if before else 0
    stretch = tuple(one for one in failing.accesses if begins < one.number < own.number and one.thread != own.thread)
    return Conflict(own.thread, None, Edge(own, (other,), inferred=False), None, stretch, before, after)
