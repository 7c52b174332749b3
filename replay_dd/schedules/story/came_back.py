"""Whether a thread takes a thing for unchanged as it finds the same value there again: the ABA problem.

A compare-and-swap succeeds, although others have replaced the value and put it back meanwhile; what the thread has read
elsewhere since its first look is no longer so. Described for free lists in "IBM System/370 Extended Architecture,
Principles of Operation" (1983); the name is that of Treiber's stack with nodes that are used again.

Rules of this module:

* That a value is there again is no fault. It is one only if the thread then stores what it has read elsewhere before
  that, and others have stored something else there meanwhile.
"""

from __future__ import annotations

from replay_dd.schedules.isolating.answer import GuiltySwitch
from replay_dd.schedules.model import Switch
from replay_dd.schedules.observed.observation import Access, Observation
from replay_dd.schedules.story.conflict import Conflict, Edge, find_conflict
from replay_dd.schedules.story.words import at_place


def came_back(failing: Observation, switch: Switch) -> Conflict | None:
    """The conflict of a thread that finds a value again which others have replaced and put back; None if there is none.

    Args:
        failing: what the failing run accessed.
        switch: a choice of that run.
    """
    found = find_conflict(failing, GuiltySwitch(switch, None), None)
    again = next((one for one in found.after if one.tested and one.reads and one.thing[0] != "lock"), None)
    if again is None or not again.old.is_known:
        return None
    own = [one for one in found.before if one.thing == again.thing]
    stores = [one for one in found.stretch if one.does == "stores" and one.thing == again.thing]
    if not own or not own[-1].reads or not own[-1].old.same(again.old) or not stores:
        return None
    if not stores[-1].new.same(again.old) or all(one.new.same(again.old) for one in stores):
        return None
    look = own[-1]
    stored = next((one for one in found.after if one.number > again.number and one.does == "stores"), None)
    if stored is None or stored.thing != again.thing:
        return None
    read = (one for one in found.before if one.number > look.number and one.does == "reads")
    outdated = next((one for one in read if one.old.same(stored.new) and _is_changed(one, found)), None)
    if outdated is None:
        return None
    left, right = (
        Edge(one, tuple(other for other in found.stretch if other.conflicts(one)), inferred=False)
        for one in (look, again)
    )
    return found._replace(left=left, right=right, outdated=outdated)


def _is_changed(look: Access, found: Conflict) -> bool:
    return any(one.does == "stores" and one.thing == look.thing and not one.new.same(look.old) for one in found.stretch)


def put_back(conflict: Conflict) -> tuple[Access, Access]:
    """(where others replace the value, where they put it back).

    Args:
        conflict: of a value that comes back.
    """
    assert conflict.right is not None
    again = conflict.right.access
    stores = [one for one in conflict.right.others if one.does == "stores" and one.thing == again.thing]
    return next(one for one in stores if not one.new.same(again.old)), stores[-1]


def help_of_came_back(conflict: Conflict, failing: Observation) -> str:
    """What would help against the ABA problem.

    Args:
        conflict: of a value that comes back.
        failing: what the failing run accessed, and the names of the locks.
    """
    assert conflict.left is not None
    assert conflict.right is not None
    look, again = conflict.left.access, conflict.right.access
    common = set(again.held).intersection(*(one.held for one in put_back(conflict))) - set(look.held)
    names = [failing.locks[lock] for lock in sorted(common) if lock in failing.locks]
    hold = f"hold {names[0]} from the first look ({at_place(look.place)}) on, or " if names else ""
    return (
        f"{hold}compare a version with {again.name}, too, which each change of it counts up: that the same value is "
        "there again does not show that nothing has changed"
    )
