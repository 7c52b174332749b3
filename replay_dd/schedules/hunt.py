"""Hunts for a failing run: varies the schedule until one run fails and one passes, and simplifies both."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import chain
from typing import NamedTuple

from replay_dd.experiment.process import LIVE
from replay_dd.experiment.waiting import result_of
from replay_dd.schedules.failure_signature import PASSED, Signature, signature_of
from replay_dd.schedules.fork_server_client import Runner
from replay_dd.schedules.hunt_runs import HuntRuns
from replay_dd.schedules.hunt_simplify import Simplifier
from replay_dd.schedules.likely_preemptions import likely_preemptions, threads_meet
from replay_dd.schedules.model import Log, Program, Settings
from replay_dd.schedules.record import DEFAULT_TIME_LIMIT_S, plan_for, verified
from replay_dd.schedules.runtime.points.bytecode import SYNC
from replay_dd.schedules.target import Plan, TargetRun, usable_jobs

_MIXTURE = ("bounded", "pct", "bounded", "pct", "bounded", "random")
_LIKELY_OF = 3  # while there are likely preemptions, one of so many runs takes a strategy, in case none of them is it


class EndingCount(NamedTuple):
    """An ending that runs had.

    Attributes:
        text: in words.
        runs: how many had it.
        messages: how many different words there were for it, as messages may differ from run to run.
    """

    text: str
    runs: int
    messages: int


@dataclass(frozen=True)
class Hunt:
    """What a hunt found.

    Attributes:
        passing: the log of a run that passed, if one did.
        failing: the log of a run that failed, if one did.
        runs: how many runs were looked at.
        failures: the failures that count, with how many runs had each; that of ``failing`` in the words of this log.
        passed_over: failures that do not count, as their words lack what was asked for.
        not_reproduced: failures whose replay took another way.
        yield_points: of the first run.
        jobs: how many runs went on at the same time.
        others: endings that are neither, such as time-outs, with how many runs had each.
        interrupted: whether Ctrl-C ended the hunt.
        one_schedule: whether the program starts no thread, so that there is nothing to vary.
        output: what the first run wrote.
        simplifying_runs: how many more runs it took to simplify both logs.
        threads_meet: whether a thread changed something that another one touched, in counted code of the first run;
            None where that was not looked at.
        why_fresh: why runs were fresh processes; empty where they were forked.
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
    on_run: Callable[[int, Plan, Signature], None] | None = None,
    on_simplify: Callable[[int], None] | None = None,
) -> Hunt:
    """Vary the schedule until one run fails and one passes.

    The first run takes the default schedule; the others take the strategy with seeds counted up. By default they are a
    mixture: single preemptions where threads touch the same object
    (:mod:`~replay_dd.schedules.likely_preemptions`), as long as there are any, and strategies: mostly ``bounded``,
    which finds the failures that are easiest to explain, then ``pct``, and occasionally ``random``. Runs are evaluated
    in this order, so the answer does not depend on the number of jobs.

    Args:
        program: what to run.
        settings: what to count and hold fixed.
        runs: how many runs at most.
        seed: the first seed.
        strategy: one of :data:`~replay_dd.schedules.record.STRATEGIES`; None for a mixture.
        jobs: how many runs at the same time.
        time_limit_s: seconds after which a run is killed; None for no limit.
        simplify: reduce both schedules to the choices that their endings need.
        may_fork: fork the program at its first thread for each run, where it allows that.
        failure: only a failure whose words contain this counts; others are passed over, and do not end the hunt.
        on_run: called with number, plan and ending of each run, in order.
        on_simplify: called with the number of each run that simplifies what was found; with 0 at the beginning.

    Raises:
        ProgramNotFoundError, NotControlledError: it cannot be run, or not under the scheduler.
    """
    with Runner(program, settings, may_fork=may_fork) as runner:
        profiled = strategy is None and settings.granularity != SYNC  # which notes nothing but locks
        first = runner.run(Plan("profile" if strategy is None else "default"), time_limit_s)
        first = replace(first, log=replace(first.log, strategy="default"))
        jobs = usable_jobs(first.log, jobs)
        if time_limit_s is not None and not first.log.ending.timed_out:
            time_limit_s = min(time_limit_s, 10 + 20 * first.log.ending.seconds)
        batch = HuntRuns(runner, first, jobs, time_limit_s)
        end = first.log.ending
        one_schedule = end.complete and len(end.thread_times) < 2
        plans = _plans(strategy, seed, first, 0 if one_schedule else runs - 1)
        finds = _Finds(runner, jobs, time_limit_s, failure)
        looked_at = 0
        failures, passed_over, others = _Tally(), _Tally(), _Tally()
        interrupted = False
        attempts = chain([(Plan(), first)], batch.runs(plans))
        while not finds.complete:
            try:
                plan, run = next(attempts)
                looked_at += 1
                signature = signature_of(run.log.ending)
                if on_run is not None:
                    on_run(looked_at, plan, signature)
                if signature.failed:
                    (failures if failure in signature.text else passed_over).add(signature)
                elif signature.kind != PASSED:
                    others.add(signature)
                finds.look_at(run, signature)
            except StopIteration:
                break
            except KeyboardInterrupt:
                interrupted = True
                break
        if interrupted:
            finds.take_passing_unverified()
        else:
            finds.verify()
        passing, failing = finds.passing, finds.failing
        simplifier = Simplifier(batch, on_simplify)
        if simplify and not interrupted and passing is not None and failing is not None:
            try:
                passing = simplifier.simplified(passing)
                failing = simplifier.simplified(failing, failure)
                failing = simplifier.with_one_preemption(failing, seed, failure)
            except KeyboardInterrupt:
                interrupted = True  # what was found is there, and only less simple
        return Hunt(
            *(passing, failing, looked_at, failures.told(failing), passed_over.told(), finds.not_reproduced),
            *(end.global_time, jobs, runner.why_fresh, others.told(), interrupted),
            one_schedule=one_schedule,
            output=first.output,
            simplifying_runs=simplifier.runs,
            threads_meet=threads_meet(first.touches) if profiled and end.complete else None,
        )


