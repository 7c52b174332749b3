"""Preemptions worth trying first, from what threads touched."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from replay_dd.schedules.likely_preemptions import Touch, likely_preemptions, threads_meet
from replay_dd.schedules.model import Trigger

BALANCE, ONE, TWO = (7, "balance"), (1, "lock"), (2, "lock")


def steps(*rows: tuple[str, int, tuple[int, str], bool, tuple[int, ...]]) -> list[Touch]:
    return [
        Touch(name, time, number, time, thing, changes, held)
        for number, (name, time, thing, changes, held) in enumerate(rows)
    ]


def test_between_reading_and_writing_comes_first() -> None:
    found = likely_preemptions(
        steps(
            ("0.1", 3, BALANCE, False, ()),
            ("0.1", 5, BALANCE, True, ()),
            ("0.2", 3, BALANCE, False, ()),
            ("0.2", 5, BALANCE, True, ()),
        )
    )
    assert list(found) == [
        Trigger("0.1", 5, "0.2"),
        Trigger("0.2", 5, "0.1"),
        Trigger("0.1", 3, "0.2"),
        Trigger("0.2", 3, "0.1"),
    ]


def test_crossed_locks_come_first() -> None:
    found = likely_preemptions(
        steps(
            ("0.1", 1, BALANCE, True, ()),
            ("0.1", 2, ONE, True, ()),
            ("0.1", 3, TWO, True, (1,)),
            ("0.2", 1, BALANCE, True, ()),
            ("0.2", 2, TWO, True, ()),
            ("0.2", 3, ONE, True, (2,)),
        )
    )
    assert list(found)[:2] == [Trigger("0.1", 3, "0.2"), Trigger("0.2", 3, "0.1")]


def test_what_a_lock_always_guards_cannot_conflict() -> None:
    guarded = steps(("0.1", 3, BALANCE, True, (1,)), ("0.2", 3, BALANCE, True, (1, 2)))
    assert list(likely_preemptions(guarded)) == []


def test_what_nobody_changes_cannot_conflict() -> None:
    assert list(likely_preemptions(steps(("0.1", 3, BALANCE, False, ()), ("0.2", 3, BALANCE, False, ())))) == []


def test_one_hot_thing_does_not_starve_the_others() -> None:
    hot = [("0.1", time, (1, "hot"), True, ()) for time in range(1, 50)]
    found = list(
        likely_preemptions(
            steps(*hot, ("0.1", 60, BALANCE, True, ()), ("0.2", 1, (1, "hot"), True, ()), ("0.2", 2, BALANCE, True, ()))
        )
    )
    assert Trigger("0.1", 60, "0.2") in found[:52]
    assert found.index(Trigger("0.1", 60, "0.2")) < len(found) - 1


threads = st.sampled_from(["0", "0.1", "0.2", "0.2.1"])
things = st.tuples(st.integers(-1, 3), st.sampled_from(["a", "b", "lock"]))
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
    found = list(likely_preemptions(made))
    assert len(set(found)) == len(found)
    known = {(touch.thread, touch.time) for touch in made}
    for thread, time, to in found:
        assert thread != to
        assert (thread, time) in known
        things_of = {touch.thing for touch in made if touch.thread == to}
        assert any(touch.thing in things_of for touch in made if (touch.thread, touch.time) == (thread, time)) or any(
            touch.thing[1] == "lock" for touch in made if (touch.thread, touch.time) == (thread, time)
        )


def test_threads_meet_where_one_changes_what_another_touches() -> None:
    reads = ("0.1", 3, BALANCE, False, ())
    assert not threads_meet([])
    assert not threads_meet(steps(reads, ("0.2", 3, BALANCE, False, ())))
    assert not threads_meet(steps(reads, ("0.1", 5, BALANCE, True, ())))
    assert threads_meet(steps(reads, ("0.2", 5, BALANCE, True, ())))
    assert threads_meet(steps(("0.1", 3, BALANCE, False, (1,)), ("0.2", 5, BALANCE, True, (1,)))), "with a lock, too"
