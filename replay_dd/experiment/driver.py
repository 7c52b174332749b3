"""The driver of all circumstances: baseline, search, refine, prove.

Rules of this module:

* It does not know what a delta is; all that differs between circumstances is in
  :class:`~replay_dd.circumstance.Circumstance`.
* The baseline comes first: nothing is concluded from ends that were not seen to pass and to fail.
* A simplification learns from runs that ended early: deltas that they had not reached were not needed. It restarts from
  any smaller failure that it saw, until there is none.
* After each search the circumstance may name a narrower or finer difference, which is searched next.
* If runs vary, nothing rests on one run: each delta of the answer is left out again, often enough to be sure that it is
  needed, and an answer whose proof is worse than the baseline promises sends the search back with more runs per test.
  Where no run has varied so far, a delta is needed if two runs say so, whatever else was still there.
* Runs that the baseline made at the same time may not have met, or only mixtures may meet: where tests ended in ways
  that mean nothing, some are run again alone before a search is believed.
* Under a limit, bisection is preceded by coarse passes: they need more tests in all, but give better results early.
* However a search ends, the best result so far is the answer; only the answer of a complete search is proved.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Generic, NamedTuple

from replay_dd.circumstance import ALGORITHMS, Circumstance, Found, Goal, Run
from replay_dd.dd import EMPTY, Algorithm, BaseFirst, CoarseBisection, IntervalSet, PairsToo, Search, Step
from replay_dd.experiment.baseline import Baseline, measure, measure_again
from replay_dd.experiment.guard import GUARD
from replay_dd.experiment.process import LIVE
from replay_dd.experiment.proof import PROOF_RUNS, Proof, prove
from replay_dd.experiment.result import Isolation, Stage, TestRecord
from replay_dd.experiment.search import SearchResult, StoppedBy, run_search
from replay_dd.experiment.testing import Tests
from replay_dd.experiment.witnesses import Witnesses
from replay_dd.outcome import Outcome


class Observer(NamedTuple):
    """Receives progress; the first two functions are called in the driver's thread.

    Attributes:
        on_test: called after each test, in serial order.
        on_stage: called with a description of each stage as it begins.
        on_note: called with what the user should know now, in words; by any thread.
    """

    on_test: Callable[[TestRecord], None] = lambda record: None
    on_stage: Callable[[str], None] = lambda words: None
    on_note: Callable[[str], None] = lambda words: None


NO_OBSERVER = Observer()

# How often a search is made at most if its proof fails.
_MOST_SEARCHES = 3
# The probability that an answer contains a delta that is not needed, as far as that depends on varying runs.
_SUPERFLUOUS = 0.01


def isolate_cause(
    circumstance: Circumstance[Run],
    *,
    jobs: int = 1,
    max_tests: int | None = None,
    time_limit_s: float | None = None,
    repeat: int | None = None,
    proof_runs: int = PROOF_RUNS,
    observer: Observer = NO_OBSERVER,
    tests: Tests[Run] | None = None,
) -> Isolation[Run]:
    """Find what causes a failure: the smallest failing configuration, or the minimal difference from a passing one.

    Args:
        circumstance: what to search.
        jobs: the number of parallel runs, or 1 if they disturb each other; the answer does not depend on it.
        max_tests: stop with the best result so far after this many tests.
        time_limit_s: stop with the best result so far before the first test after this many seconds.
        repeat: how many times to run a configuration that does not fail; None to derive it from how often the failing
            end fails.
        proof_runs: the number of fresh runs of the answer; 0 for none.
        observer: receives progress.
        tests: runs the configurations, for callers that need its results afterwards.

    Raises:
        ReplayDDError: the ends do not pass and fail as claimed, or cannot be run.
    """
    limits = _Limits(jobs, max_tests, None if time_limit_s is None else time.monotonic() + time_limit_s)
    # Ctrl-C ends what runs, and what would be started meanwhile; a script may go on after that.
    with LIVE.reopened_after(), GUARD.held():
        return _isolate_cause(tests or Tests(circumstance), limits, repeat, proof_runs, observer)


def _isolate_cause(
    tests: Tests[Run], limits: _Limits, repeat: int | None, proof_runs: int, observer: Observer
) -> Isolation[Run]:
    started = time.monotonic()
    circumstance = tests.circumstance
    observer.on_stage(f"running the failing {circumstance.subject}")
    baseline = measure(tests, jobs=limits.jobs, repeat=repeat)
    jobs = baseline.jobs
    limits = limits._replace(jobs=jobs)
    # The baseline may narrow the universe, so the deltas are counted after it.
    course = _Course(tests, limits, observer)
    deltas_before = circumstance.shown(circumstance.universe - circumstance.base).count
    proof, stopped_by = Proof(), None
    for attempt in range(1, _MOST_SEARCHES + 1):
        if baseline.base_fails:
            base = Found(circumstance.base, tests.of(circumstance.base)[0])
            passing, failing = base, base
            refined = circumstance.refine(base, base) if circumstance.goes_on_from_base else None
            if refined is not None:
                course.go_on_with(refined, base, base)
                passing, failing = course.search_all()
        else:
            passing, failing = course.search_all()
        stopped_by = course.stopped_by
        if course.disturbed:
            jobs = 1
            baseline = baseline._replace(jobs=jobs, disturbed=course.disturbed)
        try:
            if stopped_by is None and proof_runs and not course.doubtful:
                observer.on_stage("proving the answer")
                proof = prove(tests, baseline, passing, failing, jobs=jobs, runs=proof_runs)
            if not _should_search_again(course, baseline, proof, repeat) or attempt == _MOST_SEARCHES:
                break
            observer.on_stage("the failure does not show every time: measuring how often before searching again")
            tests.continue_with(circumstance)
            measured = measure_again(tests, baseline, jobs=jobs)
            if measured is None:
                proof = proof if proof.made else prove(tests, baseline, passing, failing, jobs=jobs, runs=proof_runs)
                break
            baseline, proof, course.doubtful = measured, Proof(), False
        except KeyboardInterrupt:
            LIVE.kill_all()
            stopped_by, proof = "interrupt", Proof()
            break
    return Isolation(
        circumstance=tests.circumstance,
        failure=tests.circumstance.judge(failing.run) if failing.run is not None else baseline.failure,
        passing=passing,
        failing=failing,
        deltas_before=deltas_before,
        baseline=baseline,
        proof=proof,
        tests=tests.tested,
        requested=course.requested,
        runs=tests.runs,
        unresolved=tests.unresolved(),
        stopped_by=stopped_by,
        seconds=time.monotonic() - started,
        steps=tuple(course.steps),
        stages=tuple(course.stages),
    )


def _should_search_again(course: _Course[Run], baseline: Baseline, proof: Proof, repeat: int | None) -> bool:
    """Whether the runs so far show that the search was misled by runs that vary."""
    if course.stopped_by is not None or repeat is not None or baseline.base_fails:
        return False
    return course.doubtful or (course.flaky and proof.made and not proof.holds)


class _Limits(NamedTuple):
    jobs: int
    max_tests: int | None
    ends_at: float | None

    @property
    def limited(self) -> bool:
        """Whether the search may be stopped early."""
        return self.max_tests is not None or self.ends_at is not None

    def is_late(self) -> bool:
        """Whether the time is over."""
        return self.ends_at is not None and time.monotonic() >= self.ends_at


class _Course(Generic[Run]):
    """A sequence of searches: restarted from smaller failures, and continued with refined circumstances."""

    def __init__(self, tests: Tests[Run], limits: _Limits, observer: Observer) -> None:
        self._tests = tests
        self._limits = limits
        self._observer = observer
        self._executed = 0
        self._outcomes: dict[IntervalSet, Outcome] = {}
        self._seen: set[IntervalSet] = set()
        self._witnesses = Witnesses(EMPTY)
        self.requested = 2
        self.flaky = tests.circumstance.flaky
        self.doubtful = False
        self.disturbed = ""
        self.steps: list[TestRecord] = []
        self.stages: list[Stage] = []
        self.stopped_by: StoppedBy | None = None

    def search_all(self) -> tuple[Found[Run], Found[Run]]:
        """Search the circumstance and its refinements, to the end or a limit; return both sides."""
        while True:
            circumstance, steps_before = self._tests.circumstance, len(self.steps)
            result = self._search(circumstance)
            before = circumstance.shown(circumstance.universe - circumstance.base).count
            left = circumstance.shown(result.difference).count
            stage = Stage(circumstance.delta, before, left, len(self.steps) - steps_before)
            self.stages.append(stage)
            passing = self._found(result.c_pass, needed=circumstance.goal is Goal.ISOLATE)
            failing = self._found(result.c_fail, needed=True)
            self.stopped_by = result.stopped_by
            refined = None if self.stopped_by else circumstance.refine(passing, failing)
            if refined is None:
                return passing, failing
            self.go_on_with(refined, passing, failing)

    def go_on_with(self, refined: Circumstance[Run], passing: Found[Run], failing: Found[Run]) -> None:
        """Search a refinement next.

        Args:
            refined: the refinement.
            passing: the passing side of what it refines.
            failing: the failing side.
        """
        self._tests.continue_with(refined)
        # Its ends are the runs that were just found; except for the base of a simplification, which may be its own.
        ends = [(refined.universe, failing)]
        if refined.goal is Goal.ISOLATE:
            ends.append((refined.base, passing))
        for end, found in ends:
            if found.run is not None and self._tests.known(end) is None:
                self._tests.remember(end, found.run, refined.judge(found.run))

    def _found(self, configuration: IntervalSet, *, needed: bool) -> Found[Run]:
        made = self._tests.of(configuration) if needed else self._tests.known(configuration)
        return Found(configuration, None if made is None else made[0])

    def _search(self, circumstance: Circumstance[Run]) -> SearchResult:
        current = circumstance.universe
        known = self._tests.known(current)
        if known is not None:
            current = circumstance.reached(current, known[0])
            self._tests.remember(current, *known)
        self._seen = set()
        self._witnesses = Witnesses(current)
        self._outcomes = {**circumstance.known(), current: Outcome.FAIL}
        base = self._tests.known(circumstance.base)
        if base is not None and base[1].outcome is Outcome.FAIL:
            self._outcomes[circumstance.base] = Outcome.FAIL
        elif base is not None or circumstance.goal is Goal.ISOLATE:
            # Known from the baseline or the previous search; in a simplification, at least it does not fail.
            self._outcomes.setdefault(circumstance.base, Outcome.PASS)
        while True:
            result = self._search_once(circumstance, current)
            smaller = self._smallest_failure(result.c_fail) if circumstance.goal is Goal.SIMPLIFY else result.c_fail
            if result.stopped_by is not None:
                return result
            if smaller.count >= result.c_fail.count:
                try:
                    refuted = self._refuted(circumstance, result.c_fail)
                    again = refuted is None and self._was_disturbed()
                except KeyboardInterrupt:
                    LIVE.kill_all()
                    return replace(result, complete=False, stopped_by="interrupt")
                if self.doubtful or (refuted is None and not again):
                    return result
                smaller = refuted or result.c_fail
            current = smaller

    def _refuted(self, circumstance: Circumstance[Run], answer: IntervalSet) -> IntervalSet | None:
        """A part of the answer that fails after all if it is run more often."""
        if circumstance.goal is not Goal.SIMPLIFY or not self.flaky or self._tests.repeat > 1:
            return None
        if not circumstance.confirmed and self._tests.sequential is None:
            return None
        known = circumstance.known()
        deltas = answer - circumstance.base
        if self._tests.sequential is None:
            deltas = deltas - self._witnesses.twice(answer)
        parts = [answer - IntervalSet.of([delta]) for delta in deltas]
        found = self._tests.fails_after_all(
            [part for part in parts if part not in known], _SUPERFLUOUS, self._limits.jobs, self._limits.is_late
        )
        if found is not None:
            # If nothing was run more than once, all other tests are in doubt, too.
            self.doubtful = self._tests.sequential is None and not circumstance.gradual
            self._outcomes[found] = Outcome.FAIL
        return found

    def _was_disturbed(self) -> bool:
        """Whether tests disturbed each other; what they left unresolved is then tested again, one run at a time."""
        if self._limits.jobs == 1 or self._limits.is_late() or not self.flaky or self._tests.sequential is not None:
            return False
        unresolved = [one for one, outcome in self._outcomes.items() if outcome is Outcome.UNRESOLVED]
        self.disturbed = self._tests.disturbed([one for one in unresolved if self._tests.known(one) is not None])
        if not self.disturbed:
            return False
        self._observer.on_stage("runs at the same time disturb each other: searching again, one run at a time")
        self._limits = self._limits._replace(jobs=1)
        self._tests.forget_unresolved()
        for one in unresolved:
            del self._outcomes[one]
        self._seen.difference_update(unresolved)
        return True

    def _search_once(self, circumstance: Circumstance[Run], current: IntervalSet) -> SearchResult:
        limits = self._limits
        algorithm = self._algorithm(circumstance, current)
        if self._outcomes.get(circumstance.base) is not Outcome.PASS:
            # It is no configuration of an earlier search, as the bases of most refinements are.
            algorithm = BaseFirst(algorithm)
        search = Search(algorithm, known=self._outcomes, realised=self._realised)
        result = run_search(
            search,
            self._tests.outcome,
            jobs=limits.jobs,
            max_tests=None if limits.max_tests is None else max(limits.max_tests - self._executed, 0),
            time_limit_s=None if limits.ends_at is None else limits.ends_at - time.monotonic(),
            on_test=self._on_step,
            on_interrupt=LIVE.kill_all,
        )
        self._executed += result.executed
        self.requested += result.requested
        return result

    def _realised(self, configuration: IntervalSet) -> IntervalSet:
        made = self._tests.known(configuration)
        return configuration if made is None else self._tests.circumstance.realised(configuration, made[0])

    def _algorithm(self, circumstance: Circumstance[Run], current: IntervalSet) -> Algorithm:
        own = circumstance.own_algorithm(current)
        if own is not None:
            return own
        if circumstance.pairs and circumstance.goal is Goal.SIMPLIFY and self._tests.sequential is None:
            return PairsToo(lambda failing: self._one_by_one(circumstance, failing), current, circumstance.alike)
        return self._one_by_one(circumstance, current)

    def _one_by_one(self, circumstance: Circumstance[Run], current: IntervalSet) -> Algorithm:
        if circumstance.algorithm == "bisection" and self._limits.limited:
            return CoarseBisection(current, base=circumstance.base, cuts=circumstance.cuts)
        return ALGORITHMS[circumstance.algorithm](circumstance.base, current)

    def _on_step(self, step: Step) -> None:
        """Count a committed test, in serial order, and record what it says about smaller configurations."""
        configuration, outcome = step.configuration, step.outcome
        self._outcomes[configuration] = outcome
        self._witnesses.add(configuration, outcome)
        self._tests.count(configuration)
        run, judgement = self._tests.of(configuration)
        self._tests.circumstance.tested(configuration, run)
        realised = self._realised(configuration)
        if realised != configuration:
            self._outcomes[realised] = outcome
            self._tests.remember(realised, run, judgement)
        self._seen.add(realised)  # what was only asked for is no smaller failure
        if outcome is Outcome.FAIL:
            reached = self._tests.circumstance.reached(configuration, run)
            if reached != configuration:
                self._outcomes[reached] = Outcome.FAIL
                self._tests.remember(reached, run, judgement)
                self._seen.add(reached)
        record = TestRecord(
            *(len(self.steps) + 1, self._tests.circumstance.shown(configuration).count, outcome, step.deltas_left),
            words=judgement.words,
            failed=judgement.failed,
            unit=self._tests.circumstance.delta,
            measure=self._tests.circumstance.measure(configuration),
        )
        self.steps.append(record)
        self._observer.on_test(record)

    def _smallest_failure(self, known: IntervalSet) -> IntervalSet:
        failures = [item for item in self._seen if self._outcomes[item] is Outcome.FAIL]
        return min(failures, key=lambda item: (item.count, item.intervals), default=known)
