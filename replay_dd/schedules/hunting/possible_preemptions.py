"""The preemptions of a run that are worth trying, and possible.

That is, the other thread has not ended by then, and no choice is made there already. Where it seems that the other
thread cannot run at that moment, the preemption is one of the last to be tried: a run of a server has many, and they
change nothing. Whenever a thread cannot go on, all that could run instead are known, and also who can run again since
then. Whoever is not seen from there on until the moment in question waits.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator

from replay_dd.schedules.hunting.likely_preemptions import Preemption, likely_preemptions
from replay_dd.schedules.observed.observation import is_installed
from replay_dd.schedules.running.target import TargetRun

_CANNOT_RUN = 3  # ranks later: after all those of a run in which the other thread can run, as far as is known


def possible_preemptions(run: TargetRun) -> Iterator[Preemption]:
    """Preemptions to add to a run, the most promising first, but for those to threads that seem to wait.

    Args:
        run: a run with what its threads touched.
    """
    ended = {switch.thread: switch.global_time for switch in run.log.switches if switch.ended}
    taken = {(switch.thread, switch.time) for switch in run.log.switches if not switch.by_default}
    own = {key for key, place in run.touched.items() if not is_installed(place.path)}
    uses_packages = len(own) < len(run.touched)
    waits = _who_waits(run)
    for found in likely_preemptions(run.touches, run.alternatives, own if uses_packages else ()):
        trigger = found.trigger
        is_free = (trigger.thread, trigger.time) not in taken
        if is_free and found.global_time < ended.get(trigger.to, found.global_time + 1):
            later = _CANNOT_RUN if waits(trigger.to, found.global_time) else 0
            yield found._replace(rank=found.rank + later)


def _who_waits(run: TargetRun) -> Callable[[str, int], bool]:
    """Tells whether a thread seems to be unable to run at a global time."""
    forced = [switch.global_time for switch in run.log.switches if switch.forced]
    able: dict[str, list[int]] = {}
    for thread, time in sorted(_seen_able(run), key=lambda one: one[1]):
        able.setdefault(thread, []).append(time)

    def waits(thread: str, time: int) -> bool:
        times, number = able.get(thread, []), bisect_left(forced, time)
        since = bisect_left(times, forced[number - 1] if number else 0)
        return bool(times) and (since == len(times) or times[since] > time)

    return waits


def _seen_able(run: TargetRun) -> Iterator[tuple[str, int]]:
    """Threads that could run, or did, and when."""
    for switch in run.log.switches:
        yield switch.to, switch.global_time
        if not switch.forced:
            yield switch.thread, switch.global_time
    for one in run.alternatives:
        yield one.to, one.global_time
