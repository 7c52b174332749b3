"""Records one run, and hunts for a failing one."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

from replay_dd.schedules.model import Log, Program, Settings
from replay_dd.schedules.replay import replay, with_verdict
from replay_dd.schedules.signature import Signature, signature_of
from replay_dd.schedules.target import Plan, TargetRun, run_target

STRATEGIES = ("default", "random", "pct")
GRANULARITIES = ("sync", "gil", "line", "access")
DEFAULT_TIME_LIMIT_S = 300.0
_DEPTHS = (2, 3, 4)  # of PCT, in turn: most known bugs have one of these (Burckhardt et al. 2010, table 2)


def settings_for_now(
    granularity: str = "access", include: tuple[str, ...] = (), exclude: tuple[str, ...] = ()
) -> Settings:
    """Settings whose virtual clock starts now."""
    return Settings(granularity, include, exclude, start_ns=time.time_ns(), entropy_seed=1)


def plan_for(strategy: str, seed: int, steps: int) -> Plan:
    """The plan of one run of a strategy.

    Args:
        strategy: ``default``, ``random`` or ``pct``.
        seed: of its random choices.
        steps: an estimate of the yield points of a run, for ``pct``.
    """
    if strategy == "default":
        return Plan()
    if strategy == "random":
        return Plan("random", {"seed": seed})
    return Plan("pct", {"seed": seed, "depth": _DEPTHS[seed % len(_DEPTHS)], "steps": steps})


def record(
    program: Program,
    settings: Settings,
    *,
    strategy: str = "default",
    seed: int = 0,
    time_limit_s: float | None = DEFAULT_TIME_LIMIT_S,
    verify: bool = True,
    show_output: bool = True,
) -> TargetRun:
    """Run a program under a strategy and keep its schedule.

    Args:
        program: what to run.
        settings: what to count and hold fixed.
        strategy: who decides about the schedule.
        seed: of the strategy's random choices.
        time_limit_s: seconds after which the run is killed; None for no limit.
        verify: replay the log once, and note in it whether that gave the same digest.
        show_output: let the program write to our standard output and error.

    Raises:
        ProgramNotFoundError, NotControlledError: it cannot be run, or not under the scheduler.
    """
    steps = 0
    if strategy == "pct":
        # PCT spreads its switches over the length of a run, which only a run can tell.
        steps = run_target(program, settings, Plan(), time_limit_s=time_limit_s).log.ending.global_time
    plan = plan_for(strategy, seed, steps)
    run = run_target(program, settings, plan, time_limit_s=time_limit_s, show_output=show_output)
    if not verify or run.log.ending.timed_out:
        return run
    return verified(run, time_limit_s)


def verified(run: TargetRun, time_limit_s: float | None) -> TargetRun:
    """Replay a run once and note in its log whether the digest is the same."""
    again = replay(run.log, time_limit_s=time_limit_s)
    same = again.divergence is None and again.reproduced
    return TargetRun(with_verdict(run.log, same), run.output, run.backend, run.backend_reason)


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
    """

    passing: Log | None
    failing: Log | None
    runs: int
    failures: tuple[tuple[str, int], ...]
    not_reproduced: int
    yield_points: int


def hunt(
    program: Program,
    settings: Settings,
    *,
    runs: int,
    seed: int = 0,
    strategy: str | None = None,
    jobs: int = 1,
    time_limit_s: float | None = DEFAULT_TIME_LIMIT_S,
    on_run: Callable[[int, Plan, Signature], None] | None = None,
) -> Hunt:
    """Vary the schedule until one run fails and one passes.

    The first run takes the default schedule; the others take the strategy with seeds counted up, by default ``pct`` and
    ``random`` in turn. Runs are looked at in this order, so the answer does not depend on the number of jobs.

    Args:
        program: what to run.
        settings: what to count and hold fixed.
        runs: how many runs at most.
        seed: the first seed.
        strategy: ``default``, ``random`` or ``pct``; None for a mixture.
        jobs: how many runs at the same time.
        time_limit_s: seconds after which a run is killed; None for no limit.
        on_run: called with number, plan and ending of each run, in order.

    Raises:
        ProgramNotFoundError, NotControlledError: it cannot be run, or not under the scheduler.
    """
    first = run_target(program, settings, Plan(), time_limit_s=time_limit_s)
    steps = first.log.ending.global_time
    if time_limit_s is not None and not first.log.ending.timed_out:
        time_limit_s = min(time_limit_s, 10 + 20 * first.log.ending.seconds)
    plans = _plans(strategy, seed, steps, runs - 1)
    passing: Log | None = None
    failing: Log | None = None
    failures: dict[str, int] = {}
    not_reproduced = looked_at = 0
    for plan, run in _run_all(program, settings, first, plans, jobs, time_limit_s):
        looked_at += 1
        signature = signature_of(run.log.ending)
        if on_run is not None:
            on_run(looked_at, plan, signature)
        if signature.failed:
            failures[signature.text] = failures.get(signature.text, 0) + 1
        if signature.failed and failing is None:
            log = verified(run, time_limit_s).log
            failing = log if log.verified else None
            not_reproduced += not log.verified
        elif signature.kind == "passed" and passing is None:
            log = verified(run, time_limit_s).log
            passing = log if log.verified else None
            not_reproduced += not log.verified
        if passing is not None and failing is not None:
            break
    return Hunt(passing, failing, looked_at, tuple(failures.items()), not_reproduced, steps)


def _plans(strategy: str | None, seed: int, steps: int, amount: int) -> Iterator[Plan]:
    for number in range(amount):
        chosen = strategy or ("pct", "random")[number % 2]
        yield plan_for(chosen, seed + number, steps)


def _run_all(
    program: Program,
    settings: Settings,
    first: TargetRun,
    plans: Iterator[Plan],
    jobs: int,
    time_limit_s: float | None,
) -> Iterator[tuple[Plan, TargetRun]]:
    """The runs in the order of their plans, ``jobs`` at the same time."""
    yield Plan(), first

    with ThreadPoolExecutor(jobs) as pool:
        waiting: list[tuple[Plan, Future[TargetRun]]] = []
        try:
            for plan in plans:
                waiting.append((plan, pool.submit(run_target, program, settings, plan, time_limit_s=time_limit_s)))
                if len(waiting) >= jobs:
                    done, future = waiting.pop(0)
                    yield done, future.result()
            for done, future in waiting:
                yield done, future.result()
        finally:
            for _, future in waiting:
                future.cancel()


