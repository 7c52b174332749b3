"""The difference of two schedules as unit deltas, and the mixed schedules between them.

Rules of this module:

* The triggers of both logs are aligned per thread and in order. A pair with the same target at different thread times
  is a *move* of as many unit deltas as there are yield points in between (Choi and Zeller 2002: one unit delta is one
  yield point later or earlier). A pair at the same time with different targets is a *choice*, one delta.
* An unpaired trigger is an *insertion* (only in the failing log) or a *removal* (only in the passing one). Without
  a trigger, the thread runs on until it has to stop: the delta is a move from (or to) that place, again in unit steps,
  so that bisecting it ends at the very yield point where the outcome changes.
* A configuration is a set of unit deltas, stored as intervals, so billions of them cost next to nothing. Applying k
  unit deltas of a move shifts its trigger by k yield points; it does not matter which k.
* Every configuration is a valid schedule (total semantics), so no configuration is inconsistent.
"""

from __future__ import annotations

import bisect
from collections.abc import Sequence
from enum import Enum
from typing import NamedTuple

from replay_dd.dd import IntervalSet
from replay_dd.schedules.model import Log, Switch, Trigger


class Kind(Enum):
    """The kind of a difference."""

    MOVE = "move"
    INSERTION = "insertion"
    REMOVAL = "removal"
    CHOICE = "choice"


class Delta(NamedTuple):
    """One difference between two schedules, of one or more unit deltas.

    Attributes:
        kind: the kind of difference.
        passing: the trigger of the passing schedule, None for an insertion.
        failing: the trigger of the failing schedule, None for a removal.
        natural_time: for an insertion or removal, the thread time at which the thread stops without the trigger.
        start: the number of its first unit delta.
        units: how many unit deltas it has.
    """

    kind: Kind
    passing: Trigger | None
    failing: Trigger | None
    natural_time: int
    start: int
    units: int

    @property
    def interval(self) -> IntervalSet:
        """Its unit deltas."""
        return IntervalSet.range(self.start, self.start + self.units)

    def trigger_with(self, applied: int) -> Trigger | None:
        """The trigger with this many unit deltas applied; 0 is the passing side."""
        if applied == 0:
            return self.passing
        if applied == self.units:
            return self.failing
        end = self.failing or self.passing
        assert end is not None
        time_pass = self.natural_time if self.passing is None else self.passing.time
        time_fail = self.natural_time if self.failing is None else self.failing.time
        step = 1 if time_fail > time_pass else -1
        return Trigger(end.thread, time_pass + step * applied, end.to)


class Difference:
    """The difference of a passing and a failing schedule."""

    def __init__(self, common: Sequence[Trigger], deltas: Sequence[Delta]) -> None:
        self.common = tuple(common)
        self.deltas = tuple(deltas)
        self._starts = [delta.start for delta in deltas]
        self._passing = [delta.passing for delta in deltas]
        self._failing = [delta.failing for delta in deltas]

    @property
    def units(self) -> int:
        """The number of unit deltas."""
        return self.deltas[-1].start + self.deltas[-1].units if self.deltas else 0

    @property
    def all(self) -> IntervalSet:
        """The configuration of the failing schedule."""
        return IntervalSet.range(0, self.units)

    def delta_of(self, unit: int) -> Delta:
        """The difference that a unit delta belongs to."""
        return self.deltas[bisect.bisect_right(self._starts, unit) - 1]

    def applied(self, configuration: IntervalSet, delta: Delta) -> int:
        """How many unit deltas of a difference a configuration contains."""
        return (configuration & delta.interval).count

    def triggers(self, configuration: IntervalSet) -> tuple[Trigger, ...]:
        """The mixed schedule of a configuration."""
        if not self.deltas:
            return tuple(sorted(set(self.common)))
        # Most differences are applied entirely or not at all: those are copied in slices. `current` is the difference
        # being assembled, `applied` how many of its unit deltas were seen so far.
        mixed: list[Trigger | None] = list(self.common)
        current = applied = 0
        for start, stop in configuration.intervals:
            first, last = (bisect.bisect_right(self._starts, unit) - 1 for unit in (start, stop - 1))
            if first > current:
                mixed.append(self.deltas[current].trigger_with(applied))
                mixed += self._passing[current + 1 : first]
                current, applied = first, 0
            if last > current:
                mixed.append(self.deltas[current].trigger_with(applied + self._starts[current + 1] - start))
                mixed += self._failing[current + 1 : last]
                current, applied, start = last, 0, self._starts[last]
            applied += stop - start
        mixed.append(self.deltas[current].trigger_with(applied))
        mixed += self._passing[current + 1 :]
        # Deduplicate in order, not with a set: sorting a nearly sorted list is fast.
        return tuple(sorted(dict.fromkeys(trigger for trigger in mixed if trigger is not None)))


