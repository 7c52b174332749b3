"""The sequential probability ratio test, against its definition and by simulation."""

from __future__ import annotations

import random

import pytest

from replay_dd.experiment.baseline import Rate, sequential_test, steady_test
from replay_dd.experiment.sequential import SequentialTest, at_most

TEST = SequentialTest(often=0.6, rarely=0.1, error=0.05, most_runs=40)


def simulated(rate: float, chance: random.Random) -> tuple[bool, int]:
    """What the test says about a failure rate, and after how many runs."""
    failed = runs = 0
    while (fails := TEST.fails(failed, runs)) is None:
        failed, runs = failed + (chance.random() < rate), runs + 1
    return fails, runs


@pytest.mark.parametrize(("rate", "wrong"), [(0.6, False), (0.8, False), (0.1, True), (0.0, True)])
def test_errors_are_as_rare_as_promised(rate: float, wrong: bool) -> None:
    chance = random.Random(1)
    said = [simulated(rate, chance) for _ in range(4000)]
    assert sum(fails is wrong for fails, _ in said) / len(said) <= TEST.error
    # With a fixed number, 9 runs are needed: 3 or more fail with a probability of 97.5 % at the higher rate, and of
    # 5.3 % at the lower one.
    assert sum(runs for _, runs in said) / len(said) < 6


def test_runs_that_do_not_fail_decide_after_the_bound_of_wald() -> None:
    # 4 runs: (0.4 / 0.9)^4 = 0.039 is below 0.05 / 0.95, and (0.4 / 0.9)^3 = 0.088 is not.
    assert TEST.runs_to_pass == 4
    assert [TEST.fails(0, runs) for runs in (0, 3, 4)] == [None, None, False]
    assert [TEST.fails(failed, failed) for failed in (1, 2)] == [None, True]


def test_at_the_limit_the_likelier_rate_is_taken() -> None:
    close = SequentialTest(often=0.6, rarely=0.5, error=0.01, most_runs=10)
    assert (close.fails(6, 9), close.fails(6, 10), close.fails(5, 10)) == (None, True, False)


def test_a_stricter_test_errs_less_and_may_run_longer() -> None:
    strict = TEST.stricter(0.01)
    assert (strict.error, strict.most_runs, TEST.stricter(0.2).error) == (0.01, 2 * TEST.most_runs, TEST.error)
    assert strict.often < TEST.often
    assert strict.rarely < TEST.rarely
    assert strict.runs_to_pass > TEST.runs_to_pass


def test_a_failure_is_steady_until_a_run_does_not_fail() -> None:
    steady = steady_test(0.05)
    assert [steady.fails(runs, runs) for runs in (2, 5, 6)] == [None, None, True]
    assert steady.fails(5, 6) is False
    assert steady.fails(0, 1) is False
    assert [steady_test(0.2).fails(runs, runs) for runs in (2, 3)] == [None, True]


def test_a_lower_failure_rate_needs_more_runs() -> None:
    needed = [sequential_test(Rate(failed, 12)).runs_to_pass for failed in (12, 9, 6, 3)]
    assert needed == sorted(needed)
    assert (needed[0], needed[-1]) == (2, 15)


def test_a_binomial_tail() -> None:
    assert at_most(1, 3, 0.5) == 0.5
    assert at_most(3, 3, 0.2) == pytest.approx(1)
