"""Puts what threads touched in the order in which they did it.

A touch is noted when its thread comes to the yield point before it. A thread that gives way there makes the access only
when it goes on, after those of the other threads in between.
"""

from __future__ import annotations

from collections.abc import Sequence

from replay_dd.schedules.model import Switch
from replay_dd.schedules.observed.touches import Touch
from replay_dd.schedules.runtime.channel import LOCK


def in_order_of_access(touches: Sequence[Touch], switches: Sequence[Switch]) -> tuple[Touch, ...]:
    """The touches of a run in the order of the accesses.

    One during which a thread waits stays where it began, unless the thread waits for that very lock.

    Args:
        touches: in the order in which they were noted.
        switches: of the run, in chronological order.
    """
    resumed: dict[tuple[str, int], tuple[int, bool]] = {}
    stopped: dict[str, Switch] = {}
    for switch in switches:
        before = stopped.pop(switch.to, None)
        if before is not None:
            resumed[before.thread, before.time] = switch.global_time, before.forced
        stopped[switch.thread] = switch
    placed = []
    for touch in touches:
        at, waited = resumed.get((touch.thread, touch.time), (-1, False))
        moves = at > touch.global_time and (not waited or touch.thing[1] == LOCK)
        placed.append((moves, touch._replace(global_time=at) if moves else touch))
    return tuple(touch for _, touch in sorted(placed, key=lambda one: (one[1].global_time, one[0])))
