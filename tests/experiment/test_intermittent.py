"""Searches for failures that show in some of the runs only: simulated circumstances with known rates, many seeds."""

from __future__ import annotations

import random
from dataclasses import dataclass

import pytest

from replay_dd.circumstance import Circumstance, Goal, Judgement
from replay_dd.dd import IntervalSet
from replay_dd.errors.program import DoesNotFailError, NotReproducedError
from replay_dd.experiment.baseline import Baseline, Rate
from replay_dd.experiment.driver import isolate_cause
from replay_dd.experiment.proof import keeps_promise
from replay_dd.experiment.result import Isolation
from replay_dd.outcome import Outcome

FAILURE = Judgement(Outcome.FAIL, "it fails", "failure", failed=True)


@dataclass
class Setting:
    """What a simulated program does.

    Attributes:
        amount: how many deltas there are.
        needed: which of them make it fail.
        rate: how often it fails with these.
        otherwise: how often it fails without.
    """

    amount: int
    needed: frozenset[int]
    rate: float
    otherwise: float = 0.0


class Simulated(Circumstance[bool]):
    """A run is whether it failed."""

    flaky = True

    def __init__(self, setting: Setting, seed: int, *, algorithm: str = "bisection") -> None:
        self.universe = IntervalSet.range(0, setting.amount)
        self.algorithm = algorithm
        self.goal = Goal.ISOLATE if algorithm == "dd" else Goal.SIMPLIFY
        self._setting = setting
        self._chance = random.Random(seed)

    def run(self, configuration: IntervalSet, *, fresh: bool = False) -> bool:
        setting = self._setting
        return self._chance.random() < (
            setting.rate if setting.needed <= frozenset(configuration) else setting.otherwise
        )

    def judge(self, run: bool) -> Judgement:
        return FAILURE if run else Judgement(Outcome.PASS, "it passes")


def searches(rate: float, number: int, algorithm: str = "bisection") -> list[tuple[Setting, Isolation[bool]]]:
    found = []
    for seed in range(number):
        setting = Setting(60, frozenset(random.Random(seed).sample(range(60), 3)), rate)
        found.append((setting, isolate_cause(Simulated(setting, seed, algorithm=algorithm))))
    return found


@pytest.mark.parametrize("rate", [0.97, 0.9, 0.75, 0.6, 0.4])
@pytest.mark.parametrize("algorithm", ["bisection", "ddmin"])
def test_the_answer_is_the_same_whatever_the_rate(rate: float, algorithm: str) -> None:
    found = searches(rate, 40, algorithm)
    wrong = [setting for setting, one in found if set(one.failing.configuration) != setting.needed]
    assert len(wrong) <= 1
    assert sum(not one.verified for _, one in found) <= 1


@pytest.mark.parametrize("rate", [0.9, 0.6])
def test_a_difference_is_isolated_whatever_the_rate(rate: float) -> None:
    found = searches(rate, 40, "dd")
    assert all(one.deltas_left == 1 for _, one in found)
    assert sum(not set(one.difference) <= setting.needed for setting, one in found) <= 1


def test_a_steady_failure_is_cheap() -> None:
    for setting, one in searches(1.0, 10):
        assert set(one.failing.configuration) == setting.needed
        # Six runs of the whole, one of each test, one more of each part of the answer, and three for the proof.
        assert one.runs <= 6 + one.tests - 1 + 3 + 3
        assert (one.baseline.rate, one.baseline.repeat, one.proof.failing) == (Rate(6, 6), 1, Rate(3, 3))


def test_what_fails_by_chance_is_not_the_failure() -> None:
    """Without its cause the program fails in one of 20 runs: one failure of a configuration proves nothing."""
    right = 0
    for seed in range(40):
        setting = Setting(60, frozenset(random.Random(seed).sample(range(60), 3)), 0.9, otherwise=0.05)
        right += set(isolate_cause(Simulated(setting, seed)).failing.configuration) == setting.needed
    assert right >= 37


class Scripted(Simulated):
    """Fails in the first runs without fail, and then at a rate."""

    def __init__(self, setting: Setting, seed: int, steady_runs: int) -> None:
        super().__init__(setting, seed)
        self._steady_runs = steady_runs
        self.number = 0

    def run(self, configuration: IntervalSet, *, fresh: bool = False) -> bool:
        self.number += 1
        if self.number <= self._steady_runs:
            return self._setting.needed <= frozenset(configuration)
        return super().run(configuration, fresh=fresh)


def test_a_proof_below_the_promise_sends_the_search_back() -> None:
    setting = Setting(60, frozenset({7, 30, 51}), 0.6)
    # The baseline takes the failure for steady.
    found = [isolate_cause(Scripted(setting, seed, steady_runs=6)) for seed in range(20)]
    assert sum(set(one.failing.configuration) != setting.needed for one in found) <= 1
    again = [one for one in found if one.baseline.intermittent]
    assert len(again) >= 16, "three runs of a proof can all fail, too"
    assert all(one.baseline.repeat > 1 and one.proof.failing.runs >= 12 for one in again)
    assert sum(not one.verified for one in again) <= 1


def test_a_failure_that_never_shows_again_is_not_an_answer() -> None:
    found = isolate_cause(Scripted(Setting(8, frozenset({3}), 0.0), 1, steady_runs=30))
    assert found.verified
    found = isolate_cause(Scripted(Setting(8, frozenset({3}), 0.0), 1, steady_runs=11))
    assert not found.verified
    assert found.exit_code == 4


def test_a_failure_that_does_not_show_is_told() -> None:
    with pytest.raises(DoesNotFailError, match="does not fail"):
        isolate_cause(Simulated(Setting(8, frozenset({3}), 0.0), 1))


def test_a_failure_that_is_too_rare_is_refused() -> None:
    refused = 0
    for seed in range(20):
        try:
            isolate_cause(Simulated(Setting(8, frozenset({3}), 0.06), seed))
        except (NotReproducedError, DoesNotFailError):
            refused += 1
    assert refused >= 15
    with pytest.raises(NotReproducedError, match=r"only [12] of 24 runs: too rarely") as caught:
        isolate_cause(Scripted(Setting(8, frozenset({3}), 0.0), 1, steady_runs=1))
    assert caught.value.hint == Simulated.rare_hint


def test_given_repeats_are_kept() -> None:
    found = isolate_cause(Simulated(Setting(8, frozenset({3}), 0.6), 3), repeat=5)
    assert (found.baseline.repeat, found.baseline.intermittent) == (5, False)


def test_jobs_do_not_change_how_often_the_whole_is_run() -> None:
    setting = Setting(20, frozenset({3, 11}), 0.6)
    rates = {isolate_cause(Simulated(setting, 5), jobs=jobs).baseline.rate.runs for jobs in (1, 4)}
    assert rates == {12}


def test_what_a_proof_must_show() -> None:
    steady = Baseline(FAILURE, Rate(6, 6))
    assert keeps_promise(Rate(3, 3), steady)
    assert not keeps_promise(Rate(2, 3), steady)
    often = Baseline(FAILURE, Rate(9, 12), repeat=4, intermittent=True)
    assert keeps_promise(Rate(7, 12), often)
    assert not keeps_promise(Rate(5, 12), Baseline(FAILURE, Rate(11, 12), repeat=2, intermittent=True))
    assert not keeps_promise(Rate(2, 12), often)
    assert not keeps_promise(Rate(0, 12), Baseline(FAILURE, Rate(1, 36), repeat=10, intermittent=True))
