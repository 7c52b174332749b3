"""The baseline: whether both ends pass and fail as claimed, and how often, before a search concludes anything.

Rules of this module:

* The failing end is run twice. If the circumstance is flaky, a sequential test decides how many more runs it takes to
  know whether its failure is *steady* (it showed every time) or *intermittent*.
* If runs are to be made at the same time, each end is run alone first, and then several times at once. Where one of
  these ends otherwise, and more runs alone do not, runs disturb each other, as where all want the same port: from then
  on, they are made one at a time.
* An intermittent failure is measured, and its rate decides how often each configuration is run.
* The passing end is run, too, unless its outcome is known: a search between two failing ends finds nothing.
* Runs of one end that diverge are an error, unless the circumstance is flaky or cannot compare runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Generic, NamedTuple

from replay_dd.circumstance import Circumstance, End, Goal, Judgement, Run
from replay_dd.dd import IntervalSet
from replay_dd.errors import ReplayDDError
from replay_dd.errors.program import DoesNotFailError, DoesNotPassError, NotDeterministicError, NotReproducedError
from replay_dd.experiment.sequential import SequentialTest
from replay_dd.experiment.testing import Tests
from replay_dd.outcome import Outcome

MEASURED_RUNS = 2
_NOT_STEADY = 0.6
_MOST_RUNS_OF_STEADY = 20
# Enough to know the rate of an intermittent failure to within 0.3 (95 %).
INTERMITTENT_RUNS = 12
MOST_INTERMITTENT_RUNS = 24
_ENOUGH_FAILURES = 3
# What fails less often than this share of the baseline has another cause, such as chance.
_RARE_SHARE = 1 / 6
_SEARCH_ERROR = 0.05
_MOST_RUNS_OF_A_TEST = 40
_HIGHEST_RATE = 0.9
_RUNS_BESIDE = 2
# How often a run alone is like the first one where one beside others was not: what varies is hardly that lucky.
_RUNS_ALONE = 5


class Rate(NamedTuple):
    """How many of how many runs showed the failure sought."""

    failed: int
    runs: int

    @property
    def steady(self) -> bool:
        """Whether all of them did."""
        return self.failed == self.runs

    @property
    def at_least(self) -> float:
        """A low estimate of the failure rate: there are few runs, and a missed failure makes the answer larger."""
        return self.failed / (self.runs + 2)


class Baseline(NamedTuple):
    """What the two ends do.

    Attributes:
        failure: the failure sought.
        rate: how often the failing end fails.
        repeat: how many times a configuration that does not fail is run.
        confidence: the probability (0 to 1) that a configuration which could fail at the rate of the failing end
            would have failed in one of these runs; None if configurations are run once.
        base_fails: whether the passing end of a simplification fails, so that the failure needs no deltas.
        intermittent: whether configurations are run as often as a sequential test requires.
        jobs: how many runs may be made at the same time.
        disturbed: how a run ended, at the same time as others, that no run alone ended like; empty if none did.
    """

    failure: Judgement
    rate: Rate
    repeat: int = 1
    confidence: float | None = None
    base_fails: bool = False
    intermittent: bool = False
    jobs: int = 1
    disturbed: str = ""


def measure(tests: Tests[Run], *, jobs: int, repeat: int | None) -> Baseline:
    """Run both ends often enough to know what they do.

    Args:
        tests: runs the configurations; afterwards it knows the two ends, and how often to run the others.
        jobs: the number of parallel runs that are wanted.
        repeat: how many times to run a configuration that does not fail; None to derive it from the measured rate.

    Raises:
        DoesNotPassError, DoesNotFailError: an end does not pass or fail as claimed.
        NotReproducedError: the failure does not show every time, or runs diverge from the recording.
        NotDeterministicError: two runs of one end diverge.
    """
    circumstance = tests.circumstance
    together = _Together(tests, jobs)
    runs, judged = _measure_failing(tests, together)
    rate = _take(tests, runs, judged)
    if repeat is None and rate.runs >= MOST_INTERMITTENT_RUNS and rate.failed < _ENOUGH_FAILURES:
        raise NotReproducedError(
            f"The {_name_of(circumstance, End.FAILING)} failed in only {rate.failed} of {rate.runs} runs: too rarely "
            "to tell what it needs.",
            circumstance.rare_hint,
        )
    tests.count(circumstance.universe)
    intermittent = circumstance.flaky and repeat is None and not rate.steady
    if intermittent:
        tests.decide_by(sequential_test(rate))
    tests.repeat = repeat or 1
    base_fails = _measure_passing(tests, together)
    failure = tests.of(circumstance.universe)[1]
    confidence = _confidence(tests, rate)
    return Baseline(failure, rate, *confidence, base_fails, intermittent, together.jobs, together.disturbed)


def measure_again(tests: Tests[Run], baseline: Baseline, *, jobs: int) -> Baseline | None:
    """Measure a failure that was taken for steady, or for more frequent than its proof has shown, more closely.

    Args:
        tests: as for :func:`measure`; configurations are decided anew from now on.
        baseline: what was measured so far.
        jobs: the number of parallel runs.

    Returns:
        What it is now; None if the failure does not show any more.
    """
    circumstance = tests.circumstance
    runs = tests.several(circumstance.universe, INTERMITTENT_RUNS, jobs, fresh=True)
    whole = tests.of(circumstance.universe)
    if all(circumstance.judge(run).outcome is not Outcome.FAIL for run in runs):
        return None
    # They may show that what was another failure so far is the same one.
    circumstance.settle([whole[0], *runs])
    tests.judge_again()
    rate = Rate(sum(circumstance.judge(run).outcome is Outcome.FAIL for run in runs), len(runs))
    # Runs that made an intermittent failure look steady were lucky: they would make its rate too high.
    if baseline.intermittent:
        rate = Rate(rate.failed + baseline.rate.failed, rate.runs + baseline.rate.runs)
    test = sequential_test(rate)
    if baseline.intermittent:
        test = test._replace(error=_SEARCH_ERROR / 10)
    tests.decide_by(test)
    tests.remember(circumstance.universe, *whole)
    repeat, confidence = _confidence(tests, rate)
    return baseline._replace(rate=rate, repeat=repeat, confidence=confidence, intermittent=True)


def sequential_test(rate: Rate) -> SequentialTest:
    """The test that tells configurations that fail at about this rate from those that fail rarely or never."""
    often = min(rate.at_least, _HIGHEST_RATE)
    return SequentialTest(often, often * _RARE_SHARE, _SEARCH_ERROR, _MOST_RUNS_OF_A_TEST)


def _confidence(tests: Tests[Run], rate: Rate) -> tuple[int, float | None]:
    repeat = tests.repeat if tests.sequential is None else tests.sequential.runs_to_pass
    if repeat == 1:
        return 1, None
    # Rule of succession: one minus the probability that a failing configuration is taken for a passing one.
    return repeat, 1 - (1 - (rate.failed + 1) / (rate.runs + 2)) ** repeat


def _take(tests: Tests[Run], runs: Sequence[Run], judged: Sequence[Judgement]) -> Rate:
    """Note the runs of the failing end; returns how often it fails."""
    circumstance = tests.circumstance
    failing = [number for number, judgement in enumerate(judged) if judgement.outcome is Outcome.FAIL]
    if not failing or not (circumstance.flaky or len(failing) == len(judged)):
        raise _no_failure(circumstance, judged)
    # The run that got farthest has all the deltas that any of them needed.
    chosen = max(failing, key=lambda number: circumstance.reached(circumstance.universe, runs[number]).count)
    _check_recorded(circumstance, runs[chosen], End.FAILING)
    order = [chosen, *(number for number in range(len(runs)) if number != chosen)]
    tests.note(circumstance.universe, [runs[number] for number in order], [judged[number] for number in order])
    tests.remember(circumstance.universe, runs[chosen], judged[chosen])
    return Rate(len(failing), len(runs))


class _Together(Generic[Run]):
    """Makes the runs of both ends, and finds out whether they may be made at the same time.

    Args:
        tests: runs the configurations.
        jobs: the number of parallel runs.

    Attributes:
        jobs: how many there may be, as far as is known by now.
        disturbed: how a run ended, at the same time as others, that no run alone ended like; empty if none did.
    """

    def __init__(self, tests: Tests[Run], jobs: int) -> None:
        self._tests = tests
        self.jobs = jobs
        self.disturbed = ""

    def first(self, end: IntervalSet, times: int) -> list[Run]:
        """The first runs of an end: as many as are wanted, or a few more if they are made at the same time."""
        flaky = self._tests.circumstance.flaky
        if self.jobs == 1 or not flaky:
            return self._tests.several(end, times, self.jobs, fresh=flaky)
        alone = self._tests.several(end, 1, 1, fresh=True)
        beside = self._tests.several(end, max(times - 1, _RUNS_BESIDE), self.jobs, fresh=True)
        return [*alone, *self._undisturbed(end, alone[0], beside, times - 1)]

    def more(self, end: IntervalSet, before: Sequence[Run], times: int) -> list[Run]:
        """More runs of an end, whose first run was made alone; where the machine is busy, they may meet only now."""
        added = self._tests.several(end, times, self.jobs, fresh=self._tests.circumstance.flaky)
        if self.jobs == 1 or self._unlike(before[0], before[1:]):
            return added
        return self._undisturbed(end, before[0], added, times)

    def _undisturbed(self, end: IntervalSet, first: Run, beside: list[Run], times: int) -> list[Run]:
        """Runs that were made at the same time, or in their place runs alone, if they have disturbed each other."""
        told = self._unlike(first, beside)
        if not told:
            return beside
        alone = self._tests.several(end, max(_RUNS_ALONE, times), 1, fresh=True)
        if self._unlike(first, alone):
            return [*alone, *beside]  # what varies by itself is not disturbed
        self.jobs, self.disturbed = 1, told
        return alone

    def _unlike(self, first: Run, others: Sequence[Run]) -> str:
        compare = self._tests.circumstance.compare
        return next((told for other in others if (told := compare(first, other))), "")


def _measure_failing(tests: Tests[Run], together: _Together[Run]) -> tuple[list[Run], list[Judgement]]:
    circumstance = tests.circumstance
    runs: list[Run] = []
    more = MEASURED_RUNS
    while True:
        runs += (
            together.more(circumstance.universe, runs, more) if runs else together.first(circumstance.universe, more)
        )
        if not circumstance.flaky:
            _check_same(circumstance, runs, End.FAILING)
        circumstance.settle(runs)
        judged = [circumstance.judge(run) for run in runs]
        failed = sum(judgement.outcome is Outcome.FAIL for judgement in judged)
        more = _more_runs(failed, len(runs), steady_test(circumstance.steady_error)) if circumstance.flaky else 0
        if not more:
            return runs, judged


def steady_test(error: float) -> SequentialTest:
    """The test that tells a failure that shows every time from one that shows in 60 % of the runs at most."""
    return SequentialTest(often=1.0, rarely=_NOT_STEADY, error=error, most_runs=_MOST_RUNS_OF_STEADY)


def _more_runs(failed: int, runs: int, test: SequentialTest) -> int:
    """How many more runs of the failing end are needed to know how often it fails; 0 if none are."""
    steady = test.fails(failed, runs)
    if steady is None:
        return next(more for more in range(1, test.most_runs) if test.fails(failed + more, runs + more))
    if steady or (runs >= INTERMITTENT_RUNS and (not failed or failed >= _ENOUGH_FAILURES)):
        return 0
    if runs >= MOST_INTERMITTENT_RUNS:
        return 0
    return INTERMITTENT_RUNS - runs % INTERMITTENT_RUNS


def _measure_passing(tests: Tests[Run], together: _Together[Run]) -> bool:
    """Whether the passing end fails, which is an error if a difference is sought."""
    circumstance = tests.circumstance
    base = circumstance.base
    if base in circumstance.known():
        return False
    times = max(tests.repeat, circumstance.end_runs)
    if tests.sequential is not None:
        times = max(times, tests.sequential.runs_to_pass)
    runs = together.first(base, times)
    if not circumstance.flaky:
        _check_same(circumstance, runs, End.PASSING)
    judged = [circumstance.judge(run) for run in runs]
    chosen = next((number for number, judgement in enumerate(judged) if judgement.outcome is Outcome.FAIL), 0)
    tests.note(base, runs, judged)
    tests.count(base)
    if circumstance.goal is Goal.SIMPLIFY:
        # A failure that shows rarely without any delta is not the one that the whole shows often.
        outcome = judged[chosen].outcome if tests.sequential is None else tests.outcome(base)
        tests.remember(base, runs[chosen], judged[chosen]._replace(outcome=outcome))
        if outcome is Outcome.FAIL:
            circumstance.base_failed(judged[chosen])
        return outcome is Outcome.FAIL
    tests.remember(base, runs[chosen], judged[chosen])
    for judgement in judged:
        if judgement.failed or (judgement.outcome is not Outcome.PASS and not circumstance.flaky):
            raise _no_pass(circumstance, judgement)
    _check_recorded(circumstance, runs[chosen], End.PASSING)
    return False


def _check_same(circumstance: Circumstance[Run], runs: Sequence[Run], end: End) -> None:
    for run in runs[1:]:
        told = circumstance.compare(runs[0], run)
        if told:
            why = circumstance.diagnose(end) or told
            raise NotDeterministicError(f"Two runs of the {_name_of(circumstance, end)} differ: {why}")


def _check_recorded(circumstance: Circumstance[Run], run: Run, end: End) -> None:
    recorded = circumstance.recorded(end)
    if recorded is None or not circumstance.faithful:
        return
    told = circumstance.compare(recorded, run)
    if told:
        raise NotReproducedError(
            f"The {_name_of(circumstance, end)} replays with the same outcome, but the run diverges: {told}"
        )


def _no_failure(circumstance: Circumstance[Run], judged: Sequence[Judgement]) -> ReplayDDError:
    called = _name_of(circumstance, End.FAILING)
    last = next(judgement for judgement in reversed(judged) if judgement.outcome is not Outcome.FAIL)
    failed = sum(judgement.outcome is Outcome.FAIL for judgement in judged)
    if failed:
        return NotReproducedError(
            f"The {called} failed in {failed} of {len(judged)} runs only; another one ended with: {last.words}."
        )
    if circumstance.recorded(End.FAILING) is None:
        return DoesNotFailError(f"The {called} does not fail: {last.words}.")
    return NotReproducedError(f"The {called} did not fail in {len(judged)} runs; the last ended with: {last.words}.")


def _no_pass(circumstance: Circumstance[Run], judgement: Judgement) -> ReplayDDError:
    called = _name_of(circumstance, End.PASSING)
    if circumstance.recorded(End.PASSING) is None:
        return DoesNotPassError(f"The {called} does not pass: {judgement.words}.")
    return NotReproducedError(f"The {called} did not pass when it was run again; it ended with: {judgement.words}.")


def _name_of(circumstance: Circumstance[Run], end: End) -> str:
    return f"{end.value} {circumstance.subject}"
