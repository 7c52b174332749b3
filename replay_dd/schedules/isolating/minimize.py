"""Minimizes a schedule to the choices without which the run ends differently (ddmin from the default schedule)."""

from __future__ import annotations

import time
from contextlib import nullcontext
from dataclasses import replace
from typing import NamedTuple

from replay_dd.circumstance import Found
from replay_dd.dd import EMPTY
from replay_dd.experiment.baseline import Baseline, Rate
from replay_dd.experiment.driver import NO_OBSERVER, Observer, isolate_cause
from replay_dd.experiment.process import LIVE
from replay_dd.experiment.proof import PROOF_RUNS, Proof
from replay_dd.experiment.result import Isolation, TestRecord
from replay_dd.outcome import Outcome
from replay_dd.schedules.failures.signature import ChangedMessage, message_changed, text_sought
from replay_dd.schedules.isolating.circumstance import NonDefaultChoices, ScheduleRunner
from replay_dd.schedules.isolating.fewer_choices import WORTHWHILE, Rewritten, with_fewer_choices
from replay_dd.schedules.model import Log
from replay_dd.schedules.replaying.comparable import time_limit_for
from replay_dd.schedules.running.runner import Runner


class ScheduleMinimum(NamedTuple):
    """The fewest choices that a run needs.

    Attributes:
        isolation: the driver's result; its deltas are the non-default choices.
        log: the log of the run under the minimal schedule.
        message: where the message of the failure changed: as it was in the log given, and as it is now.
        choices_before: how many choices the log given had.
        rewriting_tests: how many tests it took to find a schedule with fewer, from which choices were left out.
    """

    isolation: Isolation[Log]
    log: Log
    message: ChangedMessage | None = None
    choices_before: int = 0
    rewriting_tests: int = 0


def minimize(
    log: Log,
    *,
    jobs: int = 1,
    time_limit_s: float | None = None,
    max_tests: int | None = None,
    time_budget_s: float | None = None,
    runner: Runner | None = None,
    failure: str | None = None,
    proof_runs: int = PROOF_RUNS,
    observer: Observer = NO_OBSERVER,
) -> ScheduleMinimum:
    """Find a 1-minimal set of choices with which the program still ends as in the log.

    A log with many choices is first rewritten: see :mod:`~replay_dd.schedules.isolating.fewer_choices`. Its choices
    need not be among those of the log.

    Works for passing logs, too: the search preserves the ending, whatever it is. A program that ends this way under the
    default schedule needs no choices at all.

    Args:
        log: the log of the run.
        jobs: the number of parallel runs.
        time_limit_s: seconds after which a run is killed; None to derive it from the recorded run.
        max_tests: stop with the best result so far after this many tests.
        time_budget_s: stop with the best result so far after this many seconds.
        runner: runs the program; by default a new one.
        failure: text that the description of the ending must also contain; None for that of the log.
        proof_runs: the number of fresh runs of the answer.
        observer: receives progress.

    Raises:
        DoesNotFailError: the description of the ending does not contain the text.
        NotDeterministicError: two replays of the log diverge.
        NotReproducedError: the run no longer ends as in the log.
    """
    text = text_sought(log, failure)
    limit_s = time_limit_for((log,)) if time_limit_s is None else time_limit_s
    ends_at = None if time_budget_s is None else time.monotonic() + time_budget_s
    own = Runner(log.program, log.settings, on_fresh=observer.on_note) if runner is None else nullcontext(runner)
    with own as used:
        before = ScheduleRunner(log, used, limit_s, failure=text)
        observer.on_stage("looking for a schedule with fewer choices")
        with LIVE.reopened_after():
            rewritten = _rewritten(before, jobs, max_tests, ends_at, observer)
        circumstance = NonDefaultChoices(replace(before, failing=rewritten.log))
        try:
            if rewritten.interrupted:
                raise KeyboardInterrupt
            isolation = isolate_cause(
                circumstance,
                jobs=jobs,
                max_tests=None if max_tests is None else max(max_tests - rewritten.tests, 0),
                time_limit_s=None if ends_at is None else ends_at - time.monotonic(),
                repeat=1,
                proof_runs=proof_runs,
                observer=observer,
            )
        except KeyboardInterrupt:
            if rewritten.log is log:
                raise
            isolation = _interrupted(circumstance, rewritten)
    found = isolation.failing.run or rewritten.log
    verified = isolation.verified if isolation.proof.made else None
    return ScheduleMinimum(
        isolation=isolation,
        log=replace(before.with_visits(found), verified=verified, failure=text),
        message=message_changed(log.ending, found.ending),
        choices_before=len(log.triggers),
        rewriting_tests=rewritten.tests,
    )


def _interrupted(circumstance: NonDefaultChoices, rewritten: Rewritten) -> Isolation[Log]:
    """The best so far after Ctrl-C, before single choices were left out."""
    failure = circumstance.judge(rewritten.log)
    return Isolation(
        circumstance=circumstance,
        failure=failure,
        passing=Found(EMPTY, None),
        failing=Found(circumstance.universe, rewritten.log),
        deltas_before=circumstance.universe.count,
        baseline=Baseline(failure, Rate(1, 1)),
        proof=Proof(),
        tests=0,
        requested=0,
        runs=rewritten.tests,
        unresolved=(),
        stopped_by="interrupt",
        seconds=0.0,
        steps=(),
    )


def _rewritten(
    runs: ScheduleRunner, jobs: int, max_tests: int | None, ends_at: float | None, observer: Observer
) -> Rewritten:
    """The log with as few choices as coarse steps find; the log itself if that does not reproduce."""
    log, circumstance, number = runs.failing, NonDefaultChoices(runs), 0
    left = len(log.triggers)

    def may_go_on(tests: int) -> bool:
        return (max_tests is None or tests < max_tests) and (ends_at is None or time.monotonic() < ends_at)

    def ends_alike(run: Log) -> bool:
        return circumstance.judge(run).outcome is Outcome.FAIL

    def on_test(run: Log, better: bool) -> None:
        nonlocal number, left
        number += 1
        left = len(run.triggers) if better else left
        judgement = circumstance.judge(run)
        observer.on_test(
            TestRecord(number, len(run.triggers), judgement.outcome, left, judgement.words, judgement.failed)
        )

    if left < WORTHWHILE:
        return Rewritten(log, 0)
    default = runs.run(())
    if ends_alike(default):
        return Rewritten(log, 0)  # it needs no choices at all
    found = with_fewer_choices(*(log, runs.run, ends_alike), jobs=jobs, may_go_on=may_go_on, on_test=on_test)
    return found._replace(tests=found.tests + 1)
