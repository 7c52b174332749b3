"""The schedules that an experiment is made with: the failing one, its neighbours, and some that are hunted.

Rules of this module:

* They are the same with and without what is tried, in the same order. Neighbours and hunted ones take turns, so that
  there are some of each where time is short.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import zip_longest

from replay_dd.schedules.hunting.plans import HuntPlans
from replay_dd.schedules.isolating.failing_range import FailingRanges
from replay_dd.schedules.model import Log, Switch, Trigger
from replay_dd.schedules.replaying.replay import replay_plan
from replay_dd.schedules.running.target import Plan, TargetRun
from replay_dd.schedules.story.conflict import Conflict

NEIGHBOURS = 24  # positions of the guilty switch that are tried
_BEYOND = 2  # how far from each edge of a failing range they go
_INSIDE = 6  # and how many are inside of it
_IN_STORY = 12  # positions between the two accesses of a story about another choice


def neighbours(failing: Log, switch: Switch, ranges: FailingRanges, conflict: Conflict | None = None) -> Iterator[Plan]:
    """The failing schedule first, then the same with its guilty switch at other positions.

    Where the story is about another choice, that one follows, anywhere between the two accesses that belong together.

    Args:
        failing: the final failing run.
        switch: its guilty switch.
        ranges: where in its turn the switch fails.
        conflict: what the story is about; None if that is not known.
    """
    others = [trigger for trigger in failing.triggers if trigger != switch.trigger]
    plan = replay_plan(failing.triggers, failing.arrivals)
    yield replace(plan, label="the failing schedule")
    for choice, times in _inside(failing, switch, conflict):
        rest = [trigger for trigger in failing.triggers if trigger != choice.trigger]
        for time in times:
            moved = tuple(sorted([*rest, Trigger(choice.thread, time, choice.to)]))
            yield replace(plan, triggers=moved, label=f"the switch of the story at yield point {time}")
    if switch.by_default:
        return
    for time in _positions(switch, ranges):
        moved = tuple(sorted([*others, Trigger(switch.thread, time, switch.to)]))
        yield replace(plan, triggers=moved, label=f"the guilty switch at yield point {time}")


def _inside(failing: Log, switch: Switch, conflict: Conflict | None) -> Iterator[tuple[Switch, list[int]]]:
    """The choices between the two accesses of a story, but the isolated one, and the other times between them."""
    if conflict is None or conflict.left is None or conflict.right is None:
        return
    first, last = conflict.left.access.time + 1, conflict.right.access.time
    for choice in failing.switches:
        here = choice.thread == conflict.thread and first <= choice.time <= last
        if here and choice != switch and not choice.by_default and not choice.forced:
            times = range(first, last + 1, max(1, (last - first) // _IN_STORY))
            yield choice, [time for time in times if time != choice.time]


def _positions(switch: Switch, ranges: FailingRanges) -> list[int]:
    """Thread times in and around the failing ranges, the isolated one left out; those of its own range first."""
    found: dict[int, None] = {}
    for one in sorted(ranges.ranges, key=lambda one: not one.guilty):
        first, last = one.first.time, one.last.time
        for edge in (first, last):
            found.update(dict.fromkeys(range(max(1, edge - _BEYOND), edge + _BEYOND + 1)))
        found.update(dict.fromkeys(range(first, last, max(1, (last - first) // _INSIDE))))
    found.update(dict.fromkeys(range(max(1, switch.time - _BEYOND), switch.time + _BEYOND + 1)))
    return [time for time in found if time != switch.time][:NEIGHBOURS]


def hunted(first: TargetRun, amount: int, seed: int = 0) -> Iterator[Plan]:
    """Schedules as a hunt makes them.

    Args:
        first: a run under the default schedule, with what its threads touched.
        amount: how many.
        seed: the first seed.
    """
    return HuntPlans(first, seed, amount)


def in_turns(near: Iterable[Plan], far: Iterable[Plan]) -> tuple[list[Plan], frozenset[int]]:
    """Schedules of both kinds in turns, the near ones first, and the numbers of those."""
    plans: list[Plan] = []
    numbers: list[int] = []
    for one, other in zip_longest(near, far):
        if one is not None:
            numbers.append(len(plans))
        plans += [plan for plan in (one, other) if plan is not None]
    return plans, frozenset(numbers)
