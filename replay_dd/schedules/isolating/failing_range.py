"""The failing ranges of a guilty switch: where else in its thread's turn the same switch makes the run fail.

The isolation ends at one edge: a switch here fails, one step further it passes. Where a range begins and ends shows
what a reader needs: the two accesses that must not be separated.

Rules of this module:

* One range is never assumed. The same switch is tried at positions all over the turn, and an edge is looked for between
  neighbours that ended differently. What lies between neighbours that ended alike was not tried.
* Positions that fail in different ways belong to different ranges, even next to each other.
* A position where the switch could not be made is in no range.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from time import monotonic
from typing import NamedTuple

from replay_dd.experiment.process import LIVE
from replay_dd.experiment.testing import Tests
from replay_dd.experiment.waiting import result_of
from replay_dd.outcome import Outcome
from replay_dd.schedules.isolating.circumstance import ScheduleRunner, ShiftedPreemption
from replay_dd.schedules.model import Log, Switch
from replay_dd.schedules.observed.executed import Executed

EVENLY = 8  # how many positions are tried at equal distances
INTERESTING = 20  # and how many where the thread changes something, or comes to another line
ALL_UP_TO = 16  # turns of so many positions are tried entirely
NEAREST = 8  # of these, how many of what the thread did last before the guilty switch
OTHER_EDGES_S = 20.0  # after so many seconds, only the edges of the guilty switch's own range are still looked for


class FailingRange(NamedTuple):
    """A stretch of a thread's turn in which a switch to another thread makes the run fail.

    Attributes:
        first: the earliest such switch.
        last: the latest such switch.
        failure: how these runs end; that of the run with the latest switch.
        sought: whether that is the failure that was sought.
        guilty: whether the isolated switch is in this range.
        failing: the run with the latest switch.
        passing: the run with the nearest later switch that passes, or else with the nearest earlier one; None if no
            position of the turn passes.
        begins_turn: whether the turn of the thread begins with it, so that no instruction has to come before.
    """

    first: Switch
    last: Switch
    failure: str
    sought: bool
    guilty: bool
    failing: Log
    passing: Log | None
    begins_turn: bool = False

    @property
    def positions(self) -> int:
        """How many yield points are in the range."""
        return self.last.time - self.first.time + 1


class FailingRanges(NamedTuple):
    """All ranges found, in the order of the turn.

    Attributes:
        ranges: the ranges.
        tried: the number of positions tried.
        positions: the number of positions in the turn.
        tests: the number of runs that this took.
    """

    ranges: tuple[FailingRange, ...]
    tried: int
    positions: int
    tests: int

    @property
    def guilty(self) -> FailingRange | None:
        """The range of the isolated switch."""
        return next((found for found in self.ranges if found.guilty), None)


NO_RANGES = FailingRanges((), 0, 0, 0)


def find_failing_ranges(
    tests: Tests[Log],
    runs: ScheduleRunner,
    failing: Log,
    switch: Switch,
    *,
    last_time: int,
    interesting: Iterable[int] = (),
    jobs: int,
    is_late: Callable[[], bool] = lambda: False,
) -> FailingRanges:
    """Try the isolated switch at other times of the thread's turn.

    Args:
        tests: the runs of the isolation so far.
        runs: runs the schedules.
        failing: the final failing run.
        switch: its guilty switch.
        last_time: the latest thread time to try: the thread's turn ends there.
        interesting: thread times to try before others, the most interesting first.
        jobs: the number of parallel runs.
        is_late: whether the time is over: then the edges stay as near as they are.

    Raises:
        KeyboardInterrupt: Ctrl-C.

    Returns:
        The ranges; none if the switch is forced, or its turn has no other positions.
    """
    if switch.forced:
        return NO_RANGES
    earlier = [other.time for other in failing.switches if other.thread == switch.thread and other.time < switch.time]
    first_time = max(earlier, default=0) + 1
    last_time = max(last_time, switch.time)
    if first_time >= last_time:
        return NO_RANGES
    positions = _Positions(tests, ShiftedPreemption(runs, failing, switch, first_time, last_time), jobs)
    positions.try_at(_samples(first_time, last_time, switch.time, interesting))
    ends_at = monotonic() + OTHER_EDGES_S
    positions.find_edges(is_late, guilty=switch.time)
    positions.find_edges(lambda: is_late() or monotonic() >= ends_at)
    return FailingRanges(
        positions.ranges(switch.time), len(positions.tried), last_time - first_time + 1, positions.tests
    )


def _samples(first: int, last: int, guilty: int, interesting: Iterable[int]) -> list[int]:
    """The times to try, without doubles, in order."""
    if last - first < ALL_UP_TO:
        return list(range(first, last + 1))
    chosen = {first, last, guilty, min(guilty + 1, last), max(guilty - 1, first)}
    chosen.update(first + (last - first) * number // (EVENLY + 1) for number in range(1, EVENLY + 1))
    inside = [time for time in dict.fromkeys(interesting) if first <= time <= last and time not in chosen]
    chosen.update(inside[:INTERESTING])
    return sorted(chosen)


def interesting_times(instructions: Iterable[Executed], guilty: int) -> list[int]:
    """The yield points of a thread at which a switch may matter, the most interesting first.

    Where a thread does the same again and again, the runs that pass are few, and all that is tried far apart may fail.
    So what comes first is what it last did before the guilty time, the nearest first. Then just before something is
    changed, as what was read before is then out of date: the first time at each such place. Then where the thread
    comes to another line: the first time for each line, and the last time.
    """
    near: dict[tuple[str, int, int], int] = {}
    changes: dict[tuple[str, int, int], int] = {}
    first: dict[tuple[str, int], int] = {}
    last: dict[tuple[str, int], int] = {}
    before: tuple[str, int] | None = None
    for one in instructions:
        place = one.place
        line = (place.path, place.line)
        is_change = bool(place.operation) or place.instruction.startswith(("STORE_", "DELETE_"))
        if one.counted and is_change:
            changes.setdefault((*line, place.column), one.time)
        if one.counted and (is_change or line != before) and one.time < guilty:
            near[(*line, place.column)] = one.time
        if one.counted and line != before:
            first.setdefault(line, one.time)
            last[line] = one.time
            before = line
    nearest = sorted(near.values(), reverse=True)[:NEAREST]
    return [*nearest, *sorted(changes.values()), *sorted(first.values()), *sorted(last.values())]


class _Positions:
    """The runs with the switch at different times of the turn."""

    def __init__(self, tests: Tests[Log], times: ShiftedPreemption, jobs: int) -> None:
        self._tests, self._times, self._jobs = tests, times, jobs
        tests.continue_with(times)
        self.tried: dict[int, Hashable] = {}
        self.tests = 0

    def try_at(self, times: list[int]) -> None:
        """Make the runs at these times."""
        known = {time for time in times if self._tests.known(self._times.at(time)) is not None}
        self.tests += len(times) - len(known)
        with ThreadPoolExecutor(self._jobs) as pool:
            futures = [pool.submit(self._tests.of, self._times.at(time)) for time in times]
            try:
                for future in futures:
                    result_of(future)
            except BaseException:
                for future in futures:
                    future.cancel()
                LIVE.kill_all()
                raise
        for time in times:
            self.tried[time] = self._ending(time)

    def _ending(self, time: int) -> Hashable:
        """Equal for times at which the run ends in the same way; None where it does not fail."""
        judgement = self._tests.of(self._times.at(time))[1]
        return judgement.signature if judgement.failed and self.switch_at(time) is not None else None

    def switch_at(self, time: int) -> Switch | None:
        """The switch as the run with it at this thread time really made it; None if it was skipped there."""
        configuration = self._times.at(time)
        wanted = self._times.trigger(configuration)
        run, _ = self._tests.of(configuration)
        return next((found for found in run.switches if found.trigger == wanted), None)

    def find_edges(self, is_late: Callable[[], bool], guilty: int | None = None) -> None:
        """Bisect between neighbours that ended differently until each edge is between two that were tried.

        Args:
            is_late: whether the time is over.
            guilty: a time; given, only the edges of the range that it is in are looked for.
        """
        while (middle := self._between(guilty)) and not is_late():
            self.try_at(middle)

    def _between(self, guilty: int | None) -> list[int]:
        edges = [(one, other) for one, other in pairwise(sorted(self.tried)) if self.tried[one] != self.tried[other]]
        if guilty is not None:
            edges = [
                *[edge for edge in edges if edge[1] <= guilty][-1:],
                *[edge for edge in edges if edge[0] >= guilty][:1],
            ]
        return [(one + other) // 2 for one, other in edges if other - one > 1]

    def ranges(self, guilty: int) -> tuple[FailingRange, ...]:
        """The ranges that the runs so far show."""
        found: list[FailingRange] = []
        stretch: list[int] = []
        for time in [*sorted(self.tried), None]:
            if stretch and (time is None or self.tried[time] != self.tried[stretch[-1]]):
                made = self._range(stretch, guilty)
                if made is not None:
                    found.append(made)
                stretch = []
            if time is not None:
                stretch.append(time)
        return tuple(found)

    def _range(self, stretch: list[int], guilty: int) -> FailingRange | None:
        first, last = self.switch_at(stretch[0]), self.switch_at(stretch[-1])
        if self.tried[stretch[0]] is None or first is None or last is None:
            return None
        failing, judgement = self._tests.of(self._times.at(stretch[-1]))
        sought = judgement.outcome is Outcome.FAIL
        inside = stretch[0] <= guilty <= stretch[-1]
        passing, begins_turn = self._nearest_passing(stretch), stretch[0] == min(self.tried)
        return FailingRange(first, last, judgement.words, sought, inside, failing, passing, begins_turn)

    def _nearest_passing(self, stretch: list[int]) -> Log | None:
        later = [time for time in sorted(self.tried) if time > stretch[-1]]
        earlier = [time for time in sorted(self.tried, reverse=True) if time < stretch[0]]
        for time in (*later, *earlier):
            run, judgement = self._tests.of(self._times.at(time))
            if judgement.outcome is Outcome.PASS:
                return run
        return None
