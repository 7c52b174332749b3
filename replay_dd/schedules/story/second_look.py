"""Whether a thread looks before it has a lock, and then acts under that lock without looking again.

Double-checked locking without its second check: the lock lets the threads act one after the other, and they all act.
So it is with a look under the lock in a section of its own: what it found need not be there in the next section.
"""

from __future__ import annotations

from replay_dd.schedules.observed.observation import Observation
from replay_dd.schedules.story import kinds
from replay_dd.schedules.story.conflict import Conflict, checks, in_one_section, one_thing
from replay_dd.schedules.story.edges import takes_out


def help_of_second_look(kind: str, conflict: Conflict, failing: Observation) -> str:
    """What would help; empty if it is nothing like that.

    Args:
        kind: of the story.
        conflict: what the threads did in the failing run.
        failing: what the failing run accessed, and the names of the locks.
    """
    left, right = conflict.left, conflict.right
    if kind != kinds.CHECK_THEN_ACT or left is None or right is None or not one_thing(left.access, right.access):
        return ""
    looks, acts = left.access, right.access
    changes = [other for other in right.others if other.writes]
    if not (checks(looks) or takes_out(acts)) or not acts.writes or not changes:
        return ""
    own = [one for one in failing.accesses if one.thread == looks.thread]
    common = set(acts.held).intersection(*(change.held for change in changes))
    taken_between = common - set(looks.held)
    if not taken_between and in_one_section(looks, acts, own):
        return ""
    names = [failing.locks[lock] for lock in sorted(taken_between or common) if lock in failing.locks]
    if not names:
        return ""
    since = "while the thread waited for the lock" if taken_between else "since the thread gave it back"
    return f"look at {looks.name} once more when {names[0]} is held: it may have changed {since}"
