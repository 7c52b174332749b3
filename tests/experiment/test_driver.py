"""The driver of all circumstances: baseline, search, refinement, proof."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

from replay_dd.circumstance import Circumstance, End, Found, Goal, Grouped, Items, Judgement
from replay_dd.dd import IntervalSet
from replay_dd.errors.program import DoesNotFailError, DoesNotPassError, NotDeterministicError, NotReproducedError
from replay_dd.experiment.baseline import Rate
from replay_dd.experiment.driver import Observer, isolate_cause
from replay_dd.experiment.process import LIVE
from replay_dd.experiment.result import TestRecord
from replay_dd.outcome import Outcome


class Numbers(Circumstance[frozenset[int]]):
    """Numbers, some of which fail together."""

    def __init__(self, amount: int, *needed: int, goal: Goal = Goal.SIMPLIFY, algorithm: str = "ddmin") -> None:
        self.universe = IntervalSet.range(0, amount)
        self.needed = frozenset(needed)
        self.goal = goal
        self.algorithm = algorithm
        self.runs: list[tuple[frozenset[int], bool]] = []

    def run(self, configuration: IntervalSet, *, fresh: bool = False) -> frozenset[int]:
        self.runs.append((frozenset(configuration), fresh))
        return frozenset(configuration)

    def judge(self, run: frozenset[int]) -> Judgement:
        if self.needed <= run:
            return Judgement(Outcome.FAIL, "it fails", "failure", failed=True)
        if 0 in run and len(run) == 1:
            return Judgement(Outcome.UNRESOLVED, "it hangs", "hang")
        return Judgement(Outcome.PASS, "it passes")

    def words(self, delta: int) -> str:
        return f"number {delta}"


@pytest.mark.parametrize("algorithm", ["ddmin", "bisection"])
@pytest.mark.parametrize("jobs", [1, 3])
def test_a_simplification(algorithm: str, jobs: int) -> None:
    circumstance = Numbers(16, 3, 11, algorithm=algorithm)
    told: list[TestRecord] = []
    found = isolate_cause(circumstance, jobs=jobs, observer=Observer(told.append))
    assert set(found.failing.configuration) == {3, 11}
    assert found.failing.run == {3, 11}
    assert (found.deltas_before, found.deltas_left) == (16, 2)
    assert (found.baseline.rate, found.proof.failing, found.proof.passing.runs) == (Rate(2, 2), Rate(3, 3), 0)
    assert (found.verified, found.complete, found.stopped_by, found.exit_code) == (True, True, None, 0)
    assert tuple(told) == found.steps
    assert [record.number for record in told] == list(range(1, len(told) + 1))
    if jobs == 1:
        assert found.runs == len(circumstance.runs) == 2 + 1 + len(told) + 3
        assert found.tests == len({run for run, _ in circumstance.runs})
        assert [fresh for _, fresh in circumstance.runs][-3:] == [True] * 3, "the proof rests on fresh runs"


def test_the_answer_does_not_depend_on_the_jobs() -> None:
    one, four = (isolate_cause(Numbers(40, 2, 17, 38), jobs=jobs) for jobs in (1, 4))
    assert one.failing == four.failing
    assert (one.tests, one.requested, one.steps) == (four.tests, four.requested, four.steps)


def test_an_isolation_ends_with_one_difference_and_proves_both_sides() -> None:
    found = isolate_cause(Numbers(16, 3, 11, goal=Goal.ISOLATE, algorithm="dd"))
    assert found.deltas_left == 1
    assert next(iter(found.difference)) in {3, 11}
    assert (found.proof.failing, found.proof.passing) == (Rate(3, 3), Rate(0, 3))
    assert found.verified
    assert repr(found) == f"<Isolation of 'it fails': number {found.difference.first}; {found.tests} tests>"


class Halved(Numbers):
    """Refines to the same numbers in another order, whose base is a configuration that was never run."""

    def __init__(self, *needed: int, base_fails: bool) -> None:
        super().__init__(8, *needed)
        self.base_fails = base_fails

    def refine(self, passing: Found[frozenset[int]], failing: Found[frozenset[int]]) -> Numbers | None:
        finer = Numbers(8, *(set() if self.base_fails else self.needed))
        finer.delta = "finer number"
        finer.key = lambda configuration: ("finer", configuration)  # type: ignore[method-assign]
        return finer


@pytest.mark.parametrize("base_fails", [True, False])
def test_a_refinement_with_a_base_of_its_own_tests_it_first(base_fails: bool) -> None:
    found = isolate_cause(Halved(2, 5, base_fails=base_fails))
    assert set(found.failing.configuration) == (set() if base_fails else {2, 5})
    assert found.verified
    first, second = found.stages
    assert (first.unit, first.before, first.left) == ("delta", 8, 2)
    assert (second.unit, second.before, second.left) == ("finer number", 8, 0 if base_fails else 2)
    assert first.tests + second.tests == len(found.steps)
    assert [step.unit for step in found.steps] == ["delta"] * first.tests + ["finer number"] * second.tests
    assert found.deltas_searched == 8


class Borrowing(Numbers):
    """Runs 5 together with 2, whatever it was asked for; what is evidence is run as it is."""

    def run(self, configuration: IntervalSet, *, fresh: bool = False) -> frozenset[int]:
        asked = super().run(configuration, fresh=fresh)
        return asked if fresh or 5 not in asked else asked | {2}

    def realised(self, configuration: IntervalSet, run: frozenset[int]) -> IntervalSet:
        return IntervalSet.of(sorted(run))


@pytest.mark.parametrize("jobs", [1, 3])
def test_what_was_only_asked_for_is_no_smaller_failure(jobs: int) -> None:
    found = isolate_cause(Borrowing(8, 2, 5), jobs=jobs)
    assert set(found.failing.configuration) == {2, 5}
    assert found.verified


def test_unresolved_tests_are_counted_once_each() -> None:
    found = isolate_cause(Numbers(2, 1))
    assert (found.tests, found.requested, found.runs) == (4, 4, 2 + 1 + 2 + 3), "both ends, and two tests"
    assert [(judgement.words, number) for judgement, number in found.unresolved] == [("it hangs", 1)]


def test_what_needs_nothing_is_an_answer_where_it_is_simplified_only() -> None:
    found = isolate_cause(Numbers(4))
    assert (found.baseline.base_fails, found.deltas_left, found.failing.run) == (True, 0, frozenset())
    assert found.verified
    with pytest.raises(DoesNotPassError, match="it fails"):
        isolate_cause(Numbers(4, goal=Goal.ISOLATE, algorithm="dd"))


def test_what_does_not_fail_is_told() -> None:
    with pytest.raises(DoesNotFailError, match="it passes"):
        isolate_cause(Numbers(4, 9))


def test_limits_give_the_best_so_far() -> None:
    found = isolate_cause(Numbers(64, 1, 60), max_tests=3)
    assert (found.complete, found.stopped_by, found.proof.made, found.exit_code) == (False, "tests", False, 0)
    assert len(found.steps) == 3
    assert {1, 60} <= set(found.failing.configuration)
    late = isolate_cause(Numbers(64, 1, 60), time_limit_s=1e-9)
    assert (late.stopped_by, late.steps) == ("time", ())


@pytest.mark.parametrize("after", range(1, 14))
def test_ctrl_c_at_any_moment(after: int) -> None:
    class Interrupted(Numbers):
        def run(self, configuration: IntervalSet, *, fresh: bool = False) -> frozenset[int]:
            if len(self.runs) == after:
                self.runs.append((frozenset(), False))
                raise KeyboardInterrupt
            return super().run(configuration, fresh=fresh)

    circumstance = Interrupted(8, 2, 5)
    if after < 3:  # nothing is known yet
        with pytest.raises(KeyboardInterrupt):
            isolate_cause(circumstance, jobs=2)
        assert not LIVE.stopped, "a script can go on"
        return
    found = isolate_cause(circumstance)
    assert not LIVE.stopped, "a script can go on"
    assert (found.interrupted, found.exit_code) == (True, 130)
    assert {2, 5} <= set(found.failing.configuration)


class Replays(Numbers):
    """Runs that reveal their order, like a program that is not deterministic."""

    def __init__(self, *parts: str, recorded: frozenset[int] | None = None) -> None:
        super().__init__(4, 1)
        self.parts = list(parts)
        self.record = recorded

    def compare(self, one: frozenset[int], other: frozenset[int]) -> str:
        return self.parts.pop(0) if self.parts else ""

    def recorded(self, end: End) -> frozenset[int] | None:
        return self.record

    def diagnose(self, end: End) -> str:
        return f"{end.value} runs part"


def test_runs_that_differ_are_refused_unless_they_may() -> None:
    with pytest.raises(NotDeterministicError, match="failing runs part"):
        isolate_cause(Replays("differ"))
    flaky = Replays("differ")
    flaky.flaky = True
    assert isolate_cause(flaky).verified


def test_runs_that_are_not_the_recorded_one_are_refused_unless_that_is_accepted() -> None:
    with pytest.raises(NotReproducedError, match="diverges: elsewhere"):
        isolate_cause(Replays("", "elsewhere", recorded=frozenset({1})))
    accepted = Replays("", "elsewhere", recorded=frozenset({1}))
    accepted.faithful = False
    assert isolate_cause(accepted).failing.run == {1}


def test_an_answer_whose_fresh_runs_differ_does_not_hold() -> None:
    found = isolate_cause(Replays("", "", "differ"))
    assert (found.proof.failing, found.verified, found.exit_code) == (Rate(3, 3), False, 4)


class Relapsing(Numbers):
    """What passes in the search fails in fresh runs."""

    def __init__(self) -> None:
        super().__init__(8, 3, 5, goal=Goal.ISOLATE, algorithm="dd")

    def prove(self, configuration: IntervalSet, run: frozenset[int]) -> frozenset[int]:
        return run | self.needed


@pytest.mark.parametrize("flaky", [False, True])
def test_an_answer_whose_passing_side_fails_does_not_hold(flaky: bool) -> None:
    circumstance = Relapsing()
    circumstance.flaky = flaky
    found = isolate_cause(circumstance)
    # Where runs may vary, this sends the search back.
    runs = 12 if flaky else 3
    assert (found.proof.failing, found.proof.passing) == (Rate(runs, runs), Rate(runs, runs))
    assert (found.verified, found.exit_code) == (False, 4)


class Ending(Numbers):
    """Ends at the first number that fails together with those before: later ones are not needed."""

    def run(self, configuration: IntervalSet, *, fresh: bool = False) -> frozenset[int]:
        whole = super().run(configuration, fresh=fresh)
        if not self.needed <= whole:
            return whole
        return frozenset(number for number in whole if number <= max(self.needed))

    def reached(self, configuration: IntervalSet, run: frozenset[int]) -> IntervalSet:
        return configuration & IntervalSet.of(sorted(run))

    def known(self) -> Mapping[IntervalSet, Outcome]:
        return {self.base: Outcome.PASS}


def test_what_a_run_did_not_reach_is_not_needed() -> None:
    early = Ending(100, 3, 5, algorithm="bisection")
    found = isolate_cause(early)
    assert set(found.failing.configuration) == {3, 5}
    tested = [run for run, _ in early.runs[2:]]
    assert max(max(run, default=0) for run in tested) <= 5, "the baseline has said so"
    assert frozenset() not in [run for run, _ in early.runs], "what is known is not run"


def test_refining_looks_inside_the_groups_that_are_left() -> None:
    inner = Numbers(12, 1, 8)
    groups = [IntervalSet.range(first, first + 4) for first in (0, 4, 8)]
    found = isolate_cause(Grouped(inner, groups))
    assert found.circumstance is inner
    assert set(found.failing.configuration) == {1, 8}
    assert found.deltas_before == 3
    assert not any(5 in run for run, _ in inner.runs[-8:])


class Narrowed(Numbers):
    """The final runs reveal another difference."""

    def refine(self, passing: Found[frozenset[int]], failing: Found[frozenset[int]]) -> Numbers | None:
        assert passing.run is not None
        assert failing.run is not None
        self.seen = passing.run, failing.run
        finer = Numbers(20, 3, 15, goal=Goal.ISOLATE, algorithm="dd")
        finer.base = IntervalSet.of(sorted(passing.run))
        return finer


def test_an_isolation_goes_on_with_what_is_left() -> None:
    found = isolate_cause(Narrowed(16, 3, 11, goal=Goal.ISOLATE, algorithm="dd"))
    assert found.circumstance.universe.count == 20
    assert found.deltas_left == 1
    assert found.verified


def test_items_with_a_text_for_each_failure() -> None:
    def judge(run: tuple[object, ...]) -> str | None:
        return "both" if {"a", "b"} <= set(run) else "another" if "b" in run else None

    found = isolate_cause(Items("xaybz", lambda items: items, judge, words=lambda item: f"<{item}>"))
    assert found.failing.run == ("a", "b")
    assert found.failure.words == "both"
    assert [found.circumstance.words(delta) for delta in found.difference] == ["<a>", "<b>"]
    assert {judgement.words for judgement, _ in found.unresolved} == {"another"}


def test_items_may_be_judged_by_outcomes_and_isolated() -> None:
    def judge(run: Sequence[object]) -> Outcome:
        return Outcome.FAIL if 7 in run else Outcome.PASS

    found = isolate_cause(Items(range(20), tuple, judge, algorithm="dd"))
    assert [found.circumstance.words(delta) for delta in found.difference] == ["7"]
    assert replace(found, steps=()).verified


class Slow(Numbers):
    """Needs 1 and 2; with just these, it is close to the limit, and fails only when it is run again."""

    flaky = True

    def __init__(self, *, by_degree: bool) -> None:
        super().__init__(3, 1, 2, algorithm="bisection")
        self._by_degree = by_degree

    @property
    def gradual(self) -> bool:
        return self._by_degree

    def run(self, configuration: IntervalSet, *, fresh: bool = False) -> frozenset[int]:
        numbers = super().run(configuration, fresh=fresh)
        first = numbers == self.needed and self.runs.count((numbers, fresh)) == 1 and not fresh
        return numbers - {1} if first else numbers


def test_a_failure_by_degree_puts_no_other_run_in_doubt() -> None:
    found = isolate_cause(Slow(by_degree=True))
    assert set(found.failing.configuration) == {1, 2}
    assert (found.failure.outcome, found.verified, found.baseline.intermittent) == (Outcome.FAIL, True, False)
    doubted = isolate_cause(Slow(by_degree=False))
    assert set(doubted.failing.configuration) == {1, 2}
    assert doubted.baseline.intermittent
    assert found.runs < doubted.runs
