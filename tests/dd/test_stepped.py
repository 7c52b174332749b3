from __future__ import annotations

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replay_dd.dd import EMPTY, IntervalSet
from replay_dd.dd.stepped import SteppedSet

positions = st.sets(st.integers(0, 29))


@st.composite
def pairs(draw: st.DrawFn) -> tuple[SteppedSet, IntervalSet]:
    start, step = draw(st.integers(-5, 5)), draw(st.integers(2, 4))
    numbers = range(start, start + 30 * step, step)
    chosen = draw(positions)
    return SteppedSet(numbers, IntervalSet.of(chosen)), IntervalSet.of(numbers[position] for position in chosen)


@given(pairs(), pairs(), st.integers(-2, 32), st.integers(-2, 32))
def test_it_behaves_as_the_interval_set_of_the_same_elements(
    one: tuple[SteppedSet, IntervalSet], other: tuple[SteppedSet, IntervalSet], start: int, stop: int
) -> None:
    (stepped, plain), (stepped_2, plain_2) = one, other
    assert list(stepped) == list(plain)
    assert (stepped.count, len(stepped), bool(stepped)) == (plain.count, len(plain), bool(plain))
    assert all((number in stepped) == (number in plain) for number in range(-10, 130))
    assert list(stepped.between(start, stop)) == list(plain.between(start, stop))
    assert list(stepped.take(stop)) == list(plain.take(stop))
    assert [list(part) for part in stepped.split([2, 3])] == [list(part) for part in plain.split([2, 3])]
    assert [stepped.element(rank) for rank in range(stepped.count)] == list(plain)
    if plain:
        assert (stepped.first, stepped.last) == (plain.first, plain.last)
    assert stepped == plain
    assert plain == stepped
    assert hash(stepped) == hash(plain)
    assert stepped.intervals == plain.intervals
    assert stepped._edges is stepped._edges, "made once"
    for made, expected in ((stepped | stepped_2, plain | plain_2), (stepped - stepped_2, plain - plain_2)):
        assert made == expected
    assert (stepped & plain_2, plain ^ stepped_2) == (plain & plain_2, plain ^ plain_2)
    assert (stepped <= plain_2, plain < stepped_2) == (plain <= plain_2, plain < plain_2)
    again = pickle.loads(pickle.dumps(stepped))
    assert again == stepped
    assert type(again) is SteppedSet


def test_it_is_never_listed_unless_it_must_be() -> None:
    huge = SteppedSet(range(0, 10**18, 2), IntervalSet.range(10, 10**17))
    assert huge.count == 10**17 - 10
    assert (huge.first, huge.last, huge.element(1)) == (20, 2 * 10**17 - 2, 22)
    assert 10**10 in huge
    assert 10**10 + 1 not in huge
    assert list(huge.take(2)) == [20, 22]
    assert repr(huge).startswith("IntervalSet({20, 22, 24,")
    assert repr(huge).endswith(f"58, ... ({10**17 - 10} elements)}})")
    assert repr(SteppedSet(range(0, 9, 3), IntervalSet.range(0, 3))) == "IntervalSet({0, 3, 6})"


def test_the_empty_one() -> None:
    none = SteppedSet(range(0, 10, 2), EMPTY)
    assert not none
    assert none == EMPTY
    with pytest.raises(ValueError):
        _ = none.first
    with pytest.raises(ValueError):
        _ = none.last
    with pytest.raises(IndexError):
        none.element(0)
