"""Whether the interpreter's lock (the GIL) lets threads switch where the guilty switch is.

Where a place follows a call, the bytecode alone does not tell: after a function in C the interpreter looks whether
another thread wants to run, after one in Python it does not. A run that switches one yield point earlier tells what the
thread did last.
"""

from __future__ import annotations

from dataclasses import replace

from replay_dd.experiment.testing import Tests
from replay_dd.schedules.circumstance import ScheduleRunner, ShiftedPreemption
from replay_dd.schedules.failing_range import switch_at
from replay_dd.schedules.model import Log, Switch


def with_gil_label(tests: Tests[Log], runs: ScheduleRunner, log: Log, switch: Switch) -> Switch:
    """The switch, with the last word on whether it is possible under the GIL.

    Args:
        tests: what the isolation has run.
        runs: what runs schedules.
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
        return switch  # what was called is not counted: it is in C, or library code with such places of its own
    reachable = last.instruction.startswith("CALL")  # the last act of the function in Python was a call itself
    return replace(switch, place=replace(place, gil_reachable=reachable))
