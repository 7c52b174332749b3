"""Hunts for a failing run: varies the schedule until one run passes and one fails, then simplifies both schedules."""

from __future__ import annotations

import time
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from replay_dd.experiment.process import LIVE
from replay_dd.schedules.failures.ending_counts import EndingCount, Tally
from replay_dd.schedules.failures.signature import PASSED, signature_of
from replay_dd.schedules.hunting.attempts import Attempts
from replay_dd.schedules.hunting.corpus import Corpus
from replay_dd.schedules.hunting.finds import Finds
from replay_dd.schedules.hunting.likely_preemptions import threads_meet
from replay_dd.schedules.hunting.only_where import check_only, is_as_wanted
from replay_dd.schedules.hunting.openings import Opened, has_one_schedule, opened
from replay_dd.schedules.hunting.options import HuntListener, HuntOptions
from replay_dd.schedules.hunting.plans import LAG, Coverage
from replay_dd.schedules.hunting.runs import HuntRuns
from replay_dd.schedules.hunting.session import Learnt
from replay_dd.schedules.hunting.simplify import Simplifier
from replay_dd.schedules.model import Log, Program, Settings
from replay_dd.schedules.replaying.doubts import doubt_of, with_note
from replay_dd.schedules.running.first_thread import Start, start_program
from replay_dd.schedules.running.parallel_runs import usable_jobs
from replay_dd.schedules.running.runner import Runner
from replay_dd.schedules.running.target import Plan, TargetRun
from replay_dd.schedules.runtime.points.bytecode import SYNC


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
        asleep_s: how late a thread would have been, at least, in virtual seconds, if a sleep or time-out had ended
            early that could not; 0 if there was none.
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
    options: HuntOptions,
    *,
    corpus: Corpus | None = None,
    start: Start = start_program,
    listener: HuntListener | None = None,
) -> Hunt:
    """Vary the schedule until one run fails and one passes.

    By default, the first runs bring all threads abreast or draw an order, and the next one follows the default
    schedule: also as soon as one of them fails, as a run is needed that passes. With a strategy, the first one is that
    under the default schedule, and the others use the strategy with consecutive seeds. Otherwise they are a mixture:
    preemptions where threads touch the same thing, as the hunt learns (:mod:`~replay_dd.schedules.hunting.plans`), and
    random strategies (:mod:`~replay_dd.schedules.hunting.strategies`). Runs are evaluated in this order, so the answer
    does not depend on the number of jobs.

    Args:
        program: what to run.
        settings: what to count and hold fixed.
        options: what is asked for.
        corpus: keeps what hunts have learnt, for the next one.
        start: starts a program that is to be forked.
        listener: is told how it goes.

    Raises:
        ProgramNotFoundError, NotControlledError: it cannot be run, or not under the scheduler.
        UsageError: ``options.only`` leaves nothing at this granularity.
    """
    check_only(options.only, settings.granularity)
    listener = listener or HuntListener()
    ends_at = None if options.time_budget_s is None else time.monotonic() + options.time_budget_s
    runner = Runner(
        *(program, settings),
        may_fork=options.may_fork,
        start=start,
        only=options.only,
        on_fresh=listener.on_fresh,
    )
    with LIVE.reopened_after(), runner:
        if options.strategy is not None:
            beginning = Opened([], (Plan(), runner.run(Plan("default"), options.time_limit_s)))
        else:
            most = 0 if corpus else options.runs - 1
            beginning = opened(runner, options.time_limit_s, most, ends_at, options.seed)
        before, (plan, first), interrupted = beginning
        doubt = None if interrupted else doubt_of(first, options.time_limit_s, [run for _, run in before])
        if doubt is not None and doubt.is_the_clock:
            runner.close()
            # Without `start`: what is loaded there has the virtual clock already.
            found = hunt(program, replace(settings, real_clock=True), options, corpus=corpus, listener=listener)
            return found._replace(instead_of=signature_of(first.log.ending).text, because=doubt.reasons)
        batch = _batch(runner, with_note(first, doubt), options, ends_at)
        session = None
        if corpus and not has_one_schedule(first):
            about = f"{options.strategy} {options.only}"
            session = corpus.session(program, settings, batch.first, about, options.failure)
        attempts = Attempts(batch, before, plan, options, session)
        under_way = _UnderWay(batch, attempts, options, listener, interrupted=interrupted)
        under_way.look_at_all()
        under_way.verify()
        under_way.simplify()
        return under_way.answer()


def _batch(runner: Runner, first: TargetRun, options: HuntOptions, ends_at: float | None) -> HuntRuns:
    """How to make further runs, now that one under the default schedule is known."""
    jobs = usable_jobs(first.log, options.jobs if options.strategy is not None else min(options.jobs, LAG))
    time_limit_s = options.time_limit_s
    if time_limit_s is not None and not first.log.ending.timed_out:
        time_limit_s = min(time_limit_s, 10 + 20 * first.log.ending.seconds)
    # How long a copy takes says nothing of a process that has to load the program first.
    fresh_limit_s = time_limit_s if runner.why_fresh else options.time_limit_s
    return HuntRuns(runner, first, jobs, time_limit_s, ends_at, fresh_limit_s)


