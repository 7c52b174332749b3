"""Hunts for a failing run: varies the schedule until one run fails and one passes, and simplifies both."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace

from replay_dd.experiment.process import LIVE
from replay_dd.schedules.errors import NotReproducedError
from replay_dd.schedules.minimize import minimize
from replay_dd.schedules.model import Log, Program, Settings
from replay_dd.schedules.record import DEFAULT_TIME_LIMIT_S, plan_for, verified, verify_log
from replay_dd.schedules.server import Runner
from replay_dd.schedules.signature import PASSED, Signature, signature_of
from replay_dd.schedules.target import Plan, TargetRun, run_target, usable_jobs

SIMPLIFY_LIMIT_S = 60.0
_MIXTURE = ("bounded", "pct", "bounded", "pct", "bounded", "random")
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

    The first run takes the default schedule; the others take the strategy with seeds counted up, by default a mixture:
    ``bounded`` most often, as it finds the failures that are easiest to explain, then ``pct``, and ``random`` now and
    then. Runs are looked at in this order, so the answer does not depend on the number of jobs.

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
        first = run_target(program, settings, Plan(), time_limit_s=time_limit_s)
        jobs = usable_jobs(first.log, jobs)
        if time_limit_s is not None and not first.log.ending.timed_out:
            time_limit_s = min(time_limit_s, 10 + 20 * first.log.ending.seconds)
        batch = _Batch(runner, first, jobs, time_limit_s)
        plans = _plans(strategy, seed, first.log.ending.thread_times, runs - 1)
        passing: Log | None = None
        failing: Log | None = None
        failures: dict[str, int] = {}
        not_reproduced = looked_at = 0
        others: dict[str, int] = {}
        interrupted = False
        attempts = batch.runs(plans)
        while True:
            try:
                plan, run = next(attempts)
            except StopIteration:
                break
            except KeyboardInterrupt:
                interrupted = True
                break
            looked_at += 1
            signature = signature_of(run.log.ending)
            if on_run is not None:
                on_run(looked_at, plan, signature)
            if signature.kind != PASSED:
                met = failures if signature.failed else others
                met[signature.text] = met.get(signature.text, 0) + 1
            wanted = failing is None if signature.failed else passing is None and signature.kind == PASSED
            if wanted:
                log = verified(run, time_limit_s).log
                if not log.verified:
                    not_reproduced += 1
                    runner.stop_forking("a fresh replay of a forked run took another way")
                elif signature.failed:
                    failing = log
                else:
                    passing = log
            if passing is not None and failing is not None:
                break
        if simplify and not interrupted and passing is not None and failing is not None:
            passing = _simplified(passing, batch)
            failing = _simplified(failing, batch)
            failing = _with_one_preemption(failing, batch, seed) or failing
        return Hunt(
            *(passing, failing, looked_at, tuple(failures.items()), not_reproduced),
            *(first.log.ending.global_time, jobs, runner.why_fresh, tuple(others.items()), interrupted),
        )


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
                        yield done, future.result()
                for done, future in waiting:
                    yield done, future.result()
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


def _plans(strategy: str | None, seed: int, thread_times: Mapping[str, int], amount: int) -> Iterator[Plan]:
    for number in range(amount):
        chosen = strategy or _MIXTURE[number % len(_MIXTURE)]
        yield plan_for(chosen, seed + number, thread_times)
