"""Whether a switch interrupts an update: a thread reads, and stores what it has made of that, another one in between.

Rules of this module:

* An update in one line, such as ``+=``, is seen by its two accesses. One in several lines is an update only if the data
  flow from the look to the store was observed.
* Of a file, the look is what reads it, and the store begins where it is opened to write what was made of that.
"""

from __future__ import annotations

from collections.abc import Sequence

from replay_dd.schedules.isolating.answer import GuiltySwitch
from replay_dd.schedules.model import Switch
from replay_dd.schedules.observed.flow import Flow
from replay_dd.schedules.observed.observation import Access, Observation
from replay_dd.schedules.story.conflict import Conflict, Edge, find_conflict
from replay_dd.schedules.story.dependences import Dependences, Kind, Node

_MOST_NODES = 2000
_MADE_OF = (Kind.DATA, Kind.THROUGH_C)


def interrupted_update(failing: Observation, switch: Switch, flow: Flow | None) -> Conflict | None:
    """The conflict of an update that a switch interrupted before its store; None if it did not.

    Args:
        failing: what the failing run accessed.
        switch: a choice of that run.
        flow: its instructions; without them, only an update in one line is found.
    """
    found = find_conflict(failing, GuiltySwitch(switch, None), None)
    right = found.right
    if right is None or right.inferred:
        return None
    own = [one for one in found.before if one.thing == right.access.thing]
    stored = _stored(right.access, found.after)
    if not own or stored is None or not _looks(own[-1]):
        return None
    look = own[-1]
    if not any(_stores(other) and other.thing == look.thing for other in right.others):
        return None
    one_line = stored is right.access and look.place.line == stored.place.line
    if not one_line and (flow is None or not is_made_of(stored, look, Dependences(flow, failing))):
        return None
    others = tuple(other for other in found.stretch if other.conflicts(look))
    return found._replace(left=Edge(look, others, inferred=False))


def _looks(access: Access) -> bool:
    of_file = access.thing[0] == "file" and access.does == "calls" and not access.writes
    return access.does == "reads" or of_file


def _stores(access: Access) -> bool:
    return access.does == "stores" or (access.thing[0] == "file" and access.does == "open" and access.writes)


def _stored(first: Access, after: Sequence[Access]) -> Access | None:
    """The access that stores the value: what is written to a file that was opened for that."""
    if not _stores(first):
        return None
    written = (one for one in after if one.thing == first.thing and one.does == "calls" and one.writes)
    return first if first.does == "stores" else next(written, None)


def is_made_of(stored: Access, look: Access, dependences: Dependences) -> bool:
    """Whether the value that a thread stores comes from one of its looks, through what is its own only.

    Args:
        stored: the store.
        look: the earlier look.
        dependences: what each executed instruction of that run depends on.
    """
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
