"""Coarse passes before bisection: the same answers, and good ones early."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replay_dd.dd import EMPTY, Algorithm, CoarseBisection, IntervalSet, PrefixBisection
from replay_dd.dd.coarse import _pieces
from replay_dd.outcome import Outcome


def searched(algorithm: Algorithm, needed: frozenset[int]) -> list[int]:
    """How many deltas are left after each distinct test; the answer must be right."""
    tested: dict[IntervalSet, Outcome] = {}
    left = []
    while (asked := algorithm.ask()) is not None:
        new = asked not in tested
        tested[asked] = Outcome.FAIL if needed <= frozenset(asked) else Outcome.PASS
        algorithm = algorithm.copy()
        algorithm.tell(tested[asked])
        assert needed <= frozenset(algorithm.c_fail)
        if new:
            left.append(algorithm.c_fail.count)
    assert frozenset(algorithm.c_fail) == needed
    return left


@given(st.integers(1, 200), st.data())
def test_it_finds_what_is_needed(amount: int, data: st.DataObject) -> None:
    needed = data.draw(st.frozensets(st.integers(0, amount - 1), min_size=1, max_size=8))
    cuts = data.draw(st.lists(st.integers(0, amount + 5), max_size=10).map(sorted))
    searched(CoarseBisection(IntervalSet.range(0, amount), cuts=cuts), needed)


@pytest.mark.parametrize(("amount", "needed", "budget"), [(333, 6, 40), (333, 10, 40), (1000, 10, 80), (100, 6, 20)])
def test_a_search_that_is_stopped_early_has_removed_much(amount: int, needed: int, budget: int) -> None:
    coarse, fine, total = 0, 0, 0
    for seed in range(20):
        causes = frozenset({amount - 1, *random.Random(seed).sample(range(amount - 1), needed - 1)})
        left = searched(CoarseBisection(IntervalSet.range(0, amount)), causes)
        only = searched(PrefixBisection(IntervalSet.range(0, amount)), causes)
        coarse, fine = coarse + left[budget - 1], fine + only[budget - 1]
        total += len(left) - len(only) * 3 // 2
    assert coarse < 0.6 * fine
    assert total < 0, "to the end it takes at most half as many tests again"


@pytest.mark.parametrize("amount", [500, 2])
def test_one_delta_at_the_end_takes_one_test(amount: int) -> None:
    assert searched(CoarseBisection(IntervalSet.range(0, amount)), frozenset({amount - 1})) == [1]


def test_what_belongs_together_is_left_out_together() -> None:
    part = IntervalSet.range(0, 40)
    assert [piece.first for piece in _pieces(part, ())] == [0, 10, 20, 30]
    assert [piece.first for piece in _pieces(part, (8, 13, 26))] == [0, 8, 20, 26]
    assert [piece.first for piece in _pieces(IntervalSet.of([3, 5, 90]), (7,))] == [3, 5, 90]
    pieces = _pieces(part, (8, 13, 26))
    assert sum(piece.count for piece in pieces) == 40


def test_the_base_stays() -> None:
    base = IntervalSet.of([3, 70])
    search = CoarseBisection(IntervalSet.range(0, 100), base=base)
    while (asked := search.ask()) is not None:
        assert base <= asked
        search.tell(Outcome.FAIL if {40, 80} <= set(asked) else Outcome.PASS)
    assert set(search.c_fail) == {3, 40, 70, 80}
    with pytest.raises(ValueError, match="contained"):
        CoarseBisection(EMPTY, base=base)
