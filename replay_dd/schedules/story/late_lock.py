"""Whether a thread notes that a lock is taken before it has taken it, and another one goes by that note.

The first reader of a reader-writer lock counts itself and then takes the lock that keeps writers out; the second one
finds that it is not the first, and reads. What fails is what a writer then does to the data, which all who use the lock
have kept to its rules with; broken is the lock. Reader-writer locks of this kind are those of Courtois, Heymans and
Parnas, "Concurrent Control with Readers and Writers" (CACM 1971), where a mutex covers both steps.

Rules of this module:

* The thread is stopped between its note and the lock, in one call of a function. Another thread looks at the note in
  the same function meanwhile, and leaves it without having taken the lock.
* Or the note is a count, and the thread is stopped before it looks at that: it finds the count of another one that has
  come to the same function meanwhile. If neither finds itself the first, neither takes the lock.
* Either is told only if runs prove it.
"""

from __future__ import annotations

from replay_dd.schedules.isolating.answer import GuiltySwitch
from replay_dd.schedules.model import Switch
from replay_dd.schedules.observed.observation import Access, Observation
from replay_dd.schedules.story.conflict import Conflict, Edge, checks, find_conflict, in_one_call
from replay_dd.schedules.story.edges import NUMBERS

_NOTES = ("attribute", "item", "global", "cell")
_TAKES = "acquires"
_OF_LOCK = ("wants", _TAKES)


def late_lock(failing: Observation, switch: Switch) -> Conflict | None:
    """The conflict of a thread that takes a lock too late, or leaves it to another one; None if there is none.

    Args:
        failing: what the failing run accessed.
        switch: a choice of that run.
    """
    found = find_conflict(failing, GuiltySwitch(switch, None), None)
    then = next(iter(found.after), None)
    if then is None:
        return None
    in_call = [one for one in found.before if in_one_call(one, then)]
    notes = [one for one in in_call if one.does == "stores" and one.thing[0] in _NOTES]
    if not notes or any(one.does == _TAKES and one.number > notes[-1].number for one in in_call):
        return None
    if then.does in _OF_LOCK:
        return _taken_late(found, notes[-1], then, failing)
    return _left_to_another(found, notes[-1], then, failing)


def _taken_late(found: Conflict, note: Access, taken: Access, failing: Observation) -> Conflict | None:
    looks = tuple(
        one
        for one in found.stretch
        if one.thing == note.thing and checks(one) and _is_same_function(one, taken) and _goes_on(one, taken, failing)
    )
    if not looks:
        return None
    left, right = (Edge(one, looks, inferred=False) for one in (note, taken._replace(writes=True)))
    return found._replace(left=left, right=right)


def _left_to_another(found: Conflict, note: Access, look: Access, failing: Observation) -> Conflict | None:
    if look.thing != note.thing or not checks(look) or look.old.same(note.new) or note.new.type not in NUMBERS:
        return None
    noted = tuple(
        one
        for one in found.stretch
        if one.thing == note.thing and one.does == "stores" and _is_same_function(one, look)
    )
    if not noted or not all(_goes_on(one, None, failing) for one in (look, *noted)):
        return None
    left, right = (Edge(one, noted, inferred=False) for one in (note, look))
    return found._replace(left=left, right=right)


def _is_same_function(one: Access, other: Access) -> bool:
    return (one.place.path, one.place.function) == (other.place.path, other.place.function)


def _goes_on(look: Access, taken: Access | None, failing: Observation) -> bool:
    """Whether who looks leaves the function without having taken the lock, or any lock if none is given."""
    own = [one for one in failing.accesses if one.thread == look.thread and one.number > look.number]
    for one in own:
        if not in_one_call(one, look):
            return True
        if one.does in _OF_LOCK and (taken is None or one.thing == taken.thing):
            return False
    return False
