"""Replays a log to see what its threads execute, instruction by instruction."""

from __future__ import annotations

from dataclasses import replace

from replay_dd.schedules.executed import ExecutedRun
from replay_dd.schedules.model import Log
from replay_dd.schedules.replay import exact_plan, find_divergence
from replay_dd.schedules.target import run_target

MOST = 200_000  # instructions that are kept of a run
LONGEST_RUN = 1_000_000  # yield points; the report slows a run down, so there is none for longer runs
BEFORE = 5_000  # yield points before the first one asked for, so that it is known how the thread came there


def executed_run(log: Log, *, first: int = 0, time_limit_s: float | None = None) -> ExecutedRun | None:
    """Replay a log and report what its threads executed.

    Args:
        log: the log.
        first: the global time from which it is needed.
        time_limit_s: seconds after which the run is killed; None for no limit.

    Returns:
        The report; None if the run is too long, or not the one in the log.
    """
    if log.ending.global_time > LONGEST_RUN:
        return None
    plan = replace(exact_plan(log, time_limit_s), executed=(max(0, first - BEFORE), MOST))
    run = run_target(log.program, log.settings, plan, time_limit_s=time_limit_s)
    if find_divergence(log, run.log) is not None:
        return None
    return ExecutedRun(run.executed, whole=len(run.executed) < MOST)
