"""Which order passes, as both runs show it: two conflicting accesses that come the other way round.

Rules of this module:

* An access of one run is that of the other if it is the same visit of the same place by the same thread, and does the
  same to a thing of the same name in a holder of the same type. Objects have other numbers in another run.
* An instance and its class have an attribute of one name. To read it is two accesses while only the class has it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from replay_dd.schedules.observed.observation import Access, Observation
from replay_dd.schedules.story.conflict import Conflict, Edge

Visit = tuple[str, str, int, str, str, str, int]
"""What makes an access the same in another run: thread, file, line, what it does, name, type of the holder, which."""


def passing_order(conflict: Conflict, failing: Observation, passing: Observation) -> tuple[Access, Access] | None:
    """(what comes first, what comes then) where the run passes; None if both runs do not show such a pair.

    Args:
        conflict: what the threads did in the failing run.
        failing: all that the failing run accessed.
        passing: all that the passing run accessed.
    """
    in_failing = dict(visits_of(failing.accesses))
    in_passing = {visit: access.number for visit, access in visits_of(passing.accesses)}
    visits = {access.number: visit for visit, access in in_failing.items()}
    for edge, side in ((conflict.right, "right"), (conflict.left, "left")):
        if edge is None or edge.access.number not in visits:  # the failing run never came to it
            continue
        own = in_passing.get(visits[edge.access.number])
        if own is None:
            continue
        for other in _rivals(edge, failing.accesses, side):
            number = in_passing.get(visits[other.number])
            if number is not None and (number < own) != (other.number < edge.access.number):
                return (other, edge.access) if number < own else (edge.access, other)
    return None


def is_kept(first: Access, then: Access, failing: Observation, passing: Observation) -> bool:
    """Whether two accesses of the failing run come in the same order in the passing run.

    Args:
        first: what comes first in the failing run.
        then: what comes after it.
        failing: all that the failing run accessed.
        passing: all that the passing run accessed.
    """
    visits = {access.number: visit for visit, access in visits_of(failing.accesses)}
    in_passing = {visit: access.number for visit, access in visits_of(passing.accesses)}
    numbers = [in_passing.get(visits[one.number]) if one.number in visits else None for one in (first, then)]
    return numbers[0] is not None and numbers[1] is not None and numbers[0] < numbers[1]


def _rivals(edge: Edge, accesses: Sequence[Access], side: str) -> Iterator[Access]:
    """What conflicts with an edge, the likeliest first."""
    yield from edge.others if side == "right" else edge.others[::-1]
    for access in accesses:
        if access.thread != edge.access.thread and access not in edge.others and access.conflicts(edge.access):
            yield access


def visits_of(accesses: Sequence[Access]) -> Iterator[tuple[Visit, Access]]:
    """Each access with what makes it the same one in another run.

    Args:
        accesses: all accesses of a run.
    """
    counts: dict[tuple[str, str, int, str, str, str], int] = {}
    for access in accesses:
        where = access.place.path, access.place.line
        key = (access.thread, *where, access.does, access.name, access.holder_type)
        counts[key] = counts.get(key, 0) + 1
        yield (*key, counts[key]), access
