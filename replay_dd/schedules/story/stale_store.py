"""Whether a thread that looks at a thing twice later stores there what it has made of the first look.

As where a thread that lost a race of versions reads the version again, but not the stock that it has computed from the
old one. The second look stands at the edge of the failing range, and its order decides nothing; the store does. Or both
are under one lock, whose section is the edge: there it counts what was made of the first look, not what came first.
From a look that found nothing and raised an exception, no value comes; it decides what its thread stores there.
"""

from __future__ import annotations

from replay_dd.schedules.observed.flow import Flow
from replay_dd.schedules.observed.observation import Access, Observation
from replay_dd.schedules.story.conflict import Conflict, Edge, in_one_section
from replay_dd.schedules.story.dependences import Dependences
from replay_dd.schedules.story.interrupted_update import is_made_of
from replay_dd.schedules.story.links import Links


def is_of_two_things(conflict: Conflict) -> bool:
    """Whether a thread looks at one thing before the others' stretch, and does something to another one after it."""
    left, right = conflict.left, conflict.right
    return left is not None and right is not None and _looks(left.access) and left.access.thing != right.access.thing


def with_stale_store(conflict: Conflict, links: Links, failing: Observation, flow: Flow | None) -> Conflict:
    """The conflict with that store in the place of the second look, if that look's own order does not count.

    Args:
        conflict: what the threads did; a thread looks twice.
        links: what was tried.
        failing: what the failing run accessed.
        flow: its instructions; None if they were not observed.
    """
    left, right = conflict.left, conflict.right
    if left is None or right is None or flow is None or len(links.tried) != 2:
        return conflict
    first, second = links.tried
    if not first.proved:
        return conflict
    later = [one for one in conflict.after if one.number > right.access.number]
    stored = next((one for one in later if one.does == "stores" and one.thing == left.access.thing), None)
    if stored is not None and not second.refuted and not in_one_section(right.access, stored, conflict.after):
        return conflict
    missed = left.access.old.is_missing and _looks(left.access)
    if stored is None or not (missed or is_made_of(stored, left.access, Dependences(flow, failing))):
        return conflict
    others = tuple(one for one in conflict.stretch if one.conflicts(stored))
    return conflict._replace(right=Edge(stored, others or right.others, inferred=False))


def with_stale_value(conflict: Conflict, failing: Observation, flow: Flow | None) -> Conflict:
    """The conflict of a thread that stores after others, with its look at what the value was made of.

    Only if others have changed that meanwhile; else the conflict as it was.

    Args:
        conflict: what the threads did; the interrupted one stores after the others.
        failing: what the failing run accessed.
        flow: its instructions; None if they were not observed.
    """
    right = conflict.right
    if right is None or conflict.left is not None or flow is None or right.access.does != "stores" or conflict.never:
        return conflict
    dependences = Dependences(flow, failing)
    for look in reversed(conflict.before):
        changed = tuple(one for one in conflict.stretch if one.writes and one.touches(look))
        if changed and look.does == "reads" and is_made_of(right.access, look, dependences):
            return conflict._replace(left=Edge(look, changed, inferred=False))
    return conflict


def _looks(access: Access) -> bool:
    return access.reads or access.in_vain
