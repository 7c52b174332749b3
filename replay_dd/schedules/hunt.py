"""Hunts for a failing run: varies the schedule until one run passes and one fails, then simplifies both schedules."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import NamedTuple

from replay_dd.experiment.process import LIVE
from replay_dd.experiment.waiting import result_of
from replay_dd.schedules.doubts import doubt_of, with_note
from replay_dd.schedules.ending_counts import EndingCount, Tally
from replay_dd.schedules.failure_signature import PASSED, Signature, signature_of
from replay_dd.schedules.first_thread import Start, start_program
from replay_dd.schedules.fork_server_client import Runner
from replay_dd.schedules.hunt_corpus import Corpus
from replay_dd.schedules.hunt_opening_plans import MOST as MOST_OPENINGS
from replay_dd.schedules.hunt_opening_plans import is_opening
from replay_dd.schedules.hunt_openings import Made, Opened, has_one_schedule, is_over, opened, opening_runs
from replay_dd.schedules.hunt_plans import LAG, Coverage, HuntPlans, plans_of
from replay_dd.schedules.hunt_progress import Progress
from replay_dd.schedules.hunt_runs import HuntRuns
from replay_dd.schedules.hunt_session import Learnt
from replay_dd.schedules.hunt_simplify import Simplifier
from replay_dd.schedules.likely_preemptions import threads_meet
from replay_dd.schedules.model import Log, Program, Settings
from replay_dd.schedules.only_where import check_only, is_as_wanted
from replay_dd.schedules.parallel_runs import usable_jobs
from replay_dd.schedules.record import DEFAULT_TIME_LIMIT_S, verified
from replay_dd.schedules.runtime.points.bytecode import SYNC
from replay_dd.schedules.target import Plan, TargetRun

MOST_FURTHER = 19  # failures that are kept beside the first


class Hunt(NamedTuple):
    """What a hunt found.

    Attributes:
        passing: the log of a run that passed, if one did.
        failing: the log of a run that failed, if one did.
        runs: how many runs were evaluated.
        failures: the failures that count; the one in ``failing`` is described as in that log.
        passed_over: failures that do not count because they lack the requested text.
        elsewhere: failures with preemptions where none were wanted.
        not_reproduced: runs whose replay diverged.
        yield_points: of the first run.
        jobs: the number of parallel runs.
        others: endings that are neither, such as time-outs.
        interrupted: whether Ctrl-C ended the hunt.
        one_schedule: whether the program starts no thread, so there is nothing to vary.
        output: what the first run wrote.
        simplifying_runs: how many more runs simplifying both logs took.
        threads_meet: whether, in counted code of the first run, a thread changed something that another one touched;
            None if unknown.
        why_fresh: why runs used fresh processes; empty if they were forked.
        asleep_s: how much was left, in virtual seconds, of the shortest sleep or time-out too long to end early; 0 if
            there was none.
        out_of_time: whether the time budget ended it.
        instead_of: the failure with the virtual clock because of which the hunt used the real one; empty if it did not.
        because: what made the virtual clock fail.
        coverage: what the runs covered; None if that is not known.
        further: the logs of runs that failed in other ways, one for each, if the hunt was to keep going.
        learnt: what the corpus knows now; None if there is none.
    """

    passing: Log | None
    failing: Log | None
    runs: int
    failures: tuple[EndingCount, ...]
    passed_over: tuple[EndingCount, ...]
    not_reproduced: int
    yield_points: int
    jobs: int
    why_fresh: str
    others: tuple[EndingCount, ...]
    interrupted: bool
    one_schedule: bool = False
    output: bytes = b""
    simplifying_runs: int = 0
    threads_meet: bool | None = None
    asleep_s: float = 0
    instead_of: str = ""
    because: tuple[str, ...] = ()
    coverage: Coverage | None = None
    elsewhere: tuple[EndingCount, ...] = ()
    further: tuple[Log, ...] = ()
    learnt: Learnt | None = None
    out_of_time: bool = False


def hunt(
    program: Program,
    settings: Settings,
    *,
    runs: int,
    seed: int = 0,
    strategy: str | None = None,
    jobs: int = 1,
    time_limit_s: float | None = DEFAULT_TIME_LIMIT_S,
    simplify: bool = True,
    may_fork: bool = True,
    failure: str = "",
    time_budget_s: float | None = None,
    keep_going: bool = False,
    only: str = "",
    always_verify: bool = True,
    corpus: Corpus | None = None,
    start: Start = start_program,
    on_run: Callable[[int, Plan, Signature], None] | None = None,
    on_simplify: Callable[[int], None] | None = None,
    on_fresh: Callable[[str], None] = lambda words: None,
) -> Hunt:
    """Vary the schedule until one run fails and one passes.

    By default, the first runs bring all threads abreast or draw an order, and the next one follows the default
    schedule: also as soon as one of them fails, as a run is needed that passes. With a strategy, the first one is that
    under the default schedule, and the others use the strategy with consecutive seeds. Otherwise they are a mixture:
    preemptions where threads touch the same thing, as the hunt learns (:mod:`~replay_dd.schedules.hunt_plans`), and
    random strategies (:mod:`~replay_dd.schedules.hunt_strategies`). Runs are evaluated in this order, so the answer
    does not depend on the number of jobs.

    Args:
        program: what to run.
        settings: what to count and hold fixed.
        runs: the maximum number of runs.
        seed: the first seed.
        strategy: one of :data:`~replay_dd.schedules.record.STRATEGIES`; None for a mixture.
        jobs: the number of parallel runs.
        time_limit_s: seconds after which a run is killed; None for no limit.
        simplify: reduce both schedules to the choices that their endings need.
        may_fork: fork the program at its first thread for each run, if possible.
        failure: count only failures whose description contains this text; others are skipped and do not end the hunt.
        time_budget_s: seconds after which no further run starts, not even to simplify, and the one under way is ended
            without being looked at, unless it is the first; None for no limit.
        keep_going: make all the runs, and keep one log of each failure that counts.
        only: where preemptions come: where an interpreter with a GIL can switch, where only one without it can, or (if
            empty) anywhere; see :mod:`~replay_dd.schedules.only_where`.
        always_verify: replay the passing run even if none failed.
        corpus: keeps what hunts have learnt, for the next one.
        start: starts a program that is to be forked.
        on_run: called with number, plan and ending of each run, in order.
        on_simplify: called with the number of each simplifying run; with 0 at the start.
        on_fresh: told once, in words, why runs use fresh processes where nobody asked for them.

    Raises:
        ProgramNotFoundError, NotControlledError: it cannot be run, or not under the scheduler.
        UsageError: ``only`` leaves nothing at this granularity.
    """
    check_only(only, settings.granularity)
    ends_at = None if time_budget_s is None else time.monotonic() + time_budget_s
    runner = Runner(program, settings, may_fork=may_fork, start=start, only=only, on_fresh=on_fresh)
    with LIVE.reopened_after(), runner:
        profiled = strategy is None and settings.granularity != SYNC  # where a profile contains only locks
        if strategy is not None:
            beginning = Opened([], (Plan(), runner.run(Plan("default"), time_limit_s)))
        else:
            beginning = opened(runner, time_limit_s, 0 if corpus else runs - 1, ends_at, seed)
        openings, (first_plan, first), interrupted = beginning
        doubt = None if interrupted else doubt_of(first, time_limit_s)
        if doubt is not None and doubt.is_the_clock:
            runner.close()
            found = hunt(  # without `start`: what is loaded there has the virtual clock already
                *(program, replace(settings, real_clock=True)),
                runs=runs,
                seed=seed,
                strategy=strategy,
                jobs=jobs,
                time_limit_s=time_limit_s,
                simplify=simplify,
                may_fork=may_fork,
                failure=failure,
                time_budget_s=time_budget_s,
                keep_going=keep_going,
                only=only,
                always_verify=always_verify,
                corpus=corpus,
                on_run=on_run,
                on_simplify=on_simplify,
                on_fresh=on_fresh,
            )
            return found._replace(instead_of=signature_of(first.log.ending).text, because=doubt.reasons)
        first = with_note(first, doubt)
        jobs = usable_jobs(first.log, jobs if strategy is not None else min(jobs, LAG))
        if time_limit_s is not None and not first.log.ending.timed_out:
            time_limit_s = min(time_limit_s, 10 + 20 * first.log.ending.seconds)
        batch = HuntRuns(runner, first, jobs, time_limit_s, ends_at)
        end = first.log.ending
        one_schedule = has_one_schedule(first)
        made = len(openings) + 1
        amount = 0 if one_schedule else runs - made
        # What earlier hunts have found comes first.
        session = None
        if corpus and not one_schedule:
            session = corpus.session(program, settings, first, f"{strategy} {only}", failure)
        before = session.progress if session else Progress()
        amount -= session.left if session else 0
        later = MOST_OPENINGS if session and session.is_new and strategy is None else 0
        amount -= later
        seen_before = session.seen_before if session else None
        # To learn from a run takes its time, too; the corpus wants it even so.
        learns = strategy is None and (session is not None or not is_over(ends_at))
        learning = HuntPlans(first, seed, amount, before, seen_before) if learns else None
        plans = learning or plans_of(strategy, seed + before.seed + before.plans, first, amount)
        known = session.runs_of_failures(time_limit_s) if session else ()
        failing: Log | None = None
        finds = _Finds(runner, jobs, time_limit_s, failure, keep_going=keep_going)
        finds.prefer(first)
        looked_at = planned = 0

        def keep(runs: int) -> Learnt | None:
            if session is None:
                return None
            progress = learning.progress if learning else replace(before, plans=before.plans + planned)
            return session.save(filter(None, (failing or finds.failing, *finds.further)), runs, progress)

        failures, passed_over, elsewhere, others = Tally(), Tally(), Tally(), Tally()
        asleep_ns: list[int] = []
        out_of_time = False

        def openings_then() -> Iterator[Made]:
            left = max(0, min(later, amount + later))
            for one in opening_runs(runner, time_limit_s, left, seed):
                left -= 1
                yield one
            if learning is not None:
                learning.allow(left)  # there may be fewer openings than there are runs for them

        drawn = batch.runs(plans)
        attempts = chain(openings, [(first_plan, first)], known, openings_then(), drawn)
        while looked_at < made or not finds.complete or (session and session.left):
            out_of_time = looked_at >= made and is_over(ends_at)
            if out_of_time or (interrupted and looked_at >= made):
                break
            try:
                plan, run = next(attempts)
                if looked_at >= made and run.log.ending.timed_out and is_over(ends_at):
                    out_of_time = True  # the hunt has ended it
                    break
                if learning is not None and is_opening(plan):
                    learning.look_at(plan, run)
                elif looked_at >= made and not (session and session.is_of_failure(plan)):
                    if learning is not None:
                        learning.learn(planned, plan, run)
                    planned += 1
                if session:
                    session.take(run)
                looked_at += 1
                asleep_ns += [run.least_asleep_ns] if run.least_asleep_ns else []
                signature = signature_of(run.log.ending)
                if on_run is not None:
                    on_run(looked_at, plan, signature)
                if signature.failed and not is_as_wanted(run.log, only, time_limit_s):
                    elsewhere.add(signature)
                    continue
                if signature.failed:
                    (failures if signature.mentions(failure) else passed_over).add(signature)
                elif signature.kind != PASSED:
                    others.add(signature)
                finds.look_at(run, signature)
            except StopIteration:
                break
            except KeyboardInterrupt:
                interrupted = True
                break
            except SystemExit:  # SIGTERM
                keep(looked_at)
                raise
        try:
            drawn.close()
        except KeyboardInterrupt:
            interrupted = True
        if interrupted or (finds.failing is None and (out_of_time or not always_verify)):
            finds.take_passing_unverified()
        else:
            finds.verify()
        passing, failing = finds.passing, finds.failing
        simplifier = Simplifier(batch, on_simplify, ends_at)

        def simple(log: Log) -> Log:
            if session and session.is_known(signature_of(log.ending)):
                return log  # it was simplified when it was found
            with_one = partial(simplifier.with_one_preemption, seed=seed, may_differ=not finds.further)
            for simplify_more in (simplifier.with_likely_preemptions, simplifier.simplified, with_one):
                simpler = simplify_more(log, failure=failure)
                log = simpler if is_as_wanted(simpler, only, time_limit_s) else log
            return log

        if simplify and not interrupted and passing is not None and failing is not None:
            try:
                passing = simplifier.simplified(passing)
                failing = simple(failing)
                for number, log in enumerate(finds.further):
                    finds.further[number] = simple(log)
            except KeyboardInterrupt:
                interrupted = True  # the logs found are valid, just less simple
        if failing is not None:
            failing = replace(failing, failure=failure)
        return Hunt(
            *(passing, failing, looked_at, failures.counts(failing), passed_over.counts(), finds.not_reproduced),
            *(end.global_time, jobs, runner.why_fresh, others.counts(), interrupted),
            one_schedule=one_schedule,
            output=first.output,
            simplifying_runs=simplifier.runs,
            threads_meet=threads_meet(first.touches) if profiled and end.complete else None,
            asleep_s=min(asleep_ns, default=0) / 1e9,
            coverage=learning.coverage if learning is not None and profiled and end.complete else None,
            further=tuple(replace(log, failure=failure) for log in finds.further),
            elsewhere=elsewhere.counts(),
            learnt=keep(looked_at),
            out_of_time=out_of_time,
        )


class _Finds:
    """The first passing and failing runs that replay to the same ending; if it keeps going, one of each other failure.

    A passing run is replayed only once there is a failing one: a hunt that is interrupted before does not need it.
    """

    def __init__(
        self, runner: Runner, jobs: int, time_limit_s: float | None, failure: str, *, keep_going: bool
    ) -> None:
        self._runner = runner
        self._failure = failure
        self._jobs = jobs
        self._time_limit_s = time_limit_s
        self._passed: TargetRun | None = None
        self._keep_going = keep_going
        self.further: list[Log] = []
        self.passing: Log | None = None
        self.failing: Log | None = None
        self.not_reproduced = 0

    def prefer(self, run: TargetRun) -> None:
        """Take this run as the passing one, if it passes, though others may come before it."""
        if signature_of(run.log.ending).kind == PASSED:
            self._passed = run

    @property
    def complete(self) -> bool:
        return self.passing is not None and self.failing is not None and not self._keep_going

    def look_at(self, run: TargetRun, signature: Signature) -> None:
        if signature.kind == PASSED and self._passed is None:
            self._passed = run
        if signature.failed and signature.mentions(self._failure) and self.failing is None:
            self.verify(failed=run)
        elif self.failing is not None:
            self.verify()
            if self._keep_going and signature.failed and signature.mentions(self._failure):
                self._keep(run, signature)

    def _keep(self, run: TargetRun, signature: Signature) -> None:
        """Keep the log of a failure that none of the logs has."""
        known = [signature_of(log.ending) for log in (self.failing, *self.further) if log is not None]
        if len(self.further) < MOST_FURTHER and not any(one.same(signature) for one in known):
            log = self._verified(run)
            if log is None:
                self.not_reproduced += 1
            elif not any(one.same(signature_of(log.ending)) for one in known):
                self.further.append(log)

    def take_passing_unverified(self) -> None:
        """Settle for what there is: no more runs can be made."""
        if self.passing is None and self._passed is not None:
            self.passing = self._passed.log

    def verify(self, failed: TargetRun | None = None) -> None:
        """Replay the candidates, a failing run and the first passing one, in parallel if allowed."""
        passed = self._passed if self.passing is None else None
        with ThreadPoolExecutor(self._jobs) as pool:
            try:
                futures = [pool.submit(self._verified, run) for run in (failed, passed)]
                failing, passing = (result_of(future) for future in futures)
            except KeyboardInterrupt:
                LIVE.kill_all()
                raise
        self.failing = self.failing or failing
        self.passing = self.passing or passing
        if passing is None:
            self._passed = None
        for run, log in ((failed, failing), (passed, passing)):
            if run is not None and log is None:
                self.not_reproduced += 1
                self._runner.stop_forking("a fresh replay of a forked run diverged")

    def _verified(self, run: TargetRun | None) -> Log | None:
        if run is None:
            return None
        log = verified(run, self._time_limit_s).log
        told = signature_of(log.ending)
        return log if log.verified and (not told.failed or told.mentions(self._failure)) else None