def difference_of(passing: Log, failing: Log, *, whole: bool = False) -> Difference:
    """The difference of two logs of the same program.

    Args:
        passing: the log of the run that passed.
        failing: the log of the run that failed.
        whole: count each difference as a single unit delta.

    Returns:
        The difference; its unit deltas are numbered from 0.

    Order: preemptions come first, latest to earliest, then forced choices, likewise. Neighbours in the run are thus
    neighbours in a configuration, and where the failure needs several differences together, dd ends at the first of
    them: the last preemption that the failure needs, which is where the race is, rather than an earlier one that
    only sets it up.
    """
    common: list[Trigger] = []
    found: list[tuple[tuple[bool, int], Kind, Trigger | None, Trigger | None, int, int]] = []
    order = _order(passing, failing)
    passing_of, failing_of = _by_thread(passing.triggers), _by_thread(failing.triggers)
    for thread in dict.fromkeys([*failing_of, *passing_of]):
        pairs = _align(passing_of.get(thread, []), failing_of.get(thread, []))
        for before, after in pairs:
            if before == after:
                common.append(before or after)  # type: ignore[arg-type]  # a pair has at least one side
                continue
            kind, natural, units = _measure(before, after, passing, failing)
            if whole:
                units = 1
            rank = order[after or before]  # type: ignore[index]  # a pair has at least one side
            found.append((rank, kind, before, after, natural, units))
    deltas: list[Delta] = []
    start = 0
    for _, kind, before, after, natural, units in sorted(found, key=lambda item: item[0]):
        deltas.append(Delta(kind, before, after, natural, start, units))
        start += units
    return Difference(common, deltas)


def _order(passing: Log, failing: Log) -> dict[Trigger, tuple[bool, int]]:
    """The rank of each trigger: preemptions before forced choices, later ones before earlier ones."""
    return {
        switch.trigger: (switch.forced, -switch.global_time) for log in (passing, failing) for switch in log.switches
    }


def _by_thread(triggers: Sequence[Trigger]) -> dict[str, list[Trigger]]:
    result: dict[str, list[Trigger]] = {}
    for trigger in triggers:
        result.setdefault(trigger.thread, []).append(trigger)
    for own in result.values():
        own.sort()
    return result


def _align(before: list[Trigger], after: list[Trigger]) -> list[tuple[Trigger | None, Trigger | None]]:
    """Pair the triggers of one thread in order: equal ones first, then those in between with the same target."""
    pairs: list[tuple[Trigger | None, Trigger | None]] = []
    in_both = set(before) & set(after)
    i = j = 0
    while i < len(before) or j < len(after):
        gap_before, gap_after = [], []
        while i < len(before) and before[i] not in in_both:
            gap_before.append(before[i])
            i += 1
        while j < len(after) and after[j] not in in_both:
            gap_after.append(after[j])
            j += 1
        pairs.extend(_align_gap(gap_before, gap_after))
        if i < len(before):
            pairs.append((before[i], after[j]))
            i, j = i + 1, j + 1
    return pairs


def _align_gap(before: list[Trigger], after: list[Trigger]) -> list[tuple[Trigger | None, Trigger | None]]:
    pairs: list[tuple[Trigger | None, Trigger | None]] = []
    i = j = 0
    while i < len(before) and j < len(after):
        if before[i].to == after[j].to or before[i].time == after[j].time:
            pairs.append((before[i], after[j]))
            i, j = i + 1, j + 1
        elif len(before) - i > len(after) - j:
            pairs.append((before[i], None))
            i += 1
        else:
            pairs.append((None, after[j]))
            j += 1
    pairs.extend((trigger, None) for trigger in before[i:])
    pairs.extend((None, trigger) for trigger in after[j:])
    return pairs


def _measure(before: Trigger | None, after: Trigger | None, passing: Log, failing: Log) -> tuple[Kind, int, int]:
    """(kind, natural time, unit deltas) of a pair that differs."""
    if before is not None and after is not None:
        if before.time == after.time:
            return Kind.CHOICE, after.time, 1
        return Kind.MOVE, after.time, abs(after.time - before.time)
    if after is not None:
        natural = _natural_time(after, passing.switches)
        return Kind.INSERTION, natural, max(1, natural - after.time)
    assert before is not None
    natural = _natural_time(before, failing.switches)
    return Kind.REMOVAL, natural, max(1, natural - before.time)


def _natural_time(trigger: Trigger, switches: Sequence[Switch]) -> int:
    """The thread time at which the thread next yields the baton in a run without this trigger."""
    times = (switch.time for switch in switches if switch.thread == trigger.thread and switch.time >= trigger.time)
    return min(times, default=trigger.time)
