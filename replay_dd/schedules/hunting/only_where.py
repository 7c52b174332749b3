"""Hunts for the failures that only a GIL, or only its absence, lets happen: which preemptions count.

The runtime keeps preemptions to places where, by the bytecode, an interpreter with a GIL can switch, or where it cannot
(``runtime/strategies/only_where.py``). Where that depends on how a thread came there, a run that failed is looked at
once more, instruction by instruction.
"""

from __future__ import annotations

from replay_dd.errors.user import UsageError
from replay_dd.schedules.model import Log
from replay_dd.schedules.runtime.points.bytecode import GIL, SYNC
from replay_dd.schedules.runtime.strategies.only_where import WITH_GIL as WITH_GIL

WITHOUT_GIL = "only without the GIL"


def check_only(only: str, granularity: str) -> None:
    """Refuse a restriction under which nothing could be preempted, or everything.

    Raises:
        UsageError: with the granularity to use.
    """
    if not only:
        return
    option = "--gil-only" if only == WITH_GIL else "--free-threaded-only"
    if granularity == SYNC or (granularity == GIL and only != WITH_GIL):
        raise UsageError(
            f"`{option}` has nothing to choose from at granularity `{granularity}`: every place where threads can be "
            "switched there is one where an interpreter with a GIL switches, too.",
            "Use it with `--granularity access` (the default) or `--granularity line`.",
        )


def is_as_wanted(log: Log, only: str, time_limit_s: float | None) -> bool:
    """Whether all preemptions of a run are where they are wanted, as far as that is known.

    Args:
        log: the run.
        only: :data:`WITH_GIL`, :data:`WITHOUT_GIL`, or empty: anywhere.
        time_limit_s: seconds after which the run that tells is killed; None for no limit.
    """
    preemptions = [switch for switch in log.switches if not switch.forced and not switch.by_default]
    if not only or not preemptions:
        return True
    # Few hunts get here.
    from replay_dd.schedules.isolating.answer import gil_of
    from replay_dd.schedules.replaying.execution import executed_run

    run = executed_run(log, time_limit_s=time_limit_s)
    if run is None:
        return True
    unwanted = only != WITH_GIL
    return all(gil_of(run, switch, switch).reachable is not unwanted for switch in preemptions)
