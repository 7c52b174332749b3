"""Whether the interpreter can really switch threads where the guilty switch is.

Where a place follows a call, the bytecode alone does not tell: after a function in C the interpreter looks whether
another thread wants to run, after one in Python it does not. A run that switches one yield point earlier tells what the
thread did last.
"""

from __future__ import annotations

from dataclasses import replace

from replay_dd.schedules.model import Log, Switch, Trigger
from replay_dd.schedules.runtime.compat import CALLS
from replay_dd.schedules.trials import ScheduleTests


def settle_reachable(tests: ScheduleTests, log: Log, switch: Switch) -> Switch:
    """The switch, with the last word on whether it is possible under the GIL.

    Args:
        tests: what runs schedules.
        log: a run that has the switch.
        switch: one of its switches.
    """
    place = switch.place
    if place is None or not place.after_call or not place.gil_reachable or switch.time < 1:
        return switch
    others = tuple(trigger for trigger in log.triggers if trigger != switch.trigger)
    earlier = Trigger(switch.thread, switch.time - 1, switch.to)
    run = tests.run(tuple(sorted((*others, earlier))))
    last = next((found.place for found in run.switches if found.trigger == earlier), None)
    if last is None or (last.path, last.function) == (place.path, place.function):
        return switch  # what was called is not counted: it is in C, or library code with such places of its own
    reachable = last.instruction in CALLS  # the last act of the function in Python was a call itself
    return replace(switch, place=replace(place, gil_reachable=reachable))
