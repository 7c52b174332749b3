"""The random strategies of a hunt, in turn.

Rules of this module:

* Orders are drawn evenly (``uniform``): of all conflicting events, of those on one thing, which takes fewer runs where
  the others do not matter, or, since conflicts are guessed, of all yield points. Fixed orders let each thread run until
  it waits.
* Where there are few events, no order is run twice, and it is known when all were.
* The first runs of a hunt (:data:`OPENINGS`) need no guess, and many programs fail in them: they bring all threads
  abreast, and one draws a schedule. Later ones do so in other ways, or start all threads and then switch nearly
  everywhere.
* To be asked at each yield point takes seconds in a long program, so orders of its conflicting events take the place of
  such strategies.
* What conflicts is learnt from the runs of the hunt, in their order.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from replay_dd.schedules.likely_preemptions import conflict_points, conflicting_events
from replay_dd.schedules.order_tree import OrderTree
from replay_dd.schedules.runtime.splitmix import Generator
from replay_dd.schedules.target import Plan, TargetRun
from replay_dd.schedules.touches import Touch

_MOST_YIELD_POINTS = 50_000  # of a run with a question at each of them: that takes some 20 microseconds each
_MOST_AT_FIRST = 5_000  # the same for an opening, which comes before cheaper runs
_LONGEST_SHARE = 4  # a random walk stays with a thread for at most this part of the run, on average
_FEW_EVENTS = 12  # of so few, all orders are run one after the other; of more, none is remembered
_LESS_OFTEN = ("pct", "bounded")  # where there are few events

# Strategy; its number of preemptions, its depth or its longest distance; whether it switches at conflicts only.
_TURNS = (
    ("uniform", 0, False),
    ("uniform", 0, True),
    ("pct", 8, True),
    ("latest_first", 0, False),
    ("uniform", 0, False),
    ("pct", 6, True),
    ("abreast", 0, False),
    ("uniform", 0, True),
    ("abreast", 1, False),
    ("random", 4, False),
    ("random", 0, True),
    ("abreast", 3, False),
    ("uniform", 0, True),
    ("uniform", 1, True),
    ("random", 0, False),
    ("uniform", 0, False),
    ("abreast", 2, False),
    ("bounded", 3, True),
    ("abreast", 4, False),
    ("crowd", 0, False),
    ("uniform", 0, True),
    ("random", 2, False),
    ("at_once", 0, False),
    ("uniform", 1, True),
    ("abreast", 3, False),
    ("uniform", 0, False),
    ("pct", 3, False),
    ("uniform", 0, True),
    ("random", 4, False),
    ("uniform", 1, True),
    ("crowd", 0, False),
    ("abreast", 2, False),
    ("uniform", 0, True),
    ("bounded", 2, False),
    ("uniform", 1, True),
    ("random", 0, True),
)
CROWD = "crowd"
ABREAST = "abreast"
VIEWS = "views"


class _Abreast(NamedTuple):
    """How threads come abreast; see ``runtime/strategies/abreast.py``."""

    abreast: int
    stops: int = 0
    latest: bool = False
    uneven: bool = False
    drawn: int = 0

    def plan(self, seed: int = 0) -> Plan:
        where = ("changes", "looks", "accesses")[self.abreast]
        often = f", {self.stops} times" if self.stops else ""
        order = ", the latest first" if self.latest else ""
        pace = ", unevenly" if self.uneven else ""
        drawn = f" (seed {seed})" if self.drawn else ""
        options = {name: int(value) for name, value in self._asdict().items()}
        return Plan(
            "profile", {**options, "seed": seed}, label=f"threads abreast before {where}{often}{order}{pace}{drawn}"
        )


_CHANGES, _LOOKS, _ANY = 0, 1, 2
_DRAWN = Plan("uniform", label="drawn at every yield point")
# The first runs of a hunt: what fails in one is one of the most common bugs.
OPENINGS = (
    Plan("profile", {VIEWS: 0}, label="threads abreast, what others looked at changes first"),
    _Abreast(_CHANGES, latest=True, uneven=True).plan(),
    _DRAWN,
    Plan("profile", {VIEWS: 1}, label="threads abreast, who was overtaken goes last"),
)
_ABREAST = (
    _Abreast(_LOOKS, uneven=True),
    _Abreast(_ANY, 2, latest=True, uneven=True),
    _Abreast(_CHANGES, drawn=50),
    _Abreast(_ANY, drawn=100),
    _Abreast(_ANY, latest=True),  # in step, for as long as they go: threads that make way for each other
)
_ONCE = ("latest_first", "at_once", ABREAST)


def opening(number: int, seed: int, before: TargetRun | None) -> Plan:
    """One of the first plans of a hunt.

    Args:
        number: which of :data:`OPENINGS`.
        seed: the first seed of the hunt.
        before: the run of the one before; None for the first.
    """
    plan = OPENINGS[number]
    if plan is not _DRAWN or before is None:
        return plan
    return replace(_anywhere(seed, before, _MOST_AT_FIRST), label=f"{_DRAWN.label} (seed {seed})")


def is_opening(plan: Plan) -> bool:
    """Whether a plan is one of :data:`OPENINGS`."""
    return plan in OPENINGS or plan.label.startswith(_DRAWN.label)


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
        strategy, amount, at_conflicts = _TURNS[turn % len(_TURNS)]
        if strategy == ABREAST and (_ABREAST[amount].drawn or turn < len(_TURNS)):
            return _ABREAST[amount].plan(seed)
        if strategy == CROWD:
            return Plan("profile", {CROWD: seed}, label=f"random at every yield point (seed {seed})")
        if strategy in _ONCE:
            if turn < len(_TURNS):
                return Plan("profile", {strategy: 1}, label=f"threads in order, {strategy.replace('_', ' ')}")
            strategy, amount, at_conflicts = "random", 0, True
        asks_everywhere = not at_conflicts and (strategy == "uniform" or (strategy == "random" and amount))
        if (self._few and strategy in _LESS_OFTEN) or (self._long and asks_everywhere):
            strategy, amount, at_conflicts = "uniform", 0, True
        if strategy == "uniform":
            return self._uniform(seed, one_thing=bool(amount)) if at_conflicts else _anywhere(seed, self._first)
        return random_plan(strategy, amount, seed, self._first, self._points if at_conflicts else {})

    def _uniform(self, seed: int, *, one_thing: bool) -> Plan:
        chosen = self._conflicts
        first = self._tree.next(Generator(seed)) if chosen and self._few else None
        if not chosen or (self._few and first is None):
            return _anywhere(seed, self._first)
        if one_thing and not self._few:
            chosen = [chosen[Generator(seed).below(len(chosen))]]
        return Plan("uniform", {"seed": seed}, _events_of(chosen), places=_places_of(chosen), first=first)

    @property
    def _few(self) -> bool:
        """Whether there are so few events that all their orders can be run."""
        return sum(_events_of(self._conflicts).values()) <= _FEW_EVENTS


def _anywhere(seed: int, run: TargetRun, most: int = _MOST_YIELD_POINTS) -> Plan:
    """An order of all yield points, drawn evenly, by the threads' lengths in a run; in a long one, few switches."""
    if run.log.ending.global_time > most:
        return random_plan("pct", 3, seed, run, {})
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


def random_plan(strategy: str, amount: int, seed: int, first: TargetRun, points: Mapping[str, tuple[int, ...]]) -> Plan:
    """The plan of a random strategy.

    Args:
        strategy: ``random``, ``pct`` or ``bounded``.
        amount: the number of preemptions, the depth, or the greatest mean distance of a random walk; 0 for one that
            fits the length of the run.
        seed: the random seed.
        first: a run under the default schedule.
        points: where it switches; if empty, anywhere.
    """
    ending = first.log.ending
    if strategy == "random":
        options = {"seed": seed, "longest": amount or max(1, ending.global_time // _LONGEST_SHARE)}
        return Plan("random", options, points=points)
    options = {"seed": seed, "depth" if strategy == "pct" else "preemptions": amount}
    return Plan(strategy, options, ending.thread_times, points)
