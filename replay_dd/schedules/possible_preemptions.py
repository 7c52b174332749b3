"""The preemptions of a run that are worth trying, and possible.

That is, the other thread has not ended by then, and no choice is made there already.
"""

from __future__ import annotations

from collections.abc import Iterator

from replay_dd.schedules.likely_preemptions import Preemption, likely_preemptions
from replay_dd.schedules.observation import is_installed
from replay_dd.schedules.target import TargetRun


def possible_preemptions(run: TargetRun) -> Iterator[Preemption]:
    """Preemptions to add to a run, the most promising first.

    Args:
        run: a run with what its threads touched.
    """
    ended = {switch.thread: switch.global_time for switch in run.log.switches if switch.ended}
    taken = {(switch.thread, switch.time) for switch in run.log.switches if not switch.by_default}
    own = {key for key, place in run.touched.items() if not is_installed(place.path)}
    uses_packages = len(own) < len(run.touched)
    for found in likely_preemptions(run.touches, run.alternatives, own if uses_packages else ()):
        trigger = found.trigger
        is_free = (trigger.thread, trigger.time) not in taken
        if is_free and found.global_time < ended.get(trigger.to, found.global_time + 1):
            yield found
