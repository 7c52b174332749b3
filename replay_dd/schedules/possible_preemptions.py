"""The preemptions of a run that are worth trying, without those whose other thread has ended by then."""

from __future__ import annotations

from collections.abc import Iterator

from replay_dd.schedules.likely_preemptions import Preemption, likely_preemptions
from replay_dd.schedules.target import TargetRun


def possible_preemptions(run: TargetRun) -> Iterator[Preemption]:
    """Preemptions to add to a run, the most promising first.

    Args:
        run: a run with what its threads touched.
    """
    ended = {switch.thread: switch.global_time for switch in run.log.switches if switch.ended}
    for found in likely_preemptions(run.touches, run.alternatives):
        if found.global_time < ended.get(found.trigger.to, found.global_time + 1):
            yield found
