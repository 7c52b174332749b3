"""Minimizes a schedule to the choices without which the run ends differently (ddmin from the default schedule)."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass, replace

from replay_dd.experiment.driver import NO_OBSERVER, Observer, isolate_cause
from replay_dd.experiment.proof import PROOF_RUNS
from replay_dd.experiment.result import Isolation
from replay_dd.schedules.circumstance import NonDefaultChoices, ScheduleRunner
from replay_dd.schedules.fork_server_client import Runner
from replay_dd.schedules.isolate import time_limit_for
from replay_dd.schedules.model import Log


@dataclass(frozen=True)
class ScheduleMinimum:
    """The fewest choices that a run needs.

    Attributes:
        isolation: the driver's result; its deltas are the non-default choices.
        log: the log of the run under the minimal schedule.
    """

    isolation: Isolation[Log]
    log: Log


def minimize(
    log: Log,
    *,
    jobs: int = 1,
    time_limit_s: float | None = None,
    max_tests: int | None = None,
    time_budget_s: float | None = None,
    runner: Runner | None = None,
    failure: str = "",
    proof_runs: int = PROOF_RUNS,
    observer: Observer = NO_OBSERVER,
) -> ScheduleMinimum:
    """Find a 1-minimal set of choices with which the program still ends as in the log.

    Works for passing logs, too: the search preserves the ending, whatever it is. A program that ends this way under the
    default schedule needs no choices at all.

    Args:
        log: the log of the run.
        jobs: the number of parallel runs.
        time_limit_s: seconds after which a run is killed; None to derive it from the recorded run.
        max_tests: stop with the best result so far after this many tests.
        time_budget_s: stop with the best result so far after this many seconds.
        runner: runs the program; by default a new one.
        failure: text that the description of the ending must also contain.
        proof_runs: the number of fresh runs of the answer.
        observer: receives progress.

    Raises:
        NotDeterministicError: two replays of the log diverge.
        NotReproducedError: the run no longer ends as in the log.
    """
    limit_s = time_limit_for((log,)) if time_limit_s is None else time_limit_s
    with nullcontext(runner) if runner is not None else Runner(log.program, log.settings) as used:
        isolation = isolate_cause(
            NonDefaultChoices(ScheduleRunner(log, used, limit_s), failure=failure),
            jobs=jobs,
            max_tests=max_tests,
            time_limit_s=time_budget_s,
            repeat=1,
            proof_runs=proof_runs,
            observer=observer,
        )
    found = isolation.failing.run or log
    return ScheduleMinimum(isolation, replace(found, verified=isolation.verified if isolation.proof.made else None))
