"""The baseline: whether both ends pass and fail as claimed, and how often, before a search concludes anything.

Rules of this module:

* The failing end is run twice. If both runs show the failure sought, the failure is *steady*. If not, and the
  circumstance allows flaky runs, it is run more often, and its failure rate decides how often a test is repeated.
* The passing end is run, too, unless its outcome is known: a search between two failing ends finds nothing.
* Runs of one end that diverge are an error, unless the circumstance is flaky or cannot compare runs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from replay_dd.circumstance import Circumstance, End, Goal, Judgement, Run
from replay_dd.errors import ReplayDDError
from replay_dd.errors.program import DoesNotFailError, DoesNotPassError, NotDeterministicError, NotReproducedError
from replay_dd.experiment.testing import Tests
from replay_dd.outcome import Outcome

MEASURED_RUNS = 2
MORE_RUNS = 8
# A configuration is rerun until an intermittent failure would have shown with this probability.
SURE_ENOUGH = 0.95
MOST_REPEATS = 10


@dataclass(frozen=True, slots=True)
class Rate:
    """How many of how many runs showed the failure sought."""

    failed: int
    runs: int

    @property
    def steady(self) -> bool:
        """Whether all of them did."""
        return self.failed == self.runs


@dataclass(frozen=True, slots=True)
class Baseline:
    """What the two ends do.

    Attributes:
        failure: the failure sought.
        rate: how often the failing end fails.
        repeat: how many times a configuration that does not fail is run.
        confidence: the probability (0 to 1) that a configuration which could fail at the rate of the failing end
            would have failed in one of these runs; None if configurations are run once.
        base_fails: whether the passing end of a simplification fails, so that the failure needs no deltas.
    """

    failure: Judgement
    rate: Rate
    repeat: int = 1
    confidence: float | None = None
    base_fails: bool = False


def measure(tests: Tests[Run], *, jobs: int, repeat: int | None) -> Baseline:
    """Run both ends often enough to know what they do.

    Args:
        tests: runs the configurations; afterwards it knows the two ends, and how often to run the others.
        jobs: the number of parallel runs.
        repeat: how many times to run a configuration that does not fail; None to derive it from the measured rate.

    Raises:
        DoesNotPassError, DoesNotFailError: an end does not pass or fail as claimed.
        NotReproducedError: the failure does not show every time, or runs diverge from the recording.
        NotDeterministicError: two runs of one end diverge.
    """
    circumstance = tests.circumstance
    runs, judged = _measure_failing(tests, jobs)
    failing = [number for number, judgement in enumerate(judged) if judgement.outcome is Outcome.FAIL]
    if not failing or not (circumstance.flaky or len(failing) == len(judged)):
        raise _no_failure(circumstance, judged)
    # The run that got farthest has all the deltas that any of them needed.
    chosen = max(failing, key=lambda number: circumstance.reached(circumstance.universe, runs[number]).count)
    _check_recorded(circumstance, runs[chosen], End.FAILING)
    tests.remember(circumstance.universe, runs[chosen], judged[chosen])
    tests.count(circumstance.universe)
    rate = Rate(len(failing), len(runs))
    tests.repeat = repeat or tries_for(rate)
    confidence = None
    if tests.repeat > 1:
        # Rule of succession: one minus the probability that a failing configuration is taken for a passing one.
        confidence = 1 - (1 - (rate.failed + 1) / (rate.runs + 2)) ** tests.repeat
    base_fails = _measure_passing(tests, jobs)
    return Baseline(judged[chosen], rate, tests.repeat, confidence, base_fails)


def tries_for(rate: Rate) -> int:
    """How many times a configuration must be run for a failure with this rate to show."""
    if rate.steady:
        return 1
    # Deliberately low: there were few runs, and a missed failure makes the answer larger.
    share = rate.failed / (rate.runs + 2)
    return min(math.ceil(math.log(1 - SURE_ENOUGH) / math.log(1 - share)), MOST_REPEATS)


def _measure_failing(tests: Tests[Run], jobs: int) -> tuple[list[Run], list[Judgement]]:
    circumstance = tests.circumstance
    whole = circumstance.universe
    runs = tests.several(whole, MEASURED_RUNS, jobs, fresh=circumstance.flaky)
    if not circumstance.flaky:
        _check_same(circumstance, runs, End.FAILING)
    circumstance.settle(runs)
    judged = [circumstance.judge(run) for run in runs]
    if circumstance.flaky and any(judgement.outcome is not Outcome.FAIL for judgement in judged):
        runs += tests.several(whole, MORE_RUNS, jobs, fresh=True)
        circumstance.settle(runs)
        judged = [circumstance.judge(run) for run in runs]
    return runs, judged


def _measure_passing(tests: Tests[Run], jobs: int) -> bool:
    """Whether the passing end fails, which is an error if a difference is sought."""
    circumstance = tests.circumstance
    base = circumstance.base
    if base in circumstance.known():
        return False
    times = tests.repeat if tests.repeat > 1 else circumstance.end_runs
    runs = tests.several(base, times, jobs, fresh=circumstance.flaky)
    if not circumstance.flaky:
        _check_same(circumstance, runs, End.PASSING)
    judged = [circumstance.judge(run) for run in runs]
    chosen = next((number for number, judgement in enumerate(judged) if judgement.outcome is Outcome.FAIL), 0)
    tests.remember(base, runs[chosen], judged[chosen])
    tests.count(base)
    if circumstance.goal is Goal.SIMPLIFY:
        if judged[chosen].outcome is Outcome.FAIL:
            circumstance.base_failed(judged[chosen])
        return judged[chosen].outcome is Outcome.FAIL
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
            raise NotDeterministicError(f"Two runs of the {_name_of(circumstance, end)} are not the same run: {why}")


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
