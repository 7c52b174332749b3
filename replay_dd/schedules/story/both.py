"""What a thread had done when another one came too early: the same look, the first step of a change, a call.

The edges of a failing range show one access of a thread, and the look of another one before it. That is an order; what
is wrong with it shows in what the thread did before: it may have looked itself and found the same, so that both go on;
or it has done already what it then only notes.

Rules of this module:

* The same look is one at the same line that found the same, and nothing was changed by any thread in between. That
  nothing was there is tested by the exception, too, as in ``try: return self._value``.
* Two calls of an installed package overlap if one has not come back when the other one touches the same thing, and no
  lock is common to both. A package that is made for threads keeps them apart.
* The first step is where the failing range begins: a switch before it was tried, and passes.
* To add to a container and to take from it further down in one function is one change in two steps. Who goes through it
  or counts it in between sees what is in it at no other time.
"""

from __future__ import annotations

from collections.abc import Sequence

from replay_dd.schedules.isolating.answer import GuiltySwitch
from replay_dd.schedules.isolating.failing_range import FailingRange
from replay_dd.schedules.observed.observation import Access, Observation
from replay_dd.schedules.story.conflict import Conflict, Edge, checks, one_thing
from replay_dd.schedules.story.edges import adds, misses, takes_out
from replay_dd.schedules.story.story import called_at, own_call

_LOOKS = ("reads", "checks", "calls")


def with_own_check(conflict: Conflict, failing: Observation) -> Conflict:
    """A conflict of a thread that changes something, after another's look at it, with its own look that found the same.

    Args:
        conflict: what the threads did; the interrupted one had to come first.
        failing: all that the failing run accessed.
    """
    right = conflict.right
    if right is None or not _acts(right.access) or conflict.never:
        return conflict
    for look in reversed([one for one in right.others if one.does in _LOOKS and _decides(one, right.others)]):
        own = [one for one in failing.accesses if one.thread == conflict.thread and one.touches(look)]
        before = [one for one in own if one.number < right.access.number]
        changed = max((one.number for one in before if one.changes), default=-1)
        looked = next(
            (one for one in reversed(before) if one.number > changed and _same_look(one, look, right.access)), None
        )
        if looked is not None and _is_changed_between(failing, looked, look):
            continue  # what it found had been there, gone and come back
        if looked is not None and not (right.access.does == "stores" and looked.old.same(right.access.new)):
            return conflict._replace(left=None, right=Edge(right.access, (look,), inferred=False), looked=looked)
    return conflict


def with_first_step(conflict: Conflict, guilty: GuiltySwitch, failing_range: FailingRange | None) -> Conflict:
    """A conflict of a thread that stores, after the look of another one, with what it must have done before that.

    Args:
        conflict: what the threads did; the interrupted one had to come first.
        guilty: the isolated switch.
        failing_range: the range in which it fails, if it has one.
    """
    right, passing = conflict.right, guilty.passing
    if right is None or conflict.left is not None or conflict.looked is not None or failing_range is None:
        return conflict
    place = None if passing is None else passing.place
    if place is None or passing is None or failing_range.begins_turn or conflict.thread != guilty.failing.thread:
        return conflict
    if (passing.thread, passing.time) != (conflict.thread, failing_range.first.time - 1):
        return conflict
    here = right.access.place
    same = (place.path, place.function) == (here.path, here.function) and place.line < here.line
    looked = right.access.does == "stores" and any(checks(one) for one in right.others)
    return conflict._replace(since=place) if same and looked else conflict


def with_first_half(conflict: Conflict) -> Conflict:
    """A conflict of a thread that takes something from a container, with what it has added there in the same change.

    Args:
        conflict: what the threads did; the interrupted one had to come first.
    """
    right = conflict.right
    if right is None or conflict.left is not None or conflict.looked is not None or conflict.since is not None:
        return conflict
    last = right.access
    before = [one for one in conflict.before if one.writes and one_thing(one, last)]
    if not before or last.thing[0] != "whole" or any(one.writes for one in right.others):
        return conflict
    first, here = before[-1], last.place
    same = (first.place.path, first.place.function) == (here.path, here.function) and first.place.line < here.line
    if not same or not adds(first) or not takes_out(last):
        return conflict
    return conflict._replace(left=Edge(first, right.others, inferred=False))


def with_stale_check(conflict: Conflict, *, of_same: bool = False) -> Conflict:
    """A conflict of a thread that stores after others, with its check of what they have changed meanwhile.

    ``if number == self.newest: self.shown = answer`` checks one thing, and stores another.

    Args:
        conflict: what the threads did; the interrupted one stores after the others.
        of_same: only a check of the very thing that it stores counts, as nothing else proves that they belong together.
    """
    right = conflict.right
    if right is None or conflict.left is not None or right.access.does != "stores" or conflict.never:
        return conflict
    if conflict.inside is not None or conflict.since is not None or conflict.looked is not None:
        return conflict
    here = right.access.place
    for look in reversed(conflict.before):
        same = (look.place.path, look.place.function) == (here.path, here.function) and look.place.line < here.line
        changed = tuple(one for one in conflict.stretch if one.writes and one.touches(look))
        belongs = not of_same or look.thing == right.access.thing
        if same and belongs and checks(look) and look.does == "reads" and changed:
            return conflict._replace(left=Edge(look, changed, inferred=False))
    return conflict


def with_overlapping_calls(conflict: Conflict, guilty: GuiltySwitch, failing: Observation) -> Conflict:
    """A conflict inside of an installed package, with the call that its thread was stopped in; else as it was.

    Args:
        conflict: what the threads did; the kind is nothing more than an order.
        guilty: the isolated switch.
        failing: all that the failing run accessed.
    """
    if conflict.thread != guilty.failing.thread:
        return conflict
    for edge in (conflict.left, conflict.right):
        for one in () if edge is None else (edge.access, *edge.others):
            if called_at(one) is None:
                return conflict
        if edge is not None and any(set(edge.access.held) & set(other.held) for other in edge.others):
            return conflict
    stack = failing.switch_stacks.get((conflict.thread, guilty.failing.time), ())
    return conflict._replace(inside=own_call(stack))


def _acts(access: Access) -> bool:
    """Whether it is a change that a look before it may have decided on."""
    changes = access.does in ("stores", "deletes") or (access.does == "calls" and (adds(access) or takes_out(access)))
    return changes and not access.in_vain


def _decides(look: Access, others: Sequence[Access]) -> bool:
    """Whether a look is a test, or has raised an exception, after which its thread stores what it has made itself."""
    then = next((one for one in others if one.thread == look.thread and one.number > look.number), None)
    return checks(look) or (then is not None and then.thing == look.thing and misses(look, then))


def _same_look(own: Access, look: Access, act: Access) -> bool:
    here, there = own.place, look.place
    same_line = (here.path, here.line, here.function) == (there.path, there.line, there.function)
    return (
        same_line and _decides(own, (act,)) and own.thing == look.thing and own.old.is_known and own.old.same(look.old)
    )


def _is_changed_between(failing: Observation, one: Access, other: Access) -> bool:
    first, last = sorted((one.number, other.number))
    changed = (between for between in failing.accesses if between.changes and between.touches(one))
    return any(first < between.number < last for between in changed)
