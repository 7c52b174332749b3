"""The random strategies of a hunt, in turn.

Rules of this module:

* Kinds of draws take turns, as each finds what others leave. Orders are drawn evenly (``uniform``): of all conflicting
  events, of those on one thing, which takes fewer runs where the others do not matter, or, since conflicts are guessed,
  of all yield points. Partial order sampling follows what each thread is about to touch. Priorities with many changes
  make some threads wait for long, and random walks switch at any distance.
* Where there are few events, no order is run twice, and it is known when all were.
* To be asked at each yield point takes seconds in a long program, so orders of its conflicting events take the place of
  such strategies.
* What conflicts is learnt from the runs of the hunt, in their order.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from enum import Enum
from typing import NamedTuple

from replay_dd.schedules.hunting.likely_preemptions import conflict_points, conflicting_events
from replay_dd.schedules.hunting.order_tree import OrderTree
from replay_dd.schedules.observed.touches import Touch
from replay_dd.schedules.running.target import Plan, TargetRun
from replay_dd.schedules.runtime.splitmix import Generator

_MOST_YIELD_POINTS = 5_000  # of a run with a question at each of them: that takes some 20 microseconds each
_LONGEST_SHARE = 4  # a random walk stays with a thread for at most this part of the run, on average
_FEW_EVENTS = 12  # of so few, all orders are run one after the other; of more, none is remembered


class _Draw(Enum):
    """How a schedule is drawn."""

    UNIFORM = "uniform, of all yield points"
    UNIFORM_AT_CONFLICTS = "uniform, of all conflicting events"
    UNIFORM_AT_ONE_THING = "uniform, of the events on one thing"
    PARTIAL_ORDER = "partial order sampling"
    PRIORITIES = "pct, with many points at conflicts"
    WALK = "random walk"


# In turn. Each finds what others leave; see decision 0078.
_DRAWS = (
    _Draw.UNIFORM_AT_CONFLICTS,
    _Draw.PARTIAL_ORDER,
    _Draw.PRIORITIES,
    _Draw.UNIFORM,
    _Draw.UNIFORM_AT_ONE_THING,
    _Draw.WALK,
)
DEPTH = 12  # of pct
PARTIAL_ORDER = "partial_order"
ABREAST = "abreast"
VIEWS = "views"


_ANY = 1  # see `runtime/strategies/abreast.py`
# For as long as they go: for threads that make way for each other.
IN_STEP = Plan("profile", {ABREAST: _ANY, "latest": 1, "uneven": 0}, label="threads in step")
# Fixed schedules that take the place of a draw, by its number, unless the hunt has made them already.
_FIXED = {
    4: Plan("profile", {"latest_first": 1}, label="threads in order, latest first"),
    13: replace(IN_STEP, label="threads in step after all"),  # a hunt tells its first runs by their labels
}


class _Conflict(NamedTuple):
    """The places at which threads touch the same things, and how many such events each thread has."""

    places: frozenset[int]
    events: Mapping[str, int]


class RandomPlans:
    """The plans of a hunt that draw a schedule.

    Args:
        first: a run under the default schedule, with what its threads touched.
    """

    def __init__(self, first: TargetRun) -> None:
        self._first = first
        self._points = conflict_points(first.touches)
        self._conflicts: list[_Conflict] = []
        self._tree = OrderTree({})
        self._long = first.log.ending.global_time > _MOST_YIELD_POINTS
        self._made: list[Mapping[str, int]] = []

    def leave_out(self, plan: Plan) -> None:
        """Take a plan that was made before, so that it is not made again if it is a fixed one."""
        self._made.append(plan.options)

    def learn(self, touches: Sequence[Touch]) -> None:
        """Take what the threads touched in a run."""
        in_this_run: list[_Conflict] = []
        for places, threads in conflicting_events(touches).items():
            in_this_run = _merged(in_this_run, _Conflict(frozenset(places), threads), add=True)
        before = _places_of(self._conflicts)
        for conflict in in_this_run:
            self._conflicts = _merged(self._conflicts, conflict, add=False)
        if before != _places_of(self._conflicts):
            self._tree = OrderTree(_events_of(self._conflicts))

    def take(self, plan: Plan, run: TargetRun) -> None:
        """Take the run of a plan that reports its draws."""
        if plan.first is not None and plan.places == _places_of(self._conflicts) and run.log.ending.complete:
            self._tree.take(plan.first, run.drawn)

    @property
    def orders(self) -> int:
        """How many orders of all known conflicting events there are, if all were run; otherwise 0."""
        return self._tree.orders if self._tree.exhausted else 0

    def plan(self, turn: int, seed: int) -> Plan:
        """The plan of a turn, which count from 0."""
        if turn in _FIXED and _FIXED[turn].options not in self._made:
            return _FIXED[turn]
        draw = _DRAWS[turn % len(_DRAWS)]
        if draw is _Draw.PARTIAL_ORDER:
            return Plan("profile", {PARTIAL_ORDER: seed}, label=f"partial order sampling (seed {seed})")
        if draw is _Draw.WALK:
            longest = max(1, self._first.log.ending.global_time // _LONGEST_SHARE)
            return Plan("random", {"seed": seed, "longest": longest})
        if (draw is _Draw.PRIORITIES and self._few) or (draw is _Draw.UNIFORM and self._long):
            draw = _Draw.UNIFORM_AT_CONFLICTS
        if draw is _Draw.UNIFORM:
            return anywhere(seed, self._first)
        if draw is _Draw.PRIORITIES:
            return priorities(DEPTH, seed, self._first, self._points)
        return self._uniform(seed, one_thing=draw is _Draw.UNIFORM_AT_ONE_THING)

    def _uniform(self, seed: int, *, one_thing: bool) -> Plan:
        chosen = self._conflicts
        first = self._tree.next(Generator(seed)) if chosen and self._few else None
        if not chosen or (self._few and first is None):
            return anywhere(seed, self._first)
        if one_thing and not self._few:
            chosen = [chosen[Generator(seed).below(len(chosen))]]
        return Plan("uniform", {"seed": seed}, _events_of(chosen), places=_places_of(chosen), first=first)

    @property
    def _few(self) -> bool:
        """Whether there are so few events that all their orders can be run."""
        return sum(_events_of(self._conflicts).values()) <= _FEW_EVENTS


def anywhere(seed: int, run: TargetRun) -> Plan:
    """An order of all yield points, drawn evenly, by the threads' lengths in a run; in a long one, few switches."""
    if run.log.ending.global_time > _MOST_YIELD_POINTS:
        return priorities(3, seed, run, {})
    return Plan("uniform", {"seed": seed}, run.log.ending.thread_times)


def _events_of(conflicts: Iterable[_Conflict]) -> dict[str, int]:
    events: dict[str, int] = {}
    for one in conflicts:
        for thread, count in one.events.items():
            events[thread] = events.get(thread, 0) + count
    return events


def _places_of(conflicts: Iterable[_Conflict]) -> tuple[int, ...]:
    return tuple(sorted({place for one in conflicts for place in one.places}))


def _merged(known: list[_Conflict], new: _Conflict, *, add: bool) -> list[_Conflict]:
    """The conflicts with one more; those that share a place become one, with the sum or the most of their events."""
    others = []
    for one in known:
        if one.places.isdisjoint(new.places):
            others.append(one)
            continue
        events = dict(one.events)
        for thread, count in new.events.items():
            before = events.get(thread, 0)
            events[thread] = before + count if add else max(before, count)
        new = _Conflict(one.places | new.places, events)
    return [*others, new]


def priorities(depth: int, seed: int, run: TargetRun, points: Mapping[str, tuple[int, ...]]) -> Plan:
    """Random priorities that change at some points: of these, or (if there are none) at any yield point of a run."""
    return Plan("pct", {"seed": seed, "depth": depth}, run.log.ending.thread_times, points)
