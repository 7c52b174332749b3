"""Whether a switch parts a check from an act on another thing, which the other thread in turn checks before it acts.

A lock that is made of a flag and a counter fails so: the reader finds no writer, and the writer no readers, and only
then does each of them say that it is there. Databases call that write skew (Berenson et al., "A Critique of ANSI SQL
Isolation Levels", SIGMOD 1995).

Rules of this module:

* Each of the two looks and acts in one call, and looks at what the other one changes only after its own look. Both
  looks are untrue in the end; with one of them made anew, the two would not meet.
* A thread that looks again before it acts does not rest on the first look.
"""

from __future__ import annotations

from replay_dd.schedules.isolating.answer import GuiltySwitch
from replay_dd.schedules.model import Switch
from replay_dd.schedules.observed.observation import Access, Observation
from replay_dd.schedules.story import kinds
from replay_dd.schedules.story.conflict import Conflict, Edge, checks, find_conflict, in_one_call, one_thing
from replay_dd.schedules.story.interrupted_check import makes_untrue


def interrupted_cross_check(failing: Observation, switch: Switch) -> Conflict | None:
    """The conflict of two threads that each check what the other one changes after its own check; None if none.

    Args:
        failing: what the failing run accessed.
        switch: a choice of that run.
    """
    found = find_conflict(failing, GuiltySwitch(switch, None), None)
    for look in reversed(found.before):
        act = _act_on(look, found)
        if act is None:
            continue
        # Whoever comes round several times has the last word with its last look.
        change = next((one for one in reversed(found.stretch) if makes_untrue(one, look)), None)
        own = [one for one in found.stretch if change is not None and _rests_on(change, one)]
        other = next((one for one in reversed(own) if makes_untrue(act, one)), None)
        if other is not None:
            left = Edge(look, tuple(one for one in found.stretch if one.conflicts(look)), inferred=False)
            return found._replace(left=left, right=Edge(act, (other,), inferred=False))
    return None


def help_of_cross_check(kind: str, conflict: Conflict, failing: Observation) -> str:
    """What would help where the act and the others' changes are made under one lock, but the look is not; or empty.

    A lock around the look may hold it over a loop that waits for those changes, so no region of lines is proposed.

    Args:
        kind: of the story.
        conflict: what the threads did in the failing run.
        failing: what the failing run accessed, and the names of the locks.
    """
    left, right = conflict.left, conflict.right
    if kind != kinds.CHECK_THEN_ACT or left is None or right is None or one_thing(left.access, right.access):
        return ""
    changes = [one for one in left.others if one.writes]
    if not checks(left.access) or not right.access.writes or not changes:
        return ""
    common = set(right.access.held).intersection(*(one.held for one in changes)) - set(left.access.held)
    names = [failing.locks[lock] for lock in sorted(common) if lock in failing.locks]
    if not names:
        return ""
    return f"look at {left.access.name} when {names[0]} is held, and keep it until {right.access.name} is changed"


def _act_on(look: Access, conflict: Conflict) -> Access | None:
    """What a thread changes in the same call once it goes on, without a second look; None if it changes nothing."""
    if not look.reads or not checks(look):
        return None
    act = next((one for one in conflict.after if one.changes and in_one_call(one, look)), None)
    if act is None or one_thing(act, look):
        return None
    own = (one for one in (*conflict.before, *conflict.after) if look.number < one.number < act.number)
    return None if any(one.touches(look) for one in own) else act


def _rests_on(change: Access, look: Access) -> bool:
    """Whether a thread makes a change in the same call after a look that decides something."""
    same = look.thread == change.thread and look.number < change.number and in_one_call(look, change)
    return same and look.reads and checks(look)
