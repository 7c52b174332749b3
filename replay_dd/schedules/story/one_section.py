"""Which accesses of two sections under one lock a conflict is about, where those at the edges belong to nothing.

Under one lock, all that a thread does in a section comes before or after that of the others together; so an edge of the
failing range shows one of many accesses. A package that keeps its data under a lock of its own touches counters, clocks
and flags there, as well.

Rules of this module:

* What one section reads and a later one stores is told, if others have stored another value there in between.
* The accesses at the edges stay if they are to one thing that others have changed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from replay_dd.schedules.observed.observation import Access
from replay_dd.schedules.story.conflict import Conflict, Edge, in_one_section, one_thing


def with_one_thing(conflict: Conflict) -> Conflict:
    """The conflict with the accesses to one thing that others have changed, out of the sections of both its edges.

    One instruction may access several things, too: to open a file looks at the working directory.

    Args:
        conflict: what the threads did.
    """
    left, right = conflict.left, conflict.right
    if left is None or right is None:
        return conflict
    if not one_thing(left.access, right.access):
        beside = (one for one in conflict.after if one.time == right.access.time and one.thing == left.access.thing)
        for one in beside:
            others = tuple(other for other in conflict.stretch if other.conflicts(one))
            if _are_changed(others) and _are_changed(left.others):
                return conflict._replace(right=Edge(one, others, right.inferred))
    if not (_is_guarded(left) and _is_guarded(right)):
        return conflict
    if one_thing(left.access, right.access) and _are_changed(left.others):
        return conflict
    stored = [edge for edge in _of_section(right, conflict.after, conflict.stretch) if edge.access.does == "stores"]
    for first in _of_section(left, conflict.before[::-1], conflict.stretch):
        then = next((edge for edge in stored if edge.access.thing == first.access.thing), None)
        if then is not None and first.access.does == "reads":
            return conflict._replace(left=first, right=then)
    return conflict


def _is_guarded(edge: Edge) -> bool:
    return any(set(edge.access.held) & set(other.held) for other in edge.others)


def _of_section(edge: Edge, own: Sequence[Access], stretch: Sequence[Access]) -> Iterator[Edge]:
    """What a thread does in the section of an edge to what the others change; in the order of its accesses."""
    for one in own:
        ends = sorted((one, edge.access), key=lambda access: access.number)
        if not in_one_section(ends[0], ends[1], own):
            continue
        others = tuple(other for other in stretch if other.conflicts(one))
        if _are_changed(others):
            yield Edge(one, others, inferred=False)


def _are_changed(others: Sequence[Access]) -> bool:
    """Whether others leave another value than they found; to store the same one again makes no difference."""
    return any(one.changes and not (one.does == "stores" and one.new.same(one.old)) for one in others)