class _UnderWay:
    """A hunt whose first run is known; its methods are called in their order."""

    def __init__(
        self, batch: HuntRuns, attempts: Attempts, options: HuntOptions, listener: HuntListener, *, interrupted: bool
    ) -> None:
        self._batch = batch
        self._attempts = attempts
        self._options = options
        self._on_run = listener.on_run
        self._interrupted = interrupted
        self._finds = Finds(batch, options.failure, keep_going=options.keep_going)
        self._on_simplify = listener.on_simplify
        self._simplifying_runs = 0
        self._failures, self._passed_over, self._elsewhere, self._others = Tally(), Tally(), Tally(), Tally()
        self._asleep_ns: list[int] = []
        self._passing: Log | None = None
        self._failing: Log | None = None

    def look_at_all(self) -> None:
        """Make runs until all that is wanted is found, or there are no more."""
        attempts = self._attempts
        try:
            while not attempts.are_new or not self._finds.complete or attempts.failures_left:
                if self._interrupted and attempts.are_new:
                    break
                self._look_at(*next(attempts))
        except StopIteration:
            pass
        except KeyboardInterrupt:
            self._interrupted = True
        except SystemExit:  # SIGTERM
            attempts.save(self._found())
            raise
        try:
            attempts.close()
        except KeyboardInterrupt:
            self._interrupted = True

    def _look_at(self, plan: Plan, run: TargetRun) -> None:
        self._asleep_ns += [run.least_asleep_ns] if run.least_asleep_ns else []
        signature = signature_of(run.log.ending)
        self._on_run(self._attempts.count, plan, signature)
        if signature.failed and not self._is_as_wanted(run.log):
            self._elsewhere.add(signature)
            return
        if signature.failed:
            (self._failures if signature.mentions(self._options.failure) else self._passed_over).add(signature)
        elif signature.kind != PASSED:
            self._others.add(signature)
        self._finds.look_at(run, signature)

    def verify(self) -> None:
        """Replay what was found, unless there is neither time nor need."""
        finds = self._finds
        needless = finds.failing is None and (self._attempts.out_of_time or not self._options.always_verify)
        if self._interrupted or needless:
            finds.take_passing_unverified()
        else:
            finds.verify()
        self._passing, self._failing = finds.passing, finds.failing

    def simplify(self) -> None:
        """Reduce the schedules of what was found to the choices that their endings need, if that is wanted."""
        if not self._options.simplify or self._interrupted or self._passing is None or self._failing is None:
            return
        batch = self._batch.with_at_least(self._options.simplify_s)
        simplifier = Simplifier(batch, self._on_simplify, batch.ends_at)
        try:
            self._passing = simplifier.simplified(self._passing)
            self._failing = self._simple(self._failing, simplifier)
            for number, log in enumerate(self._finds.further):
                self._finds.further[number] = self._simple(log, simplifier)
        except KeyboardInterrupt:
            self._interrupted = True  # the logs found are valid, just less simple
        self._simplifying_runs = simplifier.runs

    def _simple(self, log: Log, simplifier: Simplifier) -> Log:
        if self._attempts.is_known(signature_of(log.ending)):
            return log  # it was simplified when it was found
        may_differ = not self._finds.further
        with_one = partial(simplifier.with_one_preemption, seed=self._options.seed, may_differ=may_differ)
        for simplify_more in (simplifier.with_likely_preemptions, simplifier.simplified, with_one):
            simpler = simplify_more(log, failure=self._options.failure)
            log = simpler if self._is_as_wanted(simpler) else log
        return log

    def _is_as_wanted(self, log: Log) -> bool:
        return is_as_wanted(log, self._options.only, self._batch.fresh_limit_s)

    def _found(self) -> list[Log]:
        """The logs of failures."""
        failing = self._failing or self._finds.failing
        return [*([] if failing is None else [failing]), *self._finds.further]

    def answer(self) -> Hunt:
        """What the hunt found."""
        options, first, end = self._options, self._batch.first, self._batch.first.log.ending
        if self._failing is not None:
            self._failing = replace(self._failing, failure=options.failure)
        profiled = options.strategy is None and self._batch.runner.settings.granularity != SYNC
        learns = profiled and end.complete  # where a profile contains more than locks
        return Hunt(
            passing=self._passing,
            failing=self._failing,
            runs=self._attempts.count,
            failures=self._failures.counts(self._failing),
            passed_over=self._passed_over.counts(),
            not_reproduced=self._finds.not_reproduced,
            yield_points=end.global_time,
            jobs=self._batch.jobs,
            why_fresh=self._batch.runner.why_fresh,
            others=self._others.counts(),
            interrupted=self._interrupted,
            one_schedule=has_one_schedule(first),
            output=first.output,
            simplifying_runs=self._simplifying_runs,
            threads_meet=threads_meet(first.touches) if learns else None,
            asleep_s=min(self._asleep_ns, default=0) / 1e9,
            coverage=self._attempts.coverage if learns else None,
            further=tuple(replace(log, failure=options.failure) for log in self._finds.further),
            elsewhere=self._elsewhere.counts(),
            learnt=self._attempts.save(self._found()),
            out_of_time=self._attempts.out_of_time,
        )
