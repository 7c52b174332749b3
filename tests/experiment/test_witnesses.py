"""What a search has seen to be needed."""

from __future__ import annotations

import pytest

from replay_dd.dd import EMPTY, IntervalSet
from replay_dd.experiment.witnesses import Witnesses
from replay_dd.outcome import Outcome

pytestmark = pytest.mark.once


def without(*deltas: int, of: int = 6) -> IntervalSet:
    return IntervalSet.range(0, of) - IntervalSet.of(deltas)


def test_two_configurations_that_lack_one_delta_of_a_failing_one_witness_its_need() -> None:
    witnesses = Witnesses(without())
    witnesses.add(without(2), Outcome.PASS)
    assert witnesses.twice(without()) == EMPTY
    witnesses.add(without(5), Outcome.FAIL)
    witnesses.add(without(2, 5), Outcome.UNRESOLVED)
    assert witnesses.twice(without(5)) == IntervalSet.of([2])


def test_no_witness_counts_where_something_passed_that_holds_the_answer() -> None:
    witnesses = Witnesses(without())
    for configuration, outcome in (
        (without(2), Outcome.PASS),
        (without(3), Outcome.PASS),
        (without(5), Outcome.FAIL),
        (without(2, 5), Outcome.PASS),
    ):
        witnesses.add(configuration, outcome)
    assert witnesses.twice(without(4, 5)) == IntervalSet.of([2])
    assert witnesses.twice(without(3, 5)) == EMPTY


@pytest.mark.parametrize(
    "then",
    [
        # The same configuration again, more than one delta, and one that is not part of the failing one.
        [(without(2), Outcome.PASS)],
        [(without(2, 3), Outcome.PASS)],
        [(without(0, 1), Outcome.FAIL), (without(2, 3), Outcome.PASS)],
    ],
)
def test_anything_else_witnesses_nothing(then: list[tuple[IntervalSet, Outcome]]) -> None:
    witnesses = Witnesses(without())
    witnesses.add(without(2), Outcome.PASS)
    for configuration, outcome in then:
        witnesses.add(configuration, outcome)
    assert witnesses.twice(without(0, 1)) == EMPTY
