"""The ranges of positions in which a guilty switch makes the run fail."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

import pytest

from replay_dd.schedules.isolating import failing_range
from replay_dd.schedules.isolating.failing_range import (
    ALL_UP_TO,
    NEAREST,
    FailingRanges,
    find_failing_ranges,
    interesting_times,
)
from replay_dd.schedules.model import Log, Place, Switch, Trigger, UncaughtException
from replay_dd.schedules.observed.executed import Executed
from tests.schedules.logs import FAILED
from tests.schedules.simulated import SimulatedRunner, isolated


def switch(thread: str, time: int, *, forced: bool = False) -> Switch:
    return Switch(thread, time, "0.2" if thread == "0.1" else "0.1", forced, False, None, time, time)


def ranges_of(
    runner: SimulatedRunner,
    *before: Trigger,
    guilty: Switch,
    last: int | None = None,
    jobs: int = 1,
    interesting: Iterable[int] = (),
) -> FailingRanges:
    failing = runner.log(tuple(sorted((*before, guilty.trigger))))
    tests, runs = isolated(runner, failing)
    return find_failing_ranges(
        *(tests, runs, failing, guilty),
        last_time=guilty.time if last is None else last,
        interesting=interesting,
        jobs=jobs,
    )


def times(found: FailingRanges) -> list[tuple[int, int]]:
    return [(one.first.time, one.last.time) for one in found.ranges]


def fails_at(inside: Callable[[int], bool]) -> SimulatedRunner:
    """A program that fails if thread 0.1 is preempted at one of these yield points."""
    return SimulatedRunner(
        lambda triggers: any(one.thread == "0.1" and inside(one.time) and one.to == "0.2" for one in triggers)
    )


@pytest.mark.parametrize("jobs", [1, 3])
@pytest.mark.parametrize(("first", "last"), [(5, 9), (8, 9), (9, 9), (500, 900)])
def test_both_edges_are_found(first: int, last: int, jobs: int) -> None:
    runner = fails_at(lambda time: first <= time <= last)
    found = ranges_of(runner, guilty=switch("0.1", last), last=last + 50, jobs=jobs)
    assert times(found) == [(first, last)]
    (only,) = found.ranges
    assert (only.first.thread, only.first.to, only.positions) == ("0.1", "0.2", last - first + 1)
    assert only.sought
    assert only.guilty
    assert found.guilty is only
    assert only.passing is not None
    assert found.tests == len(set(runner.schedules))
    assert found.tests < 40


def test_separate_ranges_stay_separate() -> None:
    """One range from 14 to 873 would hide that 845 to 863 pass."""
    runner = fails_at(lambda time: 14 <= time <= 842 or 864 <= time <= 873)
    found = ranges_of(runner, guilty=switch("0.1", 873), last=900, interesting=[864, 843])
    assert times(found) == [(14, 842), (864, 873)]
    assert [one.guilty for one in found.ranges] == [False, True]
    assert found.positions == 900
    assert found.tried < 60


def test_the_edges_of_other_ranges_are_looked_for_only_while_there_is_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(failing_range, "OTHER_EDGES_S", 0.0)
    runner = fails_at(lambda time: 140 <= time <= 420 or 664 <= time <= 773)
    found = ranges_of(runner, guilty=switch("0.1", 750), last=900)
    other, guilty = found.ranges
    assert (guilty.first.time, guilty.last.time) == (664, 773)
    assert (other.first.time, other.last.time) == (200, 400), "as near as they were tried"


def test_ranges_before_and_after_the_guilty_switch_are_found() -> None:
    runner = fails_at(lambda time: time in (3, 4, 7, 8, 11))
    found = ranges_of(runner, guilty=switch("0.1", 7), last=ALL_UP_TO)
    assert times(found) == [(3, 4), (7, 8), (11, 11)]
    assert found.tried == ALL_UP_TO
    second = found.ranges[1]
    assert second.passing is not None
    assert second.passing.triggers == (Trigger("0.1", 9, "0.2"),), "the nearest later one that passes"
    assert found.ranges[2].passing is not None
    assert found.ranges[2].passing.triggers == (Trigger("0.1", 12, "0.2"),)


def test_positions_that_fail_in_different_ways_are_different_ranges() -> None:
    other = replace(FAILED, exceptions=(UncaughtException("main", "KeyError", "other", ()),))

    class Runner(SimulatedRunner):
        def log(self, triggers: tuple[Trigger, ...]) -> Log:
            log = super().log(triggers)
            late = any(one.time > 6 for one in triggers)
            return replace(log, ending=other) if late and log.ending == FAILED else log

    found = ranges_of(Runner(lambda triggers: 4 <= triggers[0].time <= 8), guilty=switch("0.1", 6), last=10)
    assert times(found) == [(4, 6), (7, 8)]
    assert [one.sought for one in found.ranges] == [True, False]
    assert "KeyError" in found.ranges[1].failure


def test_the_range_may_be_the_whole_turn() -> None:
    found = ranges_of(fails_at(lambda time: True), guilty=switch("0.1", 40))
    assert times(found) == [(1, 40)]
    assert found.ranges[0].passing is None


def test_the_turn_begins_after_the_thread_was_switched_to_last() -> None:
    """Its own earlier switch bounds the turn; those of other threads do not."""
    runner = fails_at(lambda time: 3 <= time <= 90)
    found = ranges_of(runner, Trigger("0.1", 20, "0.3"), Trigger("0.2", 70, "0.1"), guilty=switch("0.1", 90))
    assert times(found) == [(21, 90)]
    assert all(Trigger("0.1", 20, "0.3") in schedule for schedule in runner.schedules), "the other switches stay"


def test_a_switch_without_other_positions_has_no_range() -> None:
    runner = fails_at(lambda time: True)
    assert not ranges_of(runner, guilty=switch("0.1", 9, forced=True)).ranges
    assert not ranges_of(runner, guilty=switch("0.1", 1)).ranges
    assert not ranges_of(runner, Trigger("0.1", 8, "0.3"), guilty=switch("0.1", 9)).ranges
    assert not runner.schedules, "nothing had to be run"


def test_a_position_where_the_switch_was_skipped_is_in_no_range() -> None:
    runner = SimulatedRunner(lambda triggers: bool(triggers), skips=lambda trigger: trigger.time < 7)
    assert times(ranges_of(runner, guilty=switch("0.1", 9))) == [(7, 9)]


def executed(thread_time: int, line: int, instruction: str) -> Executed:
    place = Place("cache.py", "/cache.py", line, 1, "get", instruction, gil_reachable=True)
    return Executed("0.1", thread_time, thread_time, place, 1, thread_time, "", True, True)


def test_what_a_loop_did_last_before_the_switch_is_tried_first() -> None:
    """Of a hundred rounds, the runs that pass are those with the switch between two of them: far from all others."""
    rounds = [
        executed(number, line, instruction)
        for start in range(0, 500, 5)
        for number, (line, instruction) in enumerate(
            [(5, "CONTAINS_OP"), (6, "CALL"), (6, "CALL"), (7, "STORE_ATTR"), (8, "STORE_SUBSCR")], start
        )
    ]
    times = interesting_times(rounds, guilty=478)
    assert times[:4] == [476, 475, 474, 473]
    assert len(times[:NEAREST]) == len(set(times[:NEAREST]))
    assert {3, 4} <= set(times)


def test_a_passing_stretch_between_rounds_ends_the_range() -> None:
    runner = fails_at(lambda time: time % 100 >= 4)
    rounds = [
        executed(start + step, line, instruction)
        for start in range(0, 1000, 100)
        for step, (line, instruction) in enumerate([(5, "CONTAINS_OP"), (6, "CALL"), (7, "STORE_ATTR")], 2)
    ]
    found = ranges_of(runner, guilty=switch("0.1", 850), last=880, interesting=interesting_times(rounds, 850))
    guilty = found.guilty
    assert guilty is not None
    assert guilty.first.time == 804
