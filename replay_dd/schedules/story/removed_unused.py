"""What a thread closes or removes as nobody uses it any more, while another thread begins to use it.

A count of users is found to be zero under a lock, the lock is given back, and only then the thing is closed or taken
out of its table. Who gets it in between finds it closed, or misses it. That thread is the victim: the check of the
other one no longer held when it acted on it.

Rules of this module:

* The check finds zero, or an empty container. The act is made further down in the same call, or in what is called
  there, on another thing.
* The victim has made the check untrue in between, and meets the act in what is told of both.
"""

from __future__ import annotations

from collections.abc import Iterator

from replay_dd.schedules.observed.observation import Access, Observation
from replay_dd.schedules.story.conflict import Conflict, Edge, checks, one_thing
from replay_dd.schedules.story.interrupted_check import makes_untrue

_NOBODY = ("0", "[]", "{}", "set()", "deque([])")


def removed_unused(conflict: Conflict, failing: Observation) -> Conflict | None:
    """The conflict of the check that nobody uses a thing, and the act that rests on it; None if there is none.

    Args:
        conflict: what the threads did to each other: the victim, and who acted.
        failing: all that the failing run accessed.
    """
    for act, victim in _acts(conflict):
        own = [one for one in failing.accesses if one.thread == act.thread]
        looks = [one for one in own if one.number < act.number and _finds_nobody(one) and _leads_to(one, act)]
        if not looks or one_thing(looks[-1], act):
            continue
        look = looks[-1]
        between = tuple(
            one for one in failing.accesses if look.number < one.number < act.number and one.thread != act.thread
        )
        changes = tuple(one for one in between if one.thread == victim.thread and makes_untrue(one, look))
        if not changes:
            continue
        before = tuple(one for one in own if one.number <= look.number)
        after = tuple(one for one in own if one.number > look.number)
        left, right = Edge(look, changes, inferred=False), Edge(act, (victim,), inferred=False)
        return Conflict(act.thread, left, right, after[0].place, between, before, after)
    return None


def _acts(conflict: Conflict) -> Iterator[tuple[Access, Access]]:
    """(a change, the access of another thread that meets it)."""
    for edge in conflict.edges:
        for other in edge.others:
            for act, victim in ((other, edge.access), (edge.access, other)):
                if act.changes and act.conflicts(victim):
                    yield act, victim


def _finds_nobody(access: Access) -> bool:
    return checks(access) and access.old.text in _NOBODY


def _leads_to(look: Access, act: Access) -> bool:
    """Whether an act is made further down in the call of a function that looked, or in what that one calls there."""
    callers = look.stack[1:]
    here = act.stack[len(act.stack) - len(callers) - 1] if len(act.stack) > len(callers) else None
    if here is None or act.stack[len(act.stack) - len(callers) :] != callers:
        return False
    return (here.path, here.function) == (look.place.path, look.place.function) and here.line > look.place.line
