"""Preemptions worth trying first, from what threads touched."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from replay_dd.schedules.hunting.likely_preemptions import (
    Alternative,
    conflict_points,
    conflicting_events,
    is_order,
    is_sample,
    likely_preemptions,
    orders_of,
    threads_meet,
    trace_of,
)
from replay_dd.schedules.model import Trigger
from replay_dd.schedules.observed.touches import Touch
from replay_dd.schedules.runtime.channel import LOCK

BALANCE, ONE, TWO = (7, "balance"), (1, LOCK), (2, LOCK)


def steps(*rows: tuple[str, int, tuple[int, str], bool, tuple[int, ...]]) -> list[Touch]:
    return [
        Touch(name, time, number, time, thing, changes, held)
        for number, (name, time, thing, changes, held) in enumerate(rows)
    ]


def triggers_of(touches: list[Touch], alternatives: list[Alternative] | None = None) -> list[Trigger]:
    return [found.trigger for found in likely_preemptions(touches, alternatives or [])]


def test_between_reading_and_writing_comes_first_then_before_the_first_access_and_just_after_one() -> None:
    found = triggers_of(
        steps(
            ("0.1", 3, BALANCE, False, ()),
            ("0.1", 5, BALANCE, True, ()),
            ("0.2", 3, BALANCE, False, ()),
            ("0.2", 5, BALANCE, True, ()),
        )
    )
    assert found[:2] == [Trigger("0.1", 5, "0.2"), Trigger("0.2", 5, "0.1")]
    assert set(found[2:]) == {Trigger(one, time, "0.2" if one == "0.1" else "0.1") for one, time in AFTER_AND_BEFORE}


def test_before_changes_comes_first_then_who_was_started_first_and_the_latest() -> None:
    touches = steps(
        *(("0.2", time, BALANCE, False, ()) for time in (1, 2)),
        *(("0.10", time, BALANCE, time != 4, ()) for time in (1, 2, 3, 4)),
        *(("0.2", time, BALANCE, time == 5, ()) for time in (3, 4, 5)),
    )
    touches = [touch._replace(place=0) for touch in touches]  # all of one group
    between = [found.trigger[:2] for found in likely_preemptions(touches) if not found.rank]
    changes = [("0.2", 5), ("0.10", 3), ("0.10", 2)]
    assert between == [*changes, ("0.2", 4), ("0.2", 3), ("0.2", 2), ("0.10", 4)]


def test_groups_take_turns_however_late_the_one_is() -> None:
    other = (8, "other")
    rows = [(name, 1, other, True, ()) for name in ("0.1", "0.2")] + [("0.1", 2, other, True, ())]
    rows += [("0.1", time, BALANCE, True, ()) for time in (3, 4, 5)] + [("0.2", 3, BALANCE, True, ())]
    touches = [touch._replace(place=touch.thing[0]) for touch in steps(*rows)]
    between = [found.trigger[:2] for found in likely_preemptions(touches) if not found.rank]
    assert between == [("0.1", 5), ("0.1", 2), ("0.1", 4)]


AFTER_AND_BEFORE = [(name, time) for name in ("0.1", "0.2") for time in (3, 4, 6)]


def test_an_order_of_accesses_is_the_same_at_each_visit_of_its_places() -> None:
    rows = [("0.1", time, BALANCE, True, ()) for time in (3, 7)] + [("0.2", 3, BALANCE, True, ())]
    touches = [touch._replace(place=int(touch.thread[-1])) for touch in steps(*rows)]
    before = [found for found in likely_preemptions(touches) if is_order(found.novelty)]
    assert {found.novelty for found in before} == {(("0.2", 2), ("0.1", 1)), (("0.1", 1), ("0.2", 2))}
    assert orders_of(touches) == {(("0.1", 1), ("0.2", 2))}
    assert orders_of([*touches, touches[0]._replace(changes=False)]) == set(orders_of(touches)) | {
        (("0.2", 2), ("0.1", 1))
    }


def test_what_comes_just_after_an_access_is_new_where_the_other_thread_stands_elsewhere() -> None:
    early = steps(("0.1", 3, BALANCE, True, ()), ("0.2", 3, BALANCE, True, ()), ("0.2", 8, BALANCE, True, ()))
    late = [early[1], early[0], early[2]]
    late = [touch._replace(global_time=number) for number, touch in enumerate(late)]
    after = [
        {found.novelty for found in likely_preemptions(touches) if found.trigger == Trigger("0.1", 4, "0.2")}
        for touches in (early, late)
    ]
    assert all(after)
    assert after[0] != after[1]


def test_crossed_locks_come_first() -> None:
    found = triggers_of(
        steps(
            ("0.1", 1, BALANCE, True, ()),
            ("0.1", 2, ONE, True, ()),
            ("0.1", 3, TWO, True, (1,)),
            ("0.2", 1, BALANCE, True, ()),
            ("0.2", 2, TWO, True, ()),
            ("0.2", 3, ONE, True, (2,)),
        )
    )
    assert found[:2] == [Trigger("0.1", 3, "0.2"), Trigger("0.2", 3, "0.1")]


def test_what_a_lock_always_guards_conflicts_section_by_section() -> None:
    guarded = steps(
        ("0.1", 1, ONE, True, ()),
        ("0.1", 2, BALANCE, False, (1,)),
        ("0.1", 4, ONE, True, ()),
        ("0.1", 5, BALANCE, True, (1,)),
        ("0.1", 6, BALANCE, True, (1,)),
        ("0.2", 1, ONE, True, ()),
        ("0.2", 2, BALANCE, True, (1,)),
    )
    found = triggers_of(guarded)
    assert found[0] == Trigger("0.1", 4, "0.2"), "between its two sections"
    assert {trigger.time for trigger in found if trigger.thread == "0.1"} == {1, 4}, "never inside one"


def test_where_all_changes_are_locked_out_the_lock_is_where_another_thread_comes_first() -> None:
    top = (5, "top")
    swap = [(1, top, False, ()), (3, ONE, True, ()), (5, top, False, (1,)), (7, top, True, (1,))]
    found = triggers_of(steps(*((thread, *step) for thread in ("0.1", "0.2") for step in swap)))
    assert Trigger("0.1", 3, "0.2") in found[:4]
    assert Trigger("0.1", 5, "0.2") not in found
    assert Trigger("0.1", 7, "0.2") in found  # the other one may read without the lock


def test_what_nobody_changes_cannot_conflict() -> None:
    assert triggers_of(steps(("0.1", 3, BALANCE, False, ()), ("0.2", 3, BALANCE, False, ()))) == []


def test_another_thread_where_one_cannot_go_on() -> None:
    chosen = [Alternative("0.1", 9, 9, "0.3"), Alternative("0.2", 4, 12, "0.2")]
    assert triggers_of([], chosen) == [Trigger("0.1", 9, "0.3"), Trigger("0.2", 4, "0.2")]


def test_an_idle_thread_may_take_over_between_two_accesses() -> None:
    alone = steps(("0.1", 3, BALANCE, False, ()), ("0.1", 5, BALANCE, True, ()), ("0.1", 7, (8, "own"), False, ()))
    idle = [Alternative("0", 26, 0, "0.2"), Alternative("0.3", 26, 0, "0.1")]
    assert Trigger("0.1", 5, "0.2") in triggers_of(alone, idle)
    assert {trigger.time for trigger in triggers_of(alone, idle) if trigger.thread == "0.1"} == {5}
    assert triggers_of(alone) == []
    late = [Alternative("0", 26, 2, "0.2")]  # it was started when the second access was made
    assert Trigger("0.1", 5, "0.2") not in triggers_of(alone, late)


def test_a_thread_of_the_same_pool_may_take_over_own_work_though_it_asks_for_work_in_turn() -> None:
    asks = (8, "queue")
    rows = [
        ("0.1", 2, asks, False, ()),
        ("0.2", 2, asks, False, ()),
        ("0.1", 3, BALANCE, False, ()),
        ("0.1", 5, BALANCE, True, ()),
        ("0.1", 13, BALANCE, False, ()),
        ("0.1", 15, BALANCE, True, ()),
        ("0.3", 2, (9, "own"), False, ()),
    ]
    places = [1, 1, 3, 5, 3, 5, 2]
    touches = [touch._replace(place=place) for touch, place in zip(steps(*rows), places, strict=True)]
    able = [Alternative("0", 26, 0, to) for to in ("0.1", "0.2", "0.3")]
    found = [(one.trigger, one.rank) for one in likely_preemptions(touches, able, own={3, 5}) if not one.rank]
    # Not with 0.3, which does other things; the first time at each place, as more work is left then.
    assert sorted(found) == [(Trigger("0.1", 5, "0.2"), 0), (Trigger("0.1", 13, "0.2"), 0)]
    late = [Alternative("0", 26, 6, "0.2")]  # it could not run before the last access
    assert not [one for one in likely_preemptions(touches, late, own={3, 5}) if not one.rank]
    # Without packages, threads of a pool that have no work are idle.
    assert not [one for one in likely_preemptions(touches, able) if not one.rank]


def test_in_own_code_below_packages_an_idle_thread_takes_over_first() -> None:
    alone = steps(("0.1", 3, BALANCE, False, ()), ("0.1", 5, BALANCE, True, ()))
    idle = [Alternative("0", 26, 0, "0.2")]
    handed_on = Trigger("0.1", 5, "0.2")
    own, any_code = likely_preemptions(alone, idle, own={alone[1].place}), likely_preemptions(alone, idle)
    assert [[one.rank for one in found if one.trigger == handed_on] for found in (own, any_code)] == [[0], [1]]


def test_a_third_thread_comes_later_than_the_second() -> None:
    found = triggers_of(
        steps(("0.1", 3, BALANCE, True, ()), ("0.2", 3, BALANCE, True, ()), ("0.3", 3, BALANCE, True, ()))
    )
    assert found.index(Trigger("0.1", 3, "0.2")) < found.index(Trigger("0.1", 3, "0.3"))


def test_runs_with_the_same_order_of_conflicting_accesses_are_equivalent() -> None:
    own = ("0.2", 1, (9, "own"), True, ())
    rows = [("0.1", 3, BALANCE, True, ()), own, ("0.2", 3, BALANCE, True, ())]
    touches = [touch._replace(place=touch.time) for touch in steps(*rows)]
    moved = [touches[1], touches[0], touches[2]]
    turned = [touches[1], touches[2], touches[0]]
    assert trace_of(touches) == trace_of(moved) != trace_of(turned)


def test_one_hot_thing_does_not_starve_the_others() -> None:
    hot = [("0.1", time, (1, "hot"), True, ()) for time in range(1, 50)]
    found = triggers_of(
        steps(*hot, ("0.1", 60, BALANCE, True, ()), ("0.2", 1, (1, "hot"), True, ()), ("0.2", 2, BALANCE, True, ()))
    )
    assert Trigger("0.1", 60, "0.2") in found[:51], "the other visits of the hot thing come just after an access"


threads = st.sampled_from(["0", "0.1", "0.2", "0.2.1"])
things = st.tuples(st.integers(-1, 3), st.sampled_from(["a", "b", LOCK]))
touches = st.lists(
    st.builds(
        Touch,
        threads,
        st.integers(1, 9),
        st.integers(0, 99),
        st.integers(0, 5),
        things,
        st.booleans(),
        st.frozensets(st.integers(0, 2)).map(tuple),
    ),
    max_size=30,
)


@given(touches)
def test_each_preemption_is_of_two_threads_and_comes_once(made: list[Touch]) -> None:
    found = triggers_of(made)
    assert len(set(found)) == len(found)
    known = {(touch.thread, touch.time + more) for touch in made for more in (0, 1)}
    for thread, time, to in found:
        assert thread != to
        assert (thread, time) in known
        things_of, own = ({touch.thing for touch in made if touch.thread == name} for name in (to, thread))
        assert things_of & own or any(what == LOCK for _, what in own)
    points = conflict_points(made)
    assert {(thread, time) for thread, times in points.items() for time in times} == {one[:2] for one in found}


def test_threads_meet_where_one_changes_what_another_touches() -> None:
    reads = ("0.1", 3, BALANCE, False, ())
    assert not threads_meet([])
    assert not threads_meet(steps(reads, ("0.2", 3, BALANCE, False, ())))
    assert not threads_meet(steps(reads, ("0.1", 5, BALANCE, True, ())))
    assert threads_meet(steps(reads, ("0.2", 5, BALANCE, True, ())))
    assert threads_meet(steps(("0.1", 3, BALANCE, False, (1,)), ("0.2", 5, BALANCE, True, (1,)))), "with a lock, too"


def test_events_are_counted_by_thing_and_thread() -> None:
    touches = steps(
        ("0.1", 3, BALANCE, False, ()),
        ("0.1", 5, BALANCE, True, ()),
        ("0.1", 7, (8, "own"), True, ()),
        ("0.2", 3, BALANCE, False, ()),
        ("0.2", 4, ONE, True, ()),
        ("0.2", 6, (9, "guarded"), True, (1,)),
        ("0.1", 9, ONE, True, ()),
        ("0.1", 11, (9, "guarded"), True, (1,)),
    )
    assert conflicting_events(touches) == {(3, 5): {"0.1": 2, "0.2": 1}, (4, 9): {"0.2": 1, "0.1": 1}}


def test_of_loops_there_is_a_sample() -> None:
    def rounds(number: int) -> list[Touch]:
        looped = [
            touch._replace(place=1) for touch in steps(*[("0.1", 2 * n, BALANCE, True, ()) for n in range(number)])
        ]
        return [*looped, *steps(("0.2", 1, BALANCE, False, ()))]

    assert not is_sample(rounds(3))
    assert is_sample(rounds(4))
    assert not is_sample(rounds(4)[:4]), "what is not shared does not count"
    crowd = steps(*[(f"0.{n}", 1, BALANCE, True, ()) for n in range(1, 6)])
    assert is_sample(crowd)
    assert not is_sample(crowd[:4])


class CountedTouch(Touch):
    """A touch that counts how often it is looked at."""

    looks = 0

    @property
    def global_time(self) -> int:  # type: ignore[override]
        CountedTouch.looks += 1
        return self[2]

    @property
    def changes(self) -> bool:  # type: ignore[override]
        CountedTouch.looks += 1
        return self[5]


def test_a_long_run_is_not_gone_through_for_each_of_its_touches() -> None:
    guarded, open_to_all = (8, "guarded"), (9, "open")
    touches = [
        CountedTouch(f"0.{number % 4}", number, number, number % 7, thing, True, held)
        for number in range(1000)
        for thing, held in [((1, LOCK), ()), (guarded, (1,)), (open_to_all, ())]
    ]
    CountedTouch.looks = 0
    assert len(list(likely_preemptions(touches))) > 1000
    assert CountedTouch.looks < 50 * len(touches)
