"""The tables of ESEC/FSE 1999 through the circumstance of code changes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from replay_dd.changes.circumstance import CodeChanges
from replay_dd.changes.difference import Difference
from replay_dd.changes.workshop import Trial
from replay_dd.circumstance import ALGORITHMS
from replay_dd.dd import IntervalSet, Search, only_prefixes
from replay_dd.experiment.ending import Ending
from replay_dd.outcome import Outcome
from tests.changes.versions import difference
from tests.dd.support import F, P, U, parse, published, row

pytestmark = pytest.mark.once

Test = Callable[[IntervalSet], Outcome]
FAILURE = Ending(Outcome.FAIL, "the failure", "it fails", is_report=True)


class Model:
    """A workshop that runs nothing."""

    def __init__(self, test: Callable[[IntervalSet], Trial]) -> None:
        self._test = test
        self.trials = 0

    def trial(self, deltas: IntervalSet, *, clean: bool = False) -> Trial:
        self.trials += 1
        return self._test(deltas)


def as_trial(outcome: Outcome, missing: tuple[str, ...] = ()) -> Trial:
    if outcome is Outcome.FAIL:
        return Trial(FAILURE)
    return Trial(Ending(outcome, outcome.value, outcome.value), missing)


@pytest.fixture
def eight(tmp_path: Path) -> Difference:
    """Eight changed lines, of which none is beside another one."""
    lines = [f"line {number}\n" for number in range(1, 9)]
    return difference(
        tmp_path, {"f": "\n".join(lines)}, {"f": "\n".join(line.replace("line", "new") for line in lines)}
    )


def torn(configuration: IntervalSet) -> Outcome:
    return U if 0 < (configuration & parse("2-3 7")).count < 3 else F if 8 in configuration else P


def ordered(configuration: IntervalSet) -> Outcome:
    return U if configuration != parse("1-8").take(configuration.count) else F if 7 in configuration else P


def fails_with(*needed: int) -> Test:
    return lambda configuration: F if IntervalSet.of(needed) <= configuration else P


@pytest.mark.parametrize(
    "name, test, predicted, left",
    [
        ("ESEC99-T1", fails_with(7), False, 1),
        ("ESEC99-T2", fails_with(3, 6), False, 2),
        ("ESEC99-T3", fails_with(*range(1, 9)), False, 8),
        ("ESEC99-T5-T6", torn, False, 1),
        ("ESEC99-T7", ordered, False, 1),
        ("ESEC99-T7", ordered, True, 1),
    ],
)
def test_tables(name: str, test: Test, predicted: bool, left: int, eight: Difference) -> None:
    """Its rows in their order, then at most one more, which tests the result alone."""

    def trial(deltas: IntervalSet) -> Trial:
        return as_trial(test(shifted(deltas)))

    assert eight.all.count == 8
    circumstance = CodeChanges(eight, Model(trial), ["line"], algorithm="dd+")  # type: ignore[arg-type]
    circumstance.settle([FAILURE])
    search = Search(
        ALGORITHMS[circumstance.algorithm](circumstance.base, circumstance.universe),
        known={circumstance.base: P, circumstance.universe: F},
        predict=only_prefixes(circumstance.universe) if predicted else None,
    )
    while (configuration := search.ask()) is not None:
        search.tell(configuration, circumstance.judge(circumstance.run(configuration)).outcome)
    rows = [row(shifted(step.configuration), step.outcome) for step in search.statistics]
    expected = published()[name]["rows"]
    assert rows[: len(expected)] == expected
    assert len(rows) <= len(expected) + 1
    assert search.best.difference.count == left
    if predicted:
        assert search.executed == 3, "as in table 7"


def shifted(configuration: IntervalSet) -> IntervalSet:
    """Counted from 1."""
    return IntervalSet.of([delta + 1 for delta in configuration])
