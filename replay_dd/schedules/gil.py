"""Whether the guilty switch is possible under the GIL.

After a call, the bytecode alone does not tell: the interpreter checks for a thread switch when a C function returns,
but not when a Python function does. A run that switches one yield point earlier shows what the thread did last.
"""

from __future__ import annotations

from dataclasses import replace

from replay_dd.experiment.testing import Tests
from replay_dd.schedules.circumstance import ScheduleRunner, ShiftedPreemption
from replay_dd.schedules.failing_range import switch_at
from replay_dd.schedules.model import Log, Switch
from replay_dd.schedules.runtime.compat import CALLS


def with_gil_label(tests: Tests[Log], runs: ScheduleRunner, log: Log, switch: Switch) -> Switch:
    """The switch, with the final verdict on whether it is possible under the GIL.

    Args:
        tests: the runs of the isolation so far.
        runs: runs the schedules.
        log: a run that has the switch.
        switch: one of its switches.
    """
    place = switch.place
    if place is None or not place.after_call or not place.gil_reachable or switch.time < 1:
        return switch
    times = ShiftedPreemption(runs, log, switch, switch.time - 1)
    tests.continue_with(times)
    earlier = switch_at(tests, times, switch.time - 1)
    last = None if earlier is None else earlier.place
    if last is None or (last.path, last.function) == (place.path, place.function):
        return switch  # the callee is not counted: it is in C, or library code that has such places itself
    reachable = last.instruction in CALLS  # the Python function itself ended with a call
    return replace(switch, place=replace(place, gil_reachable=reachable))
