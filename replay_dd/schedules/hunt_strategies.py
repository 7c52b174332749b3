"""The random strategies of a hunt, in turn.

Rules of this module:

* Programs that are short enough to be asked at each yield point get orders that are drawn evenly (``uniform``): of all
  conflicting events, or of those on one thing, which takes fewer runs where the others do not matter. Walks that switch
  nearly everywhere come in between, since conflicts are guessed; fixed orders let each thread run until it waits.
* Long programs get strategies that switch a few times only.
* What conflicts is learnt from the runs of the hunt, in their order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from replay_dd.schedules.likely_preemptions import Touch, conflict_points, conflicting_events
from replay_dd.schedules.runtime.splitmix import Generator
from replay_dd.schedules.target import Plan, TargetRun

MOST_YIELD_POINTS = 50_000  # of a run with a question at each of them: that takes some microseconds each
_LONGEST_SHARE = 4  # a random walk stays with a thread for at most this part of the run, on average
_FEW_EVENTS = 12  # of so few, all orders are soon met; those on one thing would leave out what needs two

# Strategy; its number of preemptions, its depth or its longest distance; whether it switches at conflicts only.
_LONG = (
    ("latest_first", 0, False),
    ("at_once", 0, False),
    ("random", 0, False),
    ("random", 0, True),
    ("pct", 2, True),
    ("bounded", 2, False),
    ("random", 0, True),
    ("pct", 4, True),
    ("random", 0, False),
    ("random", 0, True),
    ("pct", 2, False),
    ("bounded", 3, True),
    ("random", 0, True),
    ("pct", 3, False),
)
_SHORT = (
    ("uniform", 0, True),
    ("uniform", 1, True),
    ("uniform", 0, True),
    ("latest_first", 0, False),
    ("random", 2, False),
    ("uniform", 1, True),
    ("at_once", 0, False),
    ("uniform", 0, True),
    ("uniform", 1, True),
    ("pct", 3, False),
    ("uniform", 0, True),
    ("random", 2, False),
    ("uniform", 1, True),
    ("random", 0, False),
    ("uniform", 0, True),
    ("bounded", 2, False),
    ("uniform", 1, True),
    ("random", 0, True),
)
_FIXED = ("latest_first", "at_once")


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
        self._table = _SHORT if first.log.ending.global_time <= MOST_YIELD_POINTS else _LONG

    @property
    def short(self) -> bool:
        """Whether the program is short enough to be asked at each yield point."""
        return self._table is _SHORT

    def learn(self, touches: Sequence[Touch]) -> None:
        """Take what the threads touched in a run."""
        in_this_run: list[_Conflict] = []
        for places, threads in conflicting_events(touches).items():
            in_this_run = _merged(in_this_run, _Conflict(frozenset(places), threads), add=True)
        for conflict in in_this_run:
            self._conflicts = _merged(self._conflicts, conflict, add=False)

    def plan(self, turn: int, seed: int) -> Plan:
        """The plan of a turn, which count from 0."""
        strategy, amount, at_conflicts = self._table[turn % len(self._table)]
        if strategy in _FIXED:
            if turn < len(self._table):
                return Plan("profile", {strategy: 1}, label=f"threads in order, {strategy.replace('_', ' ')}")
            strategy, amount, at_conflicts = "random", 0, True
        if strategy == "uniform":
            return self._uniform(seed, one_thing=bool(amount))
        return random_plan(strategy, amount, seed, self._first, self._points if at_conflicts else {})

    def _uniform(self, seed: int, *, one_thing: bool) -> Plan:
        chosen = self._conflicts
        if one_thing and sum(sum(one.events.values()) for one in chosen) > _FEW_EVENTS:
            chosen = [chosen[Generator(seed).below(len(chosen))]]
        if not chosen:
            return Plan("uniform", {"seed": seed}, self._first.log.ending.thread_times)
        events: dict[str, int] = {}
        for one in chosen:
            for thread, count in one.events.items():
                events[thread] = events.get(thread, 0) + count
        return Plan(
            "uniform", {"seed": seed}, events, places=tuple(sorted({place for one in chosen for place in one.places}))
        )


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
