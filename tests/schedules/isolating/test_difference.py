"""The difference of two schedules as unit deltas, and the schedules in between."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replay_dd.dd import EMPTY, IntervalSet
from replay_dd.schedules.isolating.difference import Delta, Difference, Kind, difference_of
from replay_dd.schedules.model import Log, Switch, Trigger
from tests.schedules.logs import FAILED, PLACE, log_of, schedule

# What is sought in runs, and not what runs do, which depends on the Python.
pytestmark = pytest.mark.once


def kinds(difference: Difference) -> list[tuple[Kind, int]]:
    return [(delta.kind, delta.units) for delta in difference.deltas]


def test_the_same_schedule_has_no_difference() -> None:
    log = schedule(("0", 3, "0.1"), ("0.1", 5, "0"))
    difference = difference_of(log, log)
    assert (difference.units, difference.deltas) == (0, ())
    assert difference.triggers(EMPTY) == log.triggers


@pytest.mark.parametrize("time_pass, time_fail", [(10, 4), (4, 10)])
def test_a_move_is_as_many_unit_deltas_as_yield_points_between(time_pass: int, time_fail: int) -> None:
    difference = difference_of(schedule(("0.1", time_pass, "0.2")), schedule(("0.1", time_fail, "0.2")))
    assert kinds(difference) == [(Kind.MOVE, 6)]
    (delta,) = difference.deltas
    step = 1 if time_fail > time_pass else -1
    assert [delta.trigger_with(k) for k in range(7)] == [Trigger("0.1", time_pass + step * k, "0.2") for k in range(7)]
    assert difference.triggers(IntervalSet.range(0, 2)) == (Trigger("0.1", time_pass + step * 2, "0.2"),)
    # Which of the unit deltas are applied does not matter.
    assert difference.triggers(IntervalSet.range(3, 5)) == difference.triggers(IntervalSet.range(0, 2))


def test_another_target_at_the_same_time_is_one_choice() -> None:
    difference = difference_of(schedule(("0", 5, "0.1")), schedule(("0", 5, "0.2")))
    assert kinds(difference) == [(Kind.CHOICE, 1)]
    assert difference.triggers(EMPTY) == (Trigger("0", 5, "0.1"),)
    assert difference.triggers(difference.all) == (Trigger("0", 5, "0.2"),)


def test_an_insertion_moves_from_where_the_thread_stops_by_itself() -> None:
    passing = schedule(stops=[("0.1", 9, "0.2")])
    failing = schedule(("0.1", 4, "0.2"))
    difference = difference_of(passing, failing)
    assert kinds(difference) == [(Kind.INSERTION, 5)]
    (delta,) = difference.deltas
    assert [trigger and trigger.time for trigger in map(delta.trigger_with, range(6))] == [None, 8, 7, 6, 5, 4]


def test_a_removal_moves_to_where_the_thread_stops_by_itself() -> None:
    difference = difference_of(schedule(("0.1", 4, "0.2")), schedule(stops=[("0.1", 9, "0.2")]))
    assert kinds(difference) == [(Kind.REMOVAL, 5)]
    (delta,) = difference.deltas
    assert [trigger and trigger.time for trigger in map(delta.trigger_with, range(6))] == [4, 5, 6, 7, 8, None]


def test_an_insertion_whose_thread_never_stops_is_one_delta() -> None:
    assert kinds(difference_of(schedule(), schedule(("0.1", 4, "0.2")))) == [(Kind.INSERTION, 1)]


def test_what_is_common_stays_in_every_configuration() -> None:
    passing = schedule(("0", 2, "0.1"), ("0.1", 9, "0"))
    failing = schedule(("0", 2, "0.1"), ("0.1", 5, "0"))
    difference = difference_of(passing, failing)
    assert difference.common == (Trigger("0", 2, "0.1"),)
    for units in range(difference.units + 1):
        assert Trigger("0", 2, "0.1") in difference.triggers(IntervalSet.range(0, units))


def test_threads_are_aligned_each_for_itself() -> None:
    passing = schedule(("0.1", 5, "0"), ("0.2", 7, "0"))
    failing = schedule(("0.1", 8, "0"), ("0.2", 6, "0"))
    assert sorted(delta.units for delta in difference_of(passing, failing).deltas) == [1, 3]


def test_a_whole_difference_is_one_unit_delta_each() -> None:
    passing = schedule(("0.1", 5, "0"), ("0.2", 7, "0"))
    failing = schedule(("0.1", 8, "0"), ("0.2", 60, "0"))
    difference = difference_of(passing, failing, whole=True)
    assert [delta.units for delta in difference.deltas] == [1, 1]
    assert difference.triggers(difference.all) == tuple(sorted(failing.triggers))


def test_the_case_of_the_paper_costs_nothing() -> None:
    """3,842,577,240 unit deltas (Choi and Zeller 2002) are one interval."""
    difference = difference_of(schedule(("0.1", 10, "0")), schedule(("0.1", 3_842_577_250, "0")))
    assert difference.units == 3_842_577_240
    assert len(difference.deltas) == 1
    half = IntervalSet.range(0, difference.units // 2)
    assert difference.triggers(half) == (Trigger("0.1", 10 + difference.units // 2, "0"),)


Triggers = dict[tuple[str, int], str]
_THREADS = st.sampled_from(["0", "0.1", "0.2"])
_TRIGGERS = st.dictionaries(st.tuples(_THREADS, st.integers(1, 40)), _THREADS, max_size=8)
_STOPS = st.lists(st.tuples(_THREADS, st.integers(41, 60)), max_size=2)
_PAIRS = st.tuples(_TRIGGERS, _TRIGGERS, _STOPS)


def logs_of(pair: tuple[Triggers, Triggers, list[tuple[str, int]]]) -> tuple[Log, Log]:
    first, second, stops = pair
    ends = [(thread, time, "0") for thread, time in dict.fromkeys(stops)]
    passing = schedule(*((thread, time, to) for (thread, time), to in first.items()), stops=ends)
    return passing, schedule(*((thread, time, to) for (thread, time), to in second.items()), stops=ends, ending=FAILED)


@given(_PAIRS, st.booleans())
def test_both_ends_are_the_two_schedules(pair, whole: bool) -> None:  # type: ignore[no-untyped-def]
    passing, failing = logs_of(pair)
    difference = difference_of(passing, failing, whole=whole)
    assert difference.triggers(EMPTY) == tuple(sorted(passing.triggers))
    assert difference.triggers(difference.all) == tuple(sorted(failing.triggers))
    assert (difference.units == 0) == (set(passing.triggers) == set(failing.triggers))


@given(_PAIRS)
def test_the_unit_deltas_are_numbered_without_gaps(pair) -> None:  # type: ignore[no-untyped-def]
    passing, failing = logs_of(pair)
    difference = difference_of(passing, failing)
    covered = EMPTY
    for delta in difference.deltas:
        assert delta.units >= 1
        assert not (covered & delta.interval).count
        covered = covered | delta.interval
        assert difference.delta_of(delta.start) is delta
        assert difference.delta_of(delta.start + delta.units - 1) is delta
        assert (delta.trigger_with(0), delta.trigger_with(delta.units)) == (delta.passing, delta.failing)
        for k in range(1, delta.units):
            between = delta.trigger_with(k)
            assert between is not None
            assert between.to == (delta.failing or delta.passing).to  # type: ignore[union-attr]
    assert covered == difference.all


@given(_PAIRS, st.data())
def test_any_configuration_is_a_schedule(pair, data: st.DataObject) -> None:  # type: ignore[no-untyped-def]
    passing, failing = logs_of(pair)
    difference = difference_of(passing, failing)
    chosen = EMPTY
    if difference.units:
        for unit in data.draw(st.sets(st.integers(0, difference.units - 1), max_size=10)):
            chosen = chosen | IntervalSet.range(unit, unit + 1)
    triggers = difference.triggers(chosen)
    assert list(triggers) == sorted(set(triggers))
    assert set(difference.common) <= set(triggers)
    assert len(triggers) <= len(difference.common) + len(difference.deltas)


@st.composite
def differences(draw: st.DrawFn) -> Difference:
    deltas, start = [], 0
    for number in range(draw(st.integers(1, 8))):
        units = draw(st.integers(1, 6))
        kind = draw(st.sampled_from([Kind.MOVE, Kind.INSERTION, Kind.REMOVAL]))
        time = 100 * number
        before = None if kind is Kind.INSERTION else Trigger("0.1", time, "0")
        after = None if kind is Kind.REMOVAL else Trigger("0.1", time + units, "0")
        natural = time if kind is Kind.INSERTION else time + units
        deltas.append(Delta(kind, before, after, natural, start, units))
        start += units
    return Difference([Trigger("0", 1, "0.1")], deltas)


@given(differences(), st.data())
def test_a_mixed_schedule_is_made_of_each_difference_by_itself(difference: Difference, data: st.DataObject) -> None:
    units = data.draw(st.sets(st.integers(0, difference.units - 1)))
    each = [delta.trigger_with(len(units & set(delta.interval))) for delta in difference.deltas]
    expected = {trigger for trigger in [*difference.common, *each] if trigger is not None}
    assert difference.triggers(IntervalSet.of(units)) == tuple(sorted(expected))


def test_the_latest_preemption_comes_first_and_forced_choices_come_last() -> None:
    """Where several are needed together, dd ends at the first delta: that must be where the race is."""
    forced = [
        Switch(thread, time, to, True, False, PLACE, time, 1)
        for thread, time, to in (("0.3", 30, "0.1"), ("0.4", 40, "0.1"))
    ]
    preemptions = schedule(("0.1", 4, "0.2"), ("0.2", 9, "0.1"), ("0.5", 6, "0.1")).switches
    failing = log_of(sorted((*forced, *preemptions), key=lambda switch: switch.global_time), FAILED)
    found = [delta.failing for delta in difference_of(schedule(), failing).deltas]
    assert [trigger and trigger.time for trigger in found] == [9, 6, 4, 40, 30]


def test_an_insertion_moves_from_the_next_time_at_which_the_thread_stops() -> None:
    passing = schedule(stops=[("0.1", 2, "0.2"), ("0.1", 9, "0.2"), ("0.1", 15, "0.2"), ("0.3", 5, "0.2")])
    (delta,) = difference_of(passing, schedule(("0.1", 4, "0.2"))).deltas
    assert (delta.natural_time, delta.units) == (9, 5)


def test_an_insertion_where_the_thread_stops_anyway_is_one_delta() -> None:
    passing = schedule(stops=[("0.1", 9, "0.2"), ("0.1", 15, "0.2")])
    (delta,) = difference_of(passing, schedule(("0.1", 9, "0.3"))).deltas
    assert (delta.natural_time, delta.units) == (9, 1)