class _Tally:
    """Endings met, and how many runs had each; those with one signature count as one, whatever their words."""

    def __init__(self) -> None:
        self._met: list[list[Signature]] = []

    def add(self, signature: Signature) -> None:
        same = next((met for met in self._met if met[0].same(signature)), None)
        if same is None:
            self._met.append([signature])
        else:
            same.append(signature)

    def told(self, log: Log | None = None) -> tuple[EndingCount, ...]:
        """In words, those of the first run, but for the ending of a log those of this log."""
        last = None if log is None else signature_of(log.ending)
        return tuple(
            EndingCount(
                last.text if last and met[0].same(last) else met[0].text, len(met), len({one.text for one in met})
            )
            for met in self._met
        )


class _Finds:
    """The first runs that pass and fail, and whose replay does the same.

    A passing run is replayed only with a failing one: a hunt that is interrupted before does not need it.
    """

    def __init__(self, runner: Runner, jobs: int, time_limit_s: float | None, failure: str) -> None:
        self._runner = runner
        self._failure = failure
        self._jobs = jobs
        self._time_limit_s = time_limit_s
        self._passed: TargetRun | None = None
        self.passing: Log | None = None
        self.failing: Log | None = None
        self.not_reproduced = 0

    @property
    def complete(self) -> bool:
        return self.passing is not None and self.failing is not None

    def look_at(self, run: TargetRun, signature: Signature) -> None:
        if signature.kind == PASSED and self._passed is None:
            self._passed = run
        if signature.failed and self._failure in signature.text and self.failing is None:
            self.verify(failed=run)
        elif self.failing is not None:
            self.verify()

    def take_passing_unverified(self) -> None:
        """Do with what there is: no more runs can be made."""
        if self.passing is None and self._passed is not None:
            self.passing = self._passed.log

    def verify(self, failed: TargetRun | None = None) -> None:
        """Replay the candidates: a failing run, and the first that passed; at the same time where that may be."""
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
                self._runner.stop_forking("a fresh replay of a forked run took another way")

    def _verified(self, run: TargetRun | None) -> Log | None:
        if run is None:
            return None
        log = verified(run, self._time_limit_s).log
        told = signature_of(log.ending)
        return log if log.verified and (not told.failed or self._failure in told.text) else None


def _plans(strategy: str | None, seed: int, first: TargetRun, amount: int) -> Iterator[Plan]:
    thread_times = first.log.ending.thread_times
    if strategy is not None:
        yield from (plan_for(strategy, seed + number, thread_times) for number in range(amount))
        return
    likely = likely_preemptions(first.touches)
    for number in range(amount):
        trigger = next(likely, None) if number % _LIKELY_OF != _LIKELY_OF - 1 else None
        if trigger is not None:
            yield Plan("replay", triggers=(trigger,), label="preemption at a conflict")
        else:
            yield plan_for(_MIXTURE[number % len(_MIXTURE)], seed + number, thread_times)
