from __future__ import annotations

import pickle
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replay_dd.dd import EMPTY, IntervalSet

small_sets = st.frozensets(st.integers(-3, 40))
HUGE = 3_842_577_240


@given(small_sets, small_sets)
def test_operations_are_those_of_sets(a: frozenset[int], b: frozenset[int]) -> None:
    x, y = IntervalSet.of(a), IntervalSet.of(b)
    assert list(x | y) == sorted(a | b)
    assert list(x - y) == sorted(a - b)
    assert list(x & y) == sorted(a & b)
    assert list(x ^ y) == sorted(a ^ b)
    assert (x <= y, x < y, x >= y, x > y, x == y) == (a <= b, a < b, a >= b, a > b, a == b)
    assert x | y == IntervalSet.of(a | b)
    assert hash(x | y) == hash(y | x)
    assert x.count == len(x) == len(a)
    assert bool(x) == bool(a)
    assert all((element in x) == (element in a) for element in range(-5, 43))


@given(small_sets)
def test_intervals_are_disjoint_sorted_and_do_not_touch(a: frozenset[int]) -> None:
    intervals = IntervalSet.of(a).intervals
    assert all(start < stop for start, stop in intervals)
    assert all(stop < start for (_, stop), (start, _) in pairwise(intervals))
    assert IntervalSet.from_intervals(reversed(intervals)) == IntervalSet.of(a)


@given(small_sets, st.integers(-2, 50), st.integers(-2, 50))
def test_ranks(a: frozenset[int], start: int, stop: int) -> None:
    elements, made = sorted(a), IntervalSet.of(a)
    assert list(made.between(start, stop)) == elements[max(start, 0) : max(stop, 0)]
    assert list(made.take(stop)) == elements[: max(stop, 0)]
    assert [made.element(rank) for rank in range(len(elements))] == elements
    if elements:
        assert (made.first, made.last) == (elements[0], elements[-1])


@given(small_sets, st.lists(st.integers(0, 9)))
def test_split_gives_consecutive_parts(a: frozenset[int], sizes: list[int]) -> None:
    elements = sorted(a)
    parts = IntervalSet.of(a).split(sizes)
    assert len(parts) == len(sizes)
    for part, size in zip(parts, sizes, strict=True):
        assert list(part) == elements[:size]
        del elements[:size]


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20))))
def test_from_intervals_accepts_any_order_and_overlap(intervals: list[tuple[int, int]]) -> None:
    expected = {element for start, stop in intervals for element in range(start, stop)}
    assert IntervalSet.from_intervals(intervals) == IntervalSet.of(expected)


def test_huge_sets_are_never_listed() -> None:
    everything = IntervalSet.range(0, HUGE)
    without_one = everything - IntervalSet.range(HUGE // 2, HUGE // 2 + 1)
    assert without_one.count == HUGE - 1
    assert without_one.intervals == ((0, HUGE // 2), (HUGE // 2 + 1, HUGE))
    assert without_one < everything
    assert [part.count for part in without_one.split([1, HUGE - 3, 1])] == [1, HUGE - 3, 1]
    assert without_one.element(HUGE // 2) == HUGE // 2 + 1
    assert IntervalSet.range(0, 10**30).count == 10**30


def test_the_empty_set() -> None:
    assert not EMPTY
    assert EMPTY.count == 0
    assert EMPTY == IntervalSet() == IntervalSet.range(5, 5) == IntervalSet.range(5, 3) == IntervalSet.of([])
    assert IntervalSet.range(0, 1) >= EMPTY
    with pytest.raises(ValueError):
        _ = EMPTY.first
    with pytest.raises(ValueError):
        _ = EMPTY.last
    with pytest.raises(IndexError):
        EMPTY.element(0)


def test_pickling_and_representation() -> None:
    made = IntervalSet.of([1, 2, 3, 7])
    assert pickle.loads(pickle.dumps(made)) == made
    assert repr(made) == "IntervalSet({1..3, 7})"
    assert "(30 elements)" in repr(IntervalSet.of(range(0, 60, 2)))
    assert made != {1, 2, 3, 7}
