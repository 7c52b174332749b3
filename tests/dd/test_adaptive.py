"""Adaptive bisection: 1-minimal for every test function, and counts of tests near what any algorithm needs."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from replay_dd.dd import EMPTY, AdaptiveBisection, DDMin, IntervalSet, PrefixBisection, Search
from replay_dd.dd.gaps import Gaps
from tests.dd.support import F, Oracle, P, U, is_1_minimal, run, with_ends
from tests.dd.test_properties import oracles

pytestmark = pytest.mark.once


def least_tests(n: int, k: int) -> int:
    """What any algorithm needs at worst: to tell such sets apart, and to leave out each delta of the answer."""
    return math.ceil(math.log2(math.comb(n, k))) + k


def executed_for(n: int, oracle: Oracle) -> int:
    search = run(with_ends(AdaptiveBisection(IntervalSet.range(0, n)), statistics=False), oracle)
    assert oracle(search.best.c_fail) is F
    return search.executed


def needs(elements: Iterable[int]) -> Oracle:
    needed = IntervalSet.of(elements)
    return lambda configuration: F if needed <= configuration else P


def spread(n: int, k: int, seed: int = 0) -> Oracle:
    return needs(random.Random(f"{n} {k} {seed}").sample(range(n), k))


@given(oracles())
@settings(max_examples=150)
def test_it_ends_1_minimal_for_every_test(drawn: tuple[IntervalSet, Oracle]) -> None:
    universe, oracle = drawn
    algorithm = AdaptiveBisection(universe)
    search = with_ends(algorithm)
    while (configuration := search.ask()) is not None:
        assert 0 < algorithm.chance_of_failing < 1
        search.tell(configuration, oracle(configuration))
    assert oracle(search.best.c_fail) is F
    assert is_1_minimal(search.best.c_fail, oracle)
    assert search.executed <= universe.count**2 + 3 * universe.count


@pytest.mark.parametrize("n", [1, 2, 3, 5, 8])
def test_every_monotone_failure_of_few_deltas(n: int) -> None:
    for mask in range(1, 2**n):
        needed = IntervalSet.of(element for element in range(n) if mask >> element & 1)
        search = run(with_ends(AdaptiveBisection(IntervalSet.range(0, n))), needs(needed))
        assert search.best.c_fail == needed
        assert search.executed <= 2 * least_tests(n, needed.count) + 4


@pytest.mark.parametrize(
    ("n", "k", "most"),
    [
        (100, 1, 1.15),
        (100, 100, 1.75),
        (1000, 3, 1.15),
        (1000, 10, 1.35),
        (1000, 100, 1.45),
        (1000, 500, 1.3),
        (1000, 1000, 1.2),
        (2000, 200, 1.35),
        (2000, 2000, 1.15),
        (10**6, 8, 1.3),
        (10**6, 300, 1.2),
        (10**9, 8, 1.3),
    ],
)
def test_deltas_spread_evenly_take_little_more_tests_than_any_algorithm_needs(n: int, k: int, most: float) -> None:
    seeds = range(5 if k < 100 else 1)
    counts = [executed_for(n, spread(n, k, seed)) for seed in seeds]
    assert sum(counts) / len(counts) <= most * least_tests(n, k) + 1


def test_a_block_takes_little_more_than_two_tests_for_each_delta() -> None:
    for start in (0, 371, 900):
        assert executed_for(1000, needs(range(start, start + 100))) <= 2.4 * 100


def test_what_changes_along_the_way_is_learned_anew() -> None:
    dense_then_sparse = [*range(1000), *range(1000, 100_000, 9_000)]
    assert executed_for(100_000, needs(dense_then_sparse)) <= 1000 + 3 * 11 * math.log2(100_000)


def requires_earlier(needed: int) -> Oracle:
    def judge(configuration: IntervalSet) -> object:
        if configuration != IntervalSet.range(0, configuration.count):
            return U
        return F if needed in configuration else P

    return judge  # type: ignore[return-value]


def in_pairs(n: int, k: int, broken: object, seed: int) -> Oracle:
    """Deltas 0 and 1, 2 and 3, ... can only be left out together."""
    needed = IntervalSet.of(2 * pair for pair in random.Random(seed).sample(range(n // 2), k))

    def judge(configuration: IntervalSet) -> object:
        if any(edge % 2 for interval in configuration.intervals for edge in interval):
            return broken
        return F if needed <= configuration else P

    return judge  # type: ignore[return-value]


@pytest.mark.parametrize("broken", [P, U])
@pytest.mark.parametrize(("n", "k"), [(200, 2), (200, 10), (1000, 10)])
def test_deltas_that_only_go_in_pairs_do_not_spoil_the_answer(n: int, k: int, broken: object) -> None:
    """Whatever remains beside the needed pairs is whole pairs; bisection alone keeps twice as many of them."""
    tests, left = 0, 0
    others = []
    for seed in range(10):
        oracle = in_pairs(n, k, broken, seed)
        search = run(with_ends(AdaptiveBisection(IntervalSet.range(0, n))), oracle)
        tests, left = tests + search.executed, left + search.best.c_fail.count
        whole = IntervalSet.range(0, n)
        others.append([run(with_ends(one), oracle) for one in (PrefixBisection(whole), DDMin(whole, order="sweep"))])
    assert left <= 1.2 * min(sum(one.best.c_fail.count for one in column) for column in zip(*others, strict=True))
    assert tests <= 1.1 * min(sum(one.executed for one in column) for column in zip(*others, strict=True))


@pytest.mark.parametrize("judged", [P, U])
def test_where_all_are_needed_each_takes_one_test(judged: object) -> None:
    n = 2000

    def judge(configuration: IntervalSet) -> object:
        return F if configuration.count == n else judged

    assert executed_for(n, judge) <= 1.25 * n  # type: ignore[arg-type]


def test_a_forecast_halves_what_it_knows() -> None:
    nothing = Gaps().forecast(1 << 20)
    assert 0.45 < nothing.chance(nothing.middle(0, 1 << 20), 0, 1 << 20) < 0.55
    dense = Gaps(8.0).forecast(1 << 20)
    assert dense.middle(0, 1 + (1 << 20)) == 1
    spread_out = Gaps()
    for _ in range(50):
        spread_out = spread_out.seen(1000)
    assert 512 <= spread_out.forecast(1 << 20).middle(0, 1 << 20) < 1024
    assert spread_out.forecast(1 << 20).middle(1024, 1 << 20) > 1 << 17, "above what was seen, all gaps are alike"


@given(st.lists(st.integers(1, 10**9), max_size=30), st.integers(1, 10**9), st.data())
def test_a_forecast_asks_between_its_bounds(gaps: list[int], most: int, data: st.DataObject) -> None:
    known = Gaps()
    for gap in gaps:
        known = known.seen(gap)
    forecast = known.forecast(most)
    low, high = 0, most + 1
    while high - low > 1:
        middle = forecast.middle(low, high)
        assert low < middle < high
        assert 0 < forecast.chance(middle, low, high) < 1
        if data.draw(st.booleans()):
            low = middle
        else:
            high = middle


def test_base_and_copies() -> None:
    base = IntervalSet.of([3, 50])
    algorithm = AdaptiveBisection(IntervalSet.range(0, 100), base=base)
    judge: Callable[[IntervalSet], object] = lambda c: F if {7, 93} <= set(c) else P  # noqa: E731
    search = run(Search(algorithm, known={base: P}), judge)  # type: ignore[arg-type]
    assert search.best.c_fail == base | IntervalSet.of([7, 93])
    assert search.best.difference | EMPTY == IntervalSet.of([7, 93])
