"""Whether a switch interrupts a check-then-act: a thread looks, others make that untrue, and it acts all the same.

Rules of this module:

* The look must decide something, or go through a container to find a place there. It must be the last that the thread
  did to the thing before the switch.
* What the thread does to the same thing next must change it. A look that comes before is made anew. The first half of
  an update in one line, such as ``-=``, is no such look: it reads, but decides nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

from replay_dd.schedules.isolating.answer import GuiltySwitch
from replay_dd.schedules.model import Switch
from replay_dd.schedules.observed.observation import Access, Observation
from replay_dd.schedules.story.conflict import Conflict, Edge, checks, find_conflict, in_one_call, one_thing, searches


def interrupted_check(failing: Observation, switch: Switch) -> Conflict | None:
    """The conflict of a check that a switch parts from what the thread does then; None if it does not.

    Args:
        failing: what the failing run accessed.
        switch: a choice of that run.
    """
    found = find_conflict(failing, GuiltySwitch(switch, None), None)
    for look in reversed(found.before):
        if not (checks(look) or searches(look)) or not any(makes_untrue(one, look) for one in found.stretch):
            continue
        own = [one for one in (*found.before, *found.after) if one.number > look.number and one_thing(one, look)]
        act = None if not own or own[0] in found.before else _act(own)
        if act is None:
            return None
        if searches(look) and not (act.does == "stores" and act.thing[0] == "item"):
            return None
        left, right = (
            Edge(one, tuple(other for other in found.stretch if other.conflicts(one)), inferred=False)
            for one in (look, act)
        )
        return found._replace(left=left, right=right) if left.others and right.others else None
    return None


def _act(own: Sequence[Access]) -> Access | None:
    """The change that a thread makes first, if it does not look once more before that."""
    first, *more = own
    if first.changes:
        return first
    updates = bool(more) and first.does == "reads" and not first.tested and more[0].does == "stores"
    return more[0] if updates and _in_one_line(first, more[0]) else None


def _in_one_line(one: Access, other: Access) -> bool:
    return one.place.line == other.place.line and one.thing == other.thing and in_one_call(one, other)


def makes_untrue(change: Access, look: Access) -> bool:
    """Whether a thread would find something else if it looked once more after this change.

    Args:
        change: what another thread does.
        look: the look of the thread.
    """
    if not change.changes or not change.touches(look):
        return False
    if look.does == "checks" and look.thing == change.thing:
        return change.new.is_missing == (look.old.text == "True")
    return look.thing != change.thing or not change.new.same(look.old)
