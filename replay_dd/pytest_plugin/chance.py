"""Whether random numbers decide how a test ends, where no schedule does.

Under the scheduler, a test draws the same numbers in each run. So one that is flaky because of them ends alike under
each schedule, and only other numbers show what it is.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

from replay_dd.schedules.failures.signature import PASSED, signature_of
from replay_dd.schedules.model import Program, Settings
from replay_dd.schedules.running.target import Plan, run_target

_SEEDS = 5  # that are tried


def decided_by_chance(
    program: Program,
    settings: Settings,
    *,
    fails: bool,
    time_limit_s: float,
    seconds: float,
    is_over: Callable[[], bool],
) -> str:
    """That a test ends otherwise with other random numbers, in words; empty if it was not seen to.

    Args:
        program: runs the test alone.
        settings: those under which it ends alike under each schedule.
        fails: whether it fails there; else it passes.
        time_limit_s: seconds after which a run is ended.
        seconds: after this long, no more runs are made.
        is_over: whether no time is left for all tests.
    """
    ends_at_s = time.monotonic() + seconds

    def ends_otherwise(other: Settings) -> bool:
        signature = signature_of(run_target(program, other, Plan("default"), time_limit_s=time_limit_s).log.ending)
        return signature.kind == PASSED if fails else signature.failed

    for number in range(1, _SEEDS + 1):
        other = replace(settings, entropy_seed=settings.entropy_seed + number)
        if is_over() or time.monotonic() >= ends_at_s:
            return ""
        if ends_otherwise(other) and ends_otherwise(other):  # twice: it might be something else
            ends = "passes" if fails else "fails"
            return (
                f"chance decides, and no schedule that was tried: with other random numbers, it {ends}; seed them in "
                "the test"
            )
    return ""
