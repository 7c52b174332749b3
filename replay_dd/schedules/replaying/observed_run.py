"""Replays the run of a log once more, to see where its threads stand at each switch and what they access.

Rules of this module:

* What is not the same run tells nothing: a replay whose digest is not that of the log is an error.
* Where threads stand is told of every switch; what they access only where yield points are accesses, and of a long run
  not at all.
"""

from __future__ import annotations

from dataclasses import replace

from replay_dd.errors.program import NotReproducedError
from replay_dd.schedules.model import Log
from replay_dd.schedules.observed.observation import Observation
from replay_dd.schedules.replaying.comparable import time_limit_for
from replay_dd.schedules.replaying.replay import check_unchanged, exact_plan
from replay_dd.schedules.running.target import run_target
from replay_dd.schedules.runtime.points.bytecode import ACCESS

LONGEST_OBSERVED = 20_000  # yield points
_ALL_THREADS = ""
_NEVER = 1 << 62
_SLOWER = 3  # observed runs take longer


def observe_run(log: Log, time_limit_s: float | None = None) -> Observation:
    """What is seen when the run of a log is repeated.

    Args:
        log: the log.
        time_limit_s: seconds after which the run is killed; None to derive it from the recorded run.

    Raises:
        ProgramChangedError, ProgramNotFoundError, NotControlledError: the program can no longer be run.
        NotReproducedError: it took another path.
    """
    check_unchanged(log)
    limit_s = time_limit_for([log]) * _SLOWER if time_limit_s is None else time_limit_s
    whole = shows_accesses(log)
    plan = replace(exact_plan(log), observed={_ALL_THREADS: (0 if whole else _NEVER, _NEVER)})
    run = run_target(log.program, log.settings, plan, time_limit_s=limit_s)
    if run.log.ending.digest != log.ending.digest:
        raise NotReproducedError(
            "The run took another path when it was repeated, so where its threads stood is unknown."
        )
    return run.accesses


def shows_accesses(log: Log) -> bool:
    """Whether accesses are told of this run, besides stacks."""
    return log.settings.granularity == ACCESS and log.ending.global_time <= LONGEST_OBSERVED
