"""A check that a thread makes before it takes a lock, where what it then does under that lock rests on it.

``if self.closed: raise Closed`` and then ``with self.lock: self.items.append(item)``: another thread closes and takes
all items under the lock in between. The isolated switch shows only that the check came before the change; the wait for
the lock parts it from the act.

Rules of this module:

* The order of the check and of a change that makes it untrue is proved. The check itself is not under the lock.
* The act is a change of something else under the lock of that change, further down in the function that checked. The
  function that changed what was checked touches that, too, under this lock, and before: it did not see the act.
"""

from __future__ import annotations

from replay_dd.schedules.observed.observation import Access, Observation
from replay_dd.schedules.story.conflict import Conflict, Edge, checks, comes_down_to, in_one_call
from replay_dd.schedules.story.interrupted_check import makes_untrue
from replay_dd.schedules.story.links import Links


def with_act_under_lock(conflict: Conflict, links: Links, failing: Observation) -> Conflict:
    """The conflict of such a check and its act, where only the order of two accesses is known; else as it was.

    Args:
        conflict: what the threads did; the kind is nothing more than an order.
        links: what was tried of it.
        failing: all that the failing run accessed.
    """
    for link in links.tried:
        look, change = link.first, link.second
        guards = set(change.held) - set(look.held)
        if link.proved and guards and checks(look) and makes_untrue(change, look):
            found = _act_of(look, change, guards, failing)
            if found is not None:
                return found
    return conflict


def _act_of(look: Access, change: Access, guards: set[int], failing: Observation) -> Conflict | None:
    own = [one for one in failing.accesses if one.thread == look.thread]
    others = (one for one in failing.accesses if one.thread == change.thread)
    section = [one for one in others if in_one_call(one, change) and guards & set(one.held)]
    later = [one for one in own if one.number > change.number]
    for act in later:
        rests_on_it = comes_down_to(look, act) and act.thing != look.thing
        if not rests_on_it or not act.changes or not guards & set(act.held):
            continue
        unseen = tuple(one for one in section if one.number < act.number and one.touches(act))
        if unseen:
            left, right = Edge(look, (change,), inferred=False), Edge(act, unseen, inferred=False)
            meanwhile = [one for one in failing.accesses if look.number < one.number < act.number]
            stretch = tuple(one for one in meanwhile if one.thread != look.thread)
            before = tuple(one for one in own if one.number < change.number)
            return Conflict(look.thread, left, right, None, stretch, before, tuple(later))
    return None
