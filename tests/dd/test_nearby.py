"""Bisection that looks for the next needed delta near the last one."""

from __future__ import annotations

import random
from itertools import accumulate, cycle, islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replay_dd.dd import Algorithm, IntervalSet, NearbyBisection, PrefixBisection
from replay_dd.outcome import Outcome

DELTAS = 12


def searched(
    algorithm: Algorithm, fails: dict[frozenset[int], bool] | None, needed: frozenset[int]
) -> tuple[frozenset[int], int]:
    tests = 0
    while (asked := algorithm.ask()) is not None:
        assert asked < algorithm.c_fail
        tests += 1
        deltas = frozenset(asked)
        failed = needed <= deltas if fails is None else fails.setdefault(deltas, hash(deltas) % 3 == 0)
        algorithm.tell(Outcome.FAIL if failed else Outcome.UNRESOLVED)
    return frozenset(algorithm.c_fail), tests


def nearby(count: int, *, checked: bool = True) -> NearbyBisection:
    return NearbyBisection(IntervalSet.range(0, count), checked=checked)


@given(st.frozensets(st.integers(0, 40), min_size=1), st.booleans())
def test_rows_of_a_monotone_test(needed: frozenset[int], checked: bool) -> None:
    found, tests = searched(nearby(41, checked=checked), None, needed)
    assert found == needed
    _, of_bisection = searched(PrefixBisection(IntervalSet.range(0, 41)), None, needed)
    assert tests <= of_bisection + len(needed) // 5


@given(st.dictionaries(st.frozensets(st.integers(0, DELTAS - 1)), st.booleans()))
def test_what_is_found_among_few_deltas_is_1_minimal_if_checked(fails: dict[frozenset[int], bool]) -> None:
    found, _ = searched(nearby(DELTAS), fails, frozenset())
    if len(found) > 1:
        assert not any(fails[found - {delta}] for delta in found)


@pytest.mark.parametrize("seed", range(60))
def test_what_is_found_nearby_is_1_minimal_for_a_test_that_is_not_monotone(seed: int) -> None:
    """And the best result so far is the last that failed. With fewer deltas, nothing is looked for nearby."""
    chance = random.Random(seed)
    needed = frozenset(chance.sample(range(100), chance.randrange(20, 60)))
    fails = {frozenset(range(100)): True}

    def test(deltas: frozenset[int]) -> bool:
        return fails.setdefault(deltas, (needed <= deltas) != (chance.random() < 0.1))

    algorithm = nearby(100)
    while (asked := algorithm.ask()) is not None:
        failed = test(frozenset(asked))
        before = algorithm.c_fail
        algorithm.tell(Outcome.FAIL if failed else Outcome.PASS)
        assert algorithm.c_fail == (asked if failed else before)
    found = frozenset(algorithm.c_fail)
    assert fails[found]
    assert len(found) < 2 or not any(test(found - {delta}) for delta in found)


def test_it_looks_farther_where_the_next_one_is_not_as_near() -> None:
    needed = frozenset(accumulate(islice(cycle((2, 2, 2, 20)), 400)))
    found, tests = searched(nearby(50_000, checked=False), None, needed)
    assert found == needed
    assert tests < 5.5 * len(needed), "with a bisection of all that are left for each distance of 20, it would be 6.3"


def test_what_many_needed_deltas_cost() -> None:
    """Each is looked for near the one before, so it takes a few tests, not a bisection of all that are left."""
    scattered = frozenset(range(3, 2_000, 7))
    found, tests = searched(nearby(2_000, checked=False), None, scattered)
    assert found == scattered
    assert tests <= 5 * len(scattered) + 60
    _, of_bisection = searched(PrefixBisection(IntervalSet.range(0, 2_000)), None, scattered)
    assert of_bisection > 2 * tests


def test_a_part_with_none_between_two_with_many() -> None:
    needed = frozenset((*range(0, 300, 6), *range(9_000, 9_300, 6)))
    found, tests = searched(nearby(10_000, checked=False), None, needed)
    assert found == needed
    assert tests <= 5 * len(needed) + 80


def test_what_rows_cost() -> None:
    """The first needed delta takes a bisection, as do some more until the row is noticed; all others take one test."""
    row = frozenset(range(500, 540))
    found, unchecked = searched(nearby(1_000, checked=False), None, row)
    assert found == row
    assert unchecked <= 7 * 10 + len(row) + 10
    _, checked = searched(nearby(1_000), None, row)
    assert checked == unchecked + len(row)
    _, of_bisection = searched(PrefixBisection(IntervalSet.range(0, 1_000)), None, row)
    assert of_bisection > 3 * checked
