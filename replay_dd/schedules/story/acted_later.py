"""Two whole changes by one thread, and another thread that looks in between and acts on that only afterwards.

A worker asks which job is due next, sleeps until then and takes the first one, while others add jobs. The edges of the
failing range may show two jobs that one thread adds, and the look in between. That is no update in two steps: each is
whole, and what is wrong is that the worker acts on a look that others have made outdated.

Rules of this module:

* Two changes are whole each if they are separate sections under one lock, or are made by two calls of one function.
* Who looked in between changes the same thing itself after the second of them, does not look again before that, and
  gives back its lock in between, if it has one.
* What it changes further up in the function that looked belongs to a later call, and does not rest on that look.
"""

from __future__ import annotations

from replay_dd.schedules.observed.observation import Access, Observation
from replay_dd.schedules.story.conflict import Conflict, Edge, checks, in_one_section, is_further_up, one_thing


def acted_on_later(conflict: Conflict, failing: Observation) -> Conflict | None:
    """The conflict of who looked between two changes, and acts on that after the second; None if nobody does.

    Args:
        conflict: of the thread that makes both changes.
        failing: all that the failing run accessed.
    """
    left, right = conflict.left, conflict.right
    if left is None or right is None or not one_thing(left.access, right.access):
        return None
    if not _are_whole(left.access, right.access, (*conflict.before, *conflict.after)):
        return None
    for look in reversed([one for one in right.others if one.reads and not one.changes]):
        own = [one for one in failing.accesses if one.thread == look.thread]
        after = tuple(one for one in own if one.number > look.number)
        later = (one for one in after if one_thing(one, look) and (one.changes or checks(one)))
        act = next(later, None)
        if act is None or not act.changes or act.number < right.access.number or in_one_section(look, act, own):
            continue
        if is_further_up(act, look):
            continue
        stretch = tuple(
            one for one in failing.accesses if look.number < one.number < act.number and one.thread != look.thread
        )
        others = tuple(one for one in stretch if one.changes and one.conflicts(look) and one_thing(one, act))
        if others:
            before = tuple(one for one in own if one.number <= look.number)
            left, right = (Edge(one, others, inferred=False) for one in (look, act))
            return Conflict(look.thread, left, right, after[0].place, stretch, before, after)
    return None


def _are_whole(first: Access, last: Access, own: tuple[Access, ...]) -> bool:
    common = set(first.held) & set(last.held)
    if common:
        return not in_one_section(first, last, own)
    same = (first.place.path, first.place.function) == (last.place.path, last.place.function)
    return same and first.stack[1:] != last.stack[1:]
