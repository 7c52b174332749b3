"""Whether a thread that looks at a thing twice later stores there what it has made of the first look.

As where a thread that lost a race of versions reads the version again, but not the stock that it has computed from the
old one. The second look stands at the edge of the failing range, and its order decides nothing; the store does.
"""

from __future__ import annotations

from replay_dd.schedules.flow import Flow
from replay_dd.schedules.observation import Access, Observation
from replay_dd.schedules.story.conflict import Conflict, Edge
from replay_dd.schedules.story.dependences import Dependences, Kind, Node
from replay_dd.schedules.story.links import Links

_MOST_NODES = 2000
_MADE_OF = (Kind.DATA, Kind.THROUGH_C)


def with_stale_store(conflict: Conflict, links: Links, failing: Observation, flow: Flow | None) -> Conflict:
    """The conflict with that store in the place of the second look, if the order of that look was refuted.

    Args:
        conflict: what the threads did; a thread looks twice.
        links: what was tried.
        failing: what the failing run accessed.
        flow: its instructions; None if they were not observed.
    """
    left, right = conflict.left, conflict.right
    if left is None or right is None or flow is None or len(links.tried) != 2:
        return conflict
    if not links.tried[0].proved or not links.tried[1].refuted:
        return conflict
    later = [one for one in conflict.after if one.number > right.access.number and one.thing == left.access.thing]
    stored = next((one for one in later if one.does == "stores"), None)
    if stored is None or not _is_made_of(stored, left.access, Dependences(flow, failing)):
        return conflict
    return conflict._replace(right=Edge(stored, right.others, inferred=False))


def _is_made_of(stored: Access, look: Access, dependences: Dependences) -> bool:
    """Whether the value that a thread stores comes from one of its looks, through what is its own only."""
    first, last = dependences.step_of(look), dependences.step_of(stored)
    if first is None or last is None:
        return False
    steps = dependences.flow.steps
    waiting, known = [Node(last)], {Node(last)}
    while waiting and len(known) < _MOST_NODES:
        for node, kind in dependences.of(waiting.pop()):
            if kind not in _MADE_OF or node in known or steps[node.step].thread != stored.thread:
                continue
            if node.step == first:
                return True
            known.add(node)
            waiting.append(node)
    return False
