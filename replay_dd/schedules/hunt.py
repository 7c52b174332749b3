"""Hunts for a failing run: varies the schedule until one run fails and one passes, and simplifies both."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace

from replay_dd.experiment.process import LIVE
from replay_dd.experiment.waiting import result_of
from replay_dd.schedules.conflicts import preemptions
from replay_dd.schedules.errors import NotReproducedError
from replay_dd.schedules.model import Log, Program, Settings
from replay_dd.schedules.record import DEFAULT_TIME_LIMIT_S, plan_for, verified, verify_log
from replay_dd.schedules.server import Runner
from replay_dd.schedules.signature import PASSED, Signature, signature_of
from replay_dd.schedules.target import Plan, TargetRun, usable_jobs

SIMPLIFY_LIMIT_S = 60.0
_MIXTURE = ("bounded", "pct", "bounded", "pct", "bounded", "random")
_LIKELY_OF = 3  # while there are likely preemptions, one of so many runs takes a strategy, in case none of them is it
_SIMPLER_RUNS = 80  # how many runs with one preemption are tried to find a simpler way to the same failure


@dataclass(frozen=True)
class Hunt:
    """What a hunt found.

    Attributes:
        passing: the log of a run that passed, if one did.
        failing: the log of a run that failed, if one did.
        runs: how many runs were looked at.
        failures: the failures met, with how many runs had each.
        not_reproduced: failures whose replay took another way.
        yield_points: of the first run.
        jobs: how many runs went on at the same time.
        others: endings that are neither, such as time-outs, with how many runs had each.
        interrupted: whether Ctrl-C ended the hunt.
        one_schedule: whether the program starts no thread, so that there is nothing to vary.
        output: what the first run wrote.
        why_fresh: why runs were fresh processes; empty where they were forked.
    """

    passing: Log | None
    failing: Log | None
    runs: int
    failures: tuple[tuple[str, int], ...]
    not_reproduced: int
    yield_points: int
    jobs: int
    why_fresh: str
    others: tuple[tuple[str, int], ...]
    interrupted: bool
    one_schedule: bool = False
    output: bytes = b""


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
    on_run: Callable[[int, Plan, Signature], None] | None = None,
) -> Hunt:
    """Vary the schedule until one run fails and one passes.

    The first run takes the default schedule; the others take the strategy with seeds counted up. By default they are a
    mixture: single preemptions where threads touch the same thing (see :mod:`~replay_dd.schedules.conflicts`), as long
    as there are such, and strategies: ``bounded`` most often, as it finds the failures that are easiest to explain,
    then ``pct``, and ``random`` now and then. Runs are looked at in this order, so the answer does not depend on the
    number of jobs.

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
        on_run: called with number, plan and ending of each run, in order.

    Raises:
        ProgramNotFoundError, NotControlledError: it cannot be run, or not under the scheduler.
    """
    with Runner(program, settings, may_fork=may_fork) as runner:
        first = runner.run(Plan("profile" if strategy is None else "default"), time_limit_s)
        first = replace(first, log=replace(first.log, strategy="default"))
        jobs = usable_jobs(first.log, jobs)
        if time_limit_s is not None and not first.log.ending.timed_out:
            time_limit_s = min(time_limit_s, 10 + 20 * first.log.ending.seconds)
        batch = _Batch(runner, first, jobs, time_limit_s)
        end = first.log.ending
        one_schedule = end.complete and len(end.thread_times) < 2
        plans = _plans(strategy, seed, first, 0 if one_schedule else runs - 1)
        finds = _Finds(runner, jobs, time_limit_s)
        looked_at = 0
        failures: dict[str, int] = {}
        others: dict[str, int] = {}
        interrupted = False
        attempts = batch.runs(plans)
        while not finds.complete:
            try:
                plan, run = next(attempts)
                looked_at += 1
                signature = signature_of(run.log.ending)
                if on_run is not None:
                    on_run(looked_at, plan, signature)
                if signature.kind != PASSED:
                    met = failures if signature.failed else others
                    met[signature.text] = met.get(signature.text, 0) + 1
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
        if simplify and not interrupted and passing is not None and failing is not None:
            passing = _simplified(passing, batch)
            failing = _simplified(failing, batch)
            failing = _with_one_preemption(failing, batch, seed) or failing
        return Hunt(
            *(passing, failing, looked_at, tuple(failures.items()), finds.not_reproduced),
            *(first.log.ending.global_time, jobs, runner.why_fresh, tuple(others.items()), interrupted),
            one_schedule=one_schedule,
            output=first.output,
        )


class _Finds:
    """The first runs that pass and fail, and whose replay does the same.

    A passing run is replayed only with a failing one: a hunt that is interrupted before does not need it.
    """

    def __init__(self, runner: Runner, jobs: int, time_limit_s: float | None) -> None:
        self._runner = runner
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
        if signature.failed and self.failing is None:
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
        return log if log.verified else None


@dataclass(frozen=True)
class _Batch:
    """How the runs of a hunt are made."""

    runner: Runner
    first: TargetRun
    jobs: int
    time_limit_s: float | None

    def runs(self, plans: Iterator[Plan]) -> Iterator[tuple[Plan, TargetRun]]:
        """The first run, then those of the plans in their order, ``jobs`` at the same time."""
        yield Plan(), self.first
        with ThreadPoolExecutor(self.jobs) as pool:
            waiting: list[tuple[Plan, Future[TargetRun]]] = []
            try:
                for plan in plans:
                    waiting.append((plan, pool.submit(self.runner.run, plan, self.time_limit_s)))
                    if len(waiting) >= self.jobs:
                        done, future = waiting.pop(0)
                        yield done, result_of(future)
                for done, future in waiting:
                    yield done, result_of(future)
            except KeyboardInterrupt:
                LIVE.kill_all()
                raise
            finally:
                for _, future in waiting:
                    future.cancel()


def _simplified(log: Log, batch: _Batch) -> Log:
    """The same ending with fewer deviations from the default schedule: easier to read, and to isolate from."""
    if not log.triggers:
        return log
    if len(log.triggers) == 1 and not signature_of(log.ending).same(signature_of(batch.first.log.ending)):
        return log  # without this choice it is the first run, which ended otherwise
    from replay_dd.schedules.minimize import minimize  # half of all that a hunt loads, and not every hunt gets here

    try:
        found = minimize(
            log,
            jobs=batch.jobs,
            time_limit_s=batch.time_limit_s,
            search_limit_s=SIMPLIFY_LIMIT_S,
            runner=batch.runner,
        )
    except NotReproducedError:
        return log
    simple = verify_log(found.log, batch.time_limit_s)
    same = signature_of(simple.ending).same(signature_of(log.ending))
    return replace(simple, strategy=f"{log.strategy}, simplified") if simple.verified and same else log


def _with_one_preemption(log: Log, batch: _Batch, seed: int) -> Log | None:
    """The same failure by a single preemption of the default schedule, if a few runs find one.

    A simplified schedule cannot lose one choice more, but it may be on a roundabout way.
    """
    first = batch.first.log.ending
    if len(log.triggers) < 2 or signature_of(first).kind != PASSED:
        return None
    wanted = signature_of(log.ending)
    options = ({"seed": seed + number, "preemptions": 1} for number in range(_SIMPLER_RUNS))
    for _, run in batch.runs(Plan("bounded", option, first.thread_times) for option in options):
        if signature_of(run.log.ending).same(wanted):
            simpler = verify_log(run.log, batch.time_limit_s)
            if simpler.verified:
                return simpler
    return None


def _plans(strategy: str | None, seed: int, first: TargetRun, amount: int) -> Iterator[Plan]:
    thread_times = first.log.ending.thread_times
    if strategy is not None:
        yield from (plan_for(strategy, seed + number, thread_times) for number in range(amount))
        return
    likely = preemptions(first.touches)
    for number in range(amount):
        trigger = next(likely, None) if number % _LIKELY_OF != _LIKELY_OF - 1 else None
        if trigger is not None:
            yield Plan("replay", triggers=(trigger,), label="preemption at a conflict")
        else:
            yield plan_for(_MIXTURE[number % len(_MIXTURE)], seed + number, thread_times)
