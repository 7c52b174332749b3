"""What must hold for every test function: drawn at random, three-valued, without any rule behind it."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from replay_dd.dd import (
    DD,
    DD1999,
    EMPTY,
    SPLIT_RULES,
    AdaptiveBisection,
    Algorithm,
    BookDD,
    CoarseBisection,
    DDMax,
    DDMin,
    DDPlus,
    IntervalSet,
    PrefixBisection,
    Search,
)
from replay_dd.dd.minimize import ORDERS
from replay_dd.outcome import Outcome
from tests.dd.support import F, Oracle, P, U, is_1_minimal, run, singles, with_ends

MOST = 7


@st.composite
def oracles(draw: st.DrawFn) -> tuple[IntervalSet, Oracle]:
    """A universe and an arbitrary outcome for each of its subsets; nothing passes, everything fails."""
    size = draw(st.integers(1, MOST))
    weights = draw(st.sampled_from([[P, F, U], [P, U, U, U], [F, U], [P, F], [P, P, P, F]]))
    table = draw(st.lists(st.sampled_from(weights), min_size=2**size, max_size=2**size))
    table[0], table[-1] = P, F
    return IntervalSet.range(0, size), lambda configuration: table[sum(1 << element for element in configuration)]


splits = st.sampled_from(sorted(SPLIT_RULES))


@given(oracles(), splits)
@settings(max_examples=300)
def test_dd_keeps_its_invariant_and_ends_1_minimal(drawn: tuple[IntervalSet, Oracle], split: str) -> None:
    universe, oracle = drawn
    search = with_ends(DD(EMPTY, universe, split=split))
    while (configuration := search.ask()) is not None:
        search.tell(configuration, oracle(configuration))
        c_pass, c_fail = search.best
        assert EMPTY <= c_pass < c_fail <= universe
        assert oracle(c_pass) is P
        assert oracle(c_fail) is F
    c_pass, c_fail = search.best
    if (c_fail - c_pass).count > 1:
        assert not any(oracle(c_pass | single) is P for single in singles(c_fail - c_pass))
        assert not any(oracle(c_fail - single) is F for single in singles(c_fail - c_pass))
    assert search.executed <= universe.count**2 + 7 * universe.count


@given(oracles(), splits, st.sampled_from(["-", "+", "+-"]))
@settings(max_examples=300)
def test_dd_of_the_book_ends_1_minimal_in_the_directions_of_its_mode(
    drawn: tuple[IntervalSet, Oracle], split: str, mode: str
) -> None:
    universe, oracle = drawn
    search = run(with_ends(BookDD(EMPTY, universe, mode=mode, split=split)), oracle)
    c_pass, c_fail = search.best
    assert c_pass < c_fail
    assert oracle(c_pass) is P
    assert oracle(c_fail) is F
    if search.best.difference.count > 1:
        for single in singles(c_fail - c_pass):
            assert "-" not in mode or oracle(c_fail - single) is not F
            assert "+" not in mode or oracle(c_pass | single) is not P
    assert "-" in mode or c_fail == universe
    assert "+" in mode or c_pass == EMPTY


@given(oracles(), splits, st.sampled_from(ORDERS))
@settings(max_examples=300)
def test_ddmin_ends_1_minimal_and_contained(drawn: tuple[IntervalSet, Oracle], split: str, order: str) -> None:
    universe, oracle = drawn
    search = run(with_ends(DDMin(universe, order=order, split=split)), oracle)
    minimal = search.best.c_fail
    assert minimal <= universe
    assert oracle(minimal) is F
    assert is_1_minimal(minimal, oracle)
    if order == "subsets-first":
        assert search.executed <= universe.count**2 + 3 * universe.count


@given(oracles(), splits, st.sampled_from(ORDERS))
@settings(max_examples=200)
def test_ddmax_ends_1_maximal(drawn: tuple[IntervalSet, Oracle], split: str, order: str) -> None:
    universe, oracle = drawn
    search = run(with_ends(DDMax(EMPTY, universe, order=order, split=split)), oracle)
    maximal = search.best.c_pass
    assert maximal < universe
    assert oracle(maximal) is P
    assert not any(oracle(maximal | single) is P for single in singles(universe - maximal))


@given(oracles())
@settings(max_examples=300)
def test_prefix_bisection_ends_1_minimal_for_every_test(drawn: tuple[IntervalSet, Oracle]) -> None:
    universe, oracle = drawn
    search = run(with_ends(PrefixBisection(universe)), oracle)
    assert oracle(search.best.c_fail) is F
    assert is_1_minimal(search.best.c_fail, oracle)
    assert search.deltas_left == search.best.c_fail.count


@given(st.integers(2, 10**9), st.sets(st.integers(0, 10**9), min_size=1, max_size=8))
def test_prefix_bisection_finds_the_causes_of_a_monotone_failure_in_k_log_n_tests(n: int, positions: set[int]) -> None:
    cause = IntervalSet.of(position % n for position in positions)
    search = run(with_ends(PrefixBisection(IntervalSet.range(0, n))), lambda c: F if cause <= c else P)
    assert search.best.c_fail == cause
    assert search.executed <= cause.count * (math.ceil(math.log2(n)) + 2)


@given(st.integers(2, 5_000_000_000), st.data(), splits)
def test_dd_needs_a_binary_search_where_every_outcome_is_resolved(n: int, data: st.DataObject, split: str) -> None:
    cause = data.draw(st.integers(0, n - 1))
    search = run(with_ends(DD(EMPTY, IntervalSet.range(0, n), split=split)), lambda c: F if cause in c else P)
    assert search.best.difference == IntervalSet.range(cause, cause + 1)
    assert search.executed <= math.ceil(math.log2(n))


@given(st.integers(1, 60), st.data())
def test_ddmin_best_case(n: int, data: st.DataObject) -> None:
    cause = data.draw(st.integers(0, n - 1))
    search = run(with_ends(DDMin(IntervalSet.range(0, n))), lambda c: F if cause in c else P)
    assert search.best.c_fail == IntervalSet.range(cause, cause + 1)
    assert search.executed <= 2 * math.ceil(math.log2(n)) if n > 1 else search.executed == 0


@given(oracles())
def test_dd_of_1999_ends_for_every_test(drawn: tuple[IntervalSet, Oracle]) -> None:
    universe, oracle = drawn
    for algorithm in (DD1999(EMPTY, universe), DDPlus(EMPTY, universe)):
        search = run(with_ends(algorithm), oracle)
        assert search.best.difference
        assert search.best.difference <= universe


@given(st.integers(1, 10), st.data())
def test_dd_of_1999_finds_every_cause_of_a_monotone_failure(size: int, data: st.DataObject) -> None:
    universe = IntervalSet.range(0, size)
    cause = IntervalSet.of(data.draw(st.sets(st.integers(0, size - 1), min_size=1)))
    for algorithm in (DD1999(EMPTY, universe), DDPlus(EMPTY, universe)):
        search = run(with_ends(algorithm), lambda configuration: F if cause <= configuration else P)
        assert search.best.difference == cause


ALGORITHMS = {
    "DD": lambda base, whole: DD(base, whole),
    "BookDD": lambda base, whole: BookDD(base, whole),
    "DDMin": lambda base, whole: DDMin(whole, base=base),
    "sweep": lambda base, whole: DDMin(whole, base=base, order="sweep"),
    "DDMax": lambda base, whole: DDMax(base, whole),
    "PrefixBisection": lambda base, whole: PrefixBisection(whole, base=base),
    "AdaptiveBisection": lambda base, whole: AdaptiveBisection(whole, base=base),
    "CoarseBisection": lambda base, whole: CoarseBisection(whole, base=base),
    "DD1999": lambda base, whole: DD1999(base, whole),
    "DDPlus": lambda base, whole: DDPlus(base, whole),
}


@pytest.mark.parametrize("name", ALGORITHMS)
@given(st.data())
@settings(max_examples=60)
def test_algorithms_work_between_any_two_ends_and_copies_are_independent(name: str, data: st.DataObject) -> None:
    universe, oracle = data.draw(oracles())
    base = IntervalSet.of(data.draw(st.sets(st.integers(20, 40), max_size=4)))
    whole = universe | base

    def judged(configuration: IntervalSet) -> Outcome:
        assert base <= configuration <= whole, "a configuration leaves the two ends"
        return oracle(configuration - base)

    algorithm: Algorithm = ALGORITHMS[name](base, whole)
    asked = []
    while (configuration := algorithm.ask()) is not None:
        # A copy that is told something else must not disturb the original.
        for outcome in Outcome:
            astray = algorithm.copy()
            astray.tell(outcome)
            astray.ask()
        assert algorithm.ask() == configuration
        asked.append(configuration)
        algorithm.tell(judged(configuration))
        assert algorithm.deltas_left == algorithm.difference.count
    again = run(Search(ALGORITHMS[name](base, whole), cache=False), judged)
    assert [step.configuration for step in again.statistics] == asked
    assert again.best == (algorithm.c_pass, algorithm.c_fail)
    with pytest.raises(ValueError):
        algorithm.tell(P)


@pytest.mark.parametrize("name", ALGORITHMS)
def test_wrong_ends_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match="contained"):
        ALGORITHMS[name](IntervalSet.range(5, 9), IntervalSet.range(0, 6))


@pytest.mark.parametrize("name", ALGORITHMS)
def test_nothing_to_search_is_done_at_once(name: str) -> None:
    for whole in (EMPTY, IntervalSet.range(3, 4)):
        algorithm = ALGORITHMS[name](EMPTY, whole)
        assert algorithm.done
        assert algorithm.difference == whole


def test_unknown_names_are_refused() -> None:
    with pytest.raises(ValueError, match="subsets-first"):
        DDMin(IntervalSet.range(0, 4), order="backwards")
    with pytest.raises(ValueError, match=r"\+-"):
        BookDD(EMPTY, IntervalSet.range(0, 4), mode="*")
