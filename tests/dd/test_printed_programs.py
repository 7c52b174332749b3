"""The loops of the printed programs, told once more in the plainest way, against ours."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import pytest
from hypothesis import given, settings

from replay_dd.dd import DD, EMPTY, SPLIT_RULES, Algorithm, BookDD, IntervalSet, Search
from replay_dd.outcome import Outcome
from tests.dd.support import F, Oracle, P, run
from tests.dd.test_properties import oracles


class Found(NamedTuple):
    """A round that moved: the two ends, the granularity of the next round, and the part at which it moved."""

    c_pass: IntervalSet
    c_fail: IntervalSet
    n: int
    part: int


Round = Callable[[Callable[[IntervalSet], Outcome], IntervalSet, IntervalSet, int, Sequence[int]], Found | None]


def slides_round(
    test: Callable[[IntervalSet], Outcome], c_pass: IntervalSet, c_fail: IntervalSet, n: int, order: Sequence[int]
) -> Found | None:
    """Page 17: within a part, four outcomes in the order of their worth; the first is looked at twice."""
    parts = SPLIT_RULES["floor"](c_fail - c_pass, n)
    for i in order:
        with_part, without_part = c_pass | parts[i], c_fail - parts[i]
        if test(without_part) is F and n == 2:
            return Found(c_pass, without_part, 2, i)
        if test(without_part) is P:
            return Found(without_part, c_fail, 2, i)
        if test(with_part) is F:
            return Found(c_pass, with_part, 2, i)
        if test(without_part) is F:
            return Found(c_pass, without_part, max(n - 1, 2), i)
        if test(with_part) is P:
            return Found(with_part, c_fail, max(n - 1, 2), i)
    return None


def book_round(mode: str) -> Round:
    def one_round(
        test: Callable[[IntervalSet], Outcome], c_pass: IntervalSet, c_fail: IntervalSet, n: int, order: Sequence[int]
    ) -> Found | None:
        """Whole subsets are asked about while there are two; each half of the questions belongs to one mode."""
        parts = SPLIT_RULES["front"](c_fail - c_pass, n)
        for i in order:
            with_part, without_part = c_pass | parts[i], c_fail - parts[i]
            if "-" in mode and n == 2 and test(with_part) is F:
                return Found(c_pass, with_part, 2, i)
            if "+" in mode and n == 2 and test(without_part) is P:
                return Found(without_part, c_fail, 2, i)
            if "-" in mode and test(without_part) is F:
                return Found(c_pass, without_part, max(n - 1, 2), i)
            if "+" in mode and test(with_part) is P:
                return Found(with_part, c_fail, max(n - 1, 2), i)
        return None

    return one_round


def printed(one_round: Round, oracle: Oracle, everything: IntervalSet, *, carried: bool) -> list[IntervalSet]:
    """All that a program asks for, repeated questions included; it refines after a round without a move, and then only.

    Args:
        carried: whether a round begins at the part at which the one before moved.
    """
    asked: list[IntervalSet] = []

    def test(configuration: IntervalSet) -> Outcome:
        asked.append(configuration)
        return oracle(configuration)

    c_pass, c_fail, n, offset = EMPTY, everything, 2, 0
    while (count := (c_fail - c_pass).count) > 1:
        found = one_round(test, c_pass, c_fail, n, [(j + offset) % n for j in range(n)])
        if found is not None:
            c_pass, c_fail, n, moved_at = found
            offset = moved_at if carried else 0
        elif n < count:
            n = min(2 * n, count)
        else:
            break
    return asked


def asked_by(algorithm: Algorithm, oracle: Oracle) -> list[IntervalSet]:
    search = run(Search(algorithm, cache=False), oracle)
    return [step.configuration for step in search.statistics]


@given(oracles())
@settings(max_examples=200)
def test_without_the_carried_offset_ours_asks_what_the_slides_ask(drawn: tuple[IntervalSet, Oracle]) -> None:
    universe, oracle = drawn
    ours = asked_by(DD(EMPTY, universe, carry_offset=False), oracle)
    assert ours == printed(slides_round, oracle, universe, carried=False)


@pytest.mark.parametrize("mode", ["-", "+", "+-"])
@given(oracles())
@settings(max_examples=100)
def test_ours_asks_what_the_book_asks(mode: str, drawn: tuple[IntervalSet, Oracle]) -> None:
    universe, oracle = drawn
    ours = asked_by(BookDD(EMPTY, universe, mode=mode), oracle)
    assert ours == printed(book_round(mode), oracle, universe, carried=True)


@given(oracles())
@settings(max_examples=50)
def test_the_offset_makes_no_difference_where_every_outcome_is_resolved(drawn: tuple[IntervalSet, Oracle]) -> None:
    universe, three_valued = drawn

    def oracle(configuration: IntervalSet) -> Outcome:
        outcome = three_valued(configuration)
        return outcome if outcome.resolved else P

    assert asked_by(DD(EMPTY, universe), oracle) == asked_by(DD(EMPTY, universe, carry_offset=False), oracle)


def test_the_offset_makes_a_difference_otherwise() -> None:
    def oracle(configuration: IntervalSet) -> Outcome:
        return F if configuration in (IntervalSet.of([0, 2]), IntervalSet.range(0, 3)) else Outcome.UNRESOLVED

    three = IntervalSet.range(0, 3)
    # The move that leaves {0, 2} is at the second of three parts.
    for carried, then in ((True, 0), (False, 2)):
        algorithm = DD(EMPTY, three, carry_offset=carried)
        while algorithm.deltas_left == 3:
            asked = algorithm.ask()
            assert asked is not None
            algorithm.tell(oracle(asked))
        assert algorithm.ask() == IntervalSet.of([then])
