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
    resumed = resumed_at(switches)
    waited = {(switch.thread, switch.time) for switch in switches if switch.forced}
    placed = []
    for touch in touches:
        stop = touch.thread, touch.time
        at = resumed.get(stop, -1)
        moves = at > touch.global_time and (stop not in waited or touch.thing[1] == LOCK)
        placed.append((moves, touch._replace(global_time=at) if moves else touch))
    return tuple(touch for _, touch in sorted(placed, key=lambda one: (one[1].global_time, one[0])))


def resumed_at(switches: Sequence[Switch]) -> dict[tuple[str, int], int]:
    """When threads that gave way go on, in yield points passed by all, by thread and thread time.

    Args:
        switches: of the run, in chronological order.
    """
    resumed: dict[tuple[str, int], int] = {}
    stopped: dict[str, Switch] = {}
    for switch in switches:
        before = stopped.pop(switch.to, None)
        if before is not None:
            resumed[before.thread, before.time] = switch.global_time
        stopped[switch.thread] = switch
    return resumed
