"""Two deltas that cancel each other are left out together."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from replay_dd.dd import AdaptiveBisection, Algorithm, DDMin, IntervalSet, NearbyBisection, PairsToo, Search
from replay_dd.dd.pairs import MOST_PAIRS, Alike
from replay_dd.outcome import Outcome

Fails = Callable[[set[int]], bool]


def answer(
    fails: Fails,
    size: int,
    make: type[Algorithm],
    base: IntervalSet | None = None,
    alike: Alike = lambda one, other: False,
) -> tuple[set[int], int]:
    """The answer, and the number of tests."""
    base = base or IntervalSet.of([])
    whole = IntervalSet.range(0, size)
    search = Search(PairsToo(lambda c_fail: make(c_fail, base=base), whole, alike))  # type: ignore[call-arg]
    tests = 0
    while (configuration := search.ask()) is not None:
        tests += 1
        assert base <= configuration
        search.copy().tell(configuration, Outcome.FAIL)  # a copy is independent
        search.tell(configuration, Outcome.FAIL if fails(set(configuration)) else Outcome.PASS)
    assert fails(set(search.best.c_fail))
    assert search.deltas_left == search.best.c_fail.count - base.count
    return set(search.best.c_fail), tests


def tabs(*there_and_back: tuple[int, int]) -> Fails:
    """It needs 3 and 30; who goes to another tab has to come back from it."""
    return lambda chosen: (
        {3, 30} <= chosen and all((one in chosen) == (other in chosen) for one, other in there_and_back)
    )


@pytest.mark.parametrize("make", [NearbyBisection, AdaptiveBisection])
@pytest.mark.parametrize("pairs", [(), ((10, 20),), ((4, 29),), ((0, 5), (10, 28), (26, 27))])
def test_what_cancels_each_other_is_left_out(make: type[Algorithm], pairs: tuple[tuple[int, int], ...]) -> None:
    assert answer(tabs(*pairs), 40, make)[0] == {3, 30}


def test_what_stays_is_reduced_again() -> None:
    """Without the pair, a third one is not needed any more."""

    def fails(chosen: set[int]) -> bool:
        return {3, 30} <= chosen and (not chosen & {10, 20} or {10, 15, 20} <= chosen)

    assert answer(fails, 40, NearbyBisection)[0] == {3, 30}


def test_a_base_stays() -> None:
    base = IntervalSet.of([30, 35])
    assert answer(tabs((10, 20)), 40, NearbyBisection, base)[0] == {3, 30, 35}


def test_who_does_the_same_twice_may_be_far_from_it() -> None:
    """A switch was turned on, much was needed, and the switch was turned off again."""

    def fails(chosen: set[int]) -> bool:
        return {10, 12, 14, 30} <= chosen and (5 in chosen) == (20 in chosen)

    found, tests = answer(fails, 40, NearbyBisection)
    assert found == {5, 10, 12, 14, 20, 30}
    alike, more = answer(fails, 40, NearbyBisection, alike=lambda one, other: {one, other} == {5, 20})
    assert alike == {10, 12, 14, 30}
    assert more > tests


def test_the_last_one_shows_the_failure() -> None:
    asked = Search(PairsToo(lambda c_fail: DDMin(c_fail), IntervalSet.range(0, 4)))
    without: list[set[int]] = []
    while (configuration := asked.ask()) is not None:
        without.append(set(range(4)) - set(configuration))
        asked.tell(configuration, Outcome.PASS)
    # ddmin has left out halves and single ones, so only one pair of neighbours is left to ask about, and one at a
    # distance that is not with the last one.
    assert [pair for pair in without if len(pair) == 2] == [{2, 3}, {0, 1}, {1, 2}, {0, 2}]


def test_what_was_seen_to_pass_with_more_is_no_pair() -> None:
    """Bisection has left out 10 and 20 together, with much that is not needed."""
    needed = {10, 20, 30}
    tested: list[set[int]] = []

    def fails(chosen: set[int]) -> bool:
        tested.append(chosen & needed)
        return needed <= chosen

    assert answer(fails, 40, NearbyBisection)[0] == needed
    assert tested.count({30}) == 1


@pytest.mark.parametrize("needed, pairs", [(1, 0), (2, 0), (3, 1), (5, 4), (10, 10), (60, MOST_PAIRS)])
def test_how_many_more_tests_it_takes(needed: int, pairs: int) -> None:
    wanted = set(range(0, 5 * needed, 5))
    one_by_one = Search(NearbyBisection(IntervalSet.range(0, 300)))
    tests = 0
    while (configuration := one_by_one.ask()) is not None:
        tests += 1
        one_by_one.tell(configuration, Outcome.FAIL if wanted <= set(configuration) else Outcome.PASS)
    found, made = answer(wanted.__le__, 300, NearbyBisection)
    assert found == wanted
    assert made - tests == pairs
