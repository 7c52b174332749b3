"""Whether a thread notes that a lock is taken before it has taken it, and another one goes by that note.

The first reader of a reader-writer lock counts itself and then takes the lock that keeps writers out; the second one
finds that it is not the first, and reads. What fails is what a writer then does to the data, which all who use the lock
have kept to its rules with; broken is the lock. Reader-writer locks of this kind are those of Courtois, Heymans and
Parnas, "Concurrent Control with Readers and Writers" (CACM 1971), where a mutex covers both steps.

Rules of this module:

* The thread is stopped between its note and the lock, in one call of a function.
* Another thread looks at the note in the same function meanwhile, and leaves it without having taken the lock.
* That is told only if runs prove it.
"""

from __future__ import annotations

from replay_dd.schedules.isolating.answer import GuiltySwitch
from replay_dd.schedules.model import Switch
from replay_dd.schedules.observed.observation import Access, Observation, StackFrame
from replay_dd.schedules.story.conflict import Conflict, Edge, checks, find_conflict

_NOTES = ("attribute", "item", "global", "cell")
_OF_LOCK = ("wants", "acquires")


def late_lock(failing: Observation, switch: Switch) -> Conflict | None:
    """The conflict of a thread that takes a lock too late; None if there is none.

    Args:
        failing: what the failing run accessed.
        switch: a choice of that run.
    """
    found = find_conflict(failing, GuiltySwitch(switch, None), None)
    taken = next(iter(found.after), None)
    if taken is None or taken.does not in _OF_LOCK or not taken.stack:
        return None
    in_call = [one for one in found.before if _call(one) == _call(taken)]
    notes = [one for one in in_call if one.does == "stores" and one.thing[0] in _NOTES]
    if not notes or any(one.does == _OF_LOCK[1] and one.number > notes[-1].number for one in in_call):
        return None
    note = notes[-1]
    looks = tuple(
        one
        for one in found.stretch
        if one.thing == note.thing and checks(one) and _is_same_function(one, taken) and _goes_on(one, taken, failing)
    )
    if not looks:
        return None
    left, right = (Edge(one, looks, inferred=False) for one in (note, taken._replace(writes=True)))
    return found._replace(left=left, right=right)


def _call(access: Access) -> tuple[str, str, tuple[StackFrame, ...]]:
    return access.place.path, access.place.function, access.stack[1:]


def _is_same_function(one: Access, other: Access) -> bool:
    return (one.place.path, one.place.function) == (other.place.path, other.place.function)


def _goes_on(look: Access, taken: Access, failing: Observation) -> bool:
    """Whether who looks leaves the function without having taken the lock."""
    own = [one for one in failing.accesses if one.thread == look.thread and one.number > look.number]
    for one in own:
        if _call(one) != _call(look):
            return True
        if one.does in _OF_LOCK and one.thing == taken.thing:
            return False
    return False
