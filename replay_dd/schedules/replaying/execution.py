"""Replays a log to see what its threads execute, instruction by instruction."""

from __future__ import annotations

from dataclasses import replace

from replay_dd.schedules.model import Log
from replay_dd.schedules.observed.executed import ExecutedRun
from replay_dd.schedules.replaying.replay import exact_plan, find_divergence
from replay_dd.schedules.running.runner import Runner
from replay_dd.schedules.running.target import Plan, TargetRun, run_target

MOST = 200_000  # instructions that are kept of a run
LONGEST_RUN = 1_000_000  # yield points; the report slows a run down, so there is none for longer runs
BEFORE = 5_000  # yield points before the first one asked for, so that it is known how the thread came there


def executed_run(
    log: Log, *, first: int = 0, time_limit_s: float | None = None, runner: Runner | None = None
) -> ExecutedRun | None:
    """Replay a log and report what its threads executed.

    Args:
        log: the log.
        first: the global time from which it is needed.
        time_limit_s: seconds after which the run is killed; None for no limit.
        runner: runs the program; by default a fresh process does.

    Returns:
        The report; None if the run is too long, or not the one in the log.
    """
    if log.ending.global_time > LONGEST_RUN:
        return None
    plan = replace(exact_plan(log, time_limit_s), executed=(max(0, first - BEFORE), MOST))
    run = run_once_more(log, plan, time_limit_s, runner)
    if find_divergence(log, run.log) is not None:
        return None
    return ExecutedRun(run.executed, whole=len(run.executed) < MOST)


def run_once_more(log: Log, plan: Plan, time_limit_s: float | None, runner: Runner | None) -> TargetRun:
    """Make the run of a log once more, to see more of it: forked if it can be; if that is not the run, in a process.

    Args:
        log: the log.
        plan: follows the log.
        time_limit_s: seconds after which the run is killed; None for no limit.
        runner: runs the program; by default a fresh process does.

    Raises:
        ProgramNotFoundError, NotControlledError: the program can no longer be run.
    """
    if runner is not None and not runner.why_fresh and runner.settings == log.settings:
        run = runner.run(plan, time_limit_s)
        if find_divergence(log, run.log) is None:
            return run
    return run_target(log.program, log.settings, plan, time_limit_s=time_limit_s)
