"""The window of a guilty switch: from where to where in its thread a switch makes the run fail.

The isolation ends at one edge: a switch here fails, one step further it passes. This finds the other edge by bisection,
as the two together are what a reader looks for: the read and the write that must not be torn apart.
"""

from __future__ import annotations

from dataclasses import dataclass

from replay_dd.dd import DD, EMPTY, IntervalSet, Search
from replay_dd.experiment.process import LIVE
from replay_dd.experiment.search import run_search
from replay_dd.outcome import Outcome
from replay_dd.schedules.model import Log, Switch, Trigger
from replay_dd.schedules.trials import ScheduleTests


@dataclass(frozen=True)
class Window:
    """Where a switch of one thread to another fails.

    Attributes:
        first: the earliest such switch found.
        last: the latest such switch found.
        before: the switch one step before the window, None where the window begins with the thread's turn.
        tests: runs that it took to find the other edge.
    """

    first: Switch
    last: Switch
    before: Switch | None
    tests: int


def find_window(tests: ScheduleTests, failing: Log, switch: Switch, jobs: int) -> Window | None:
    """Find the earliest time at which the isolated switch makes the run fail.

    Args:
        tests: what runs schedules.
        failing: the final failing run.
        switch: its guilty switch, which passes when it comes later.
        jobs: how many runs at the same time.

    Raises:
        KeyboardInterrupt: Ctrl-C.

    Returns:
        The window; None where the switch is no preemption, or the thread's turn begins with it.
    """
    if switch.forced:
        return None
    earlier = [other.time for other in failing.switches if other.thread == switch.thread and other.time < switch.time]
    first_time = max(earlier, default=0) + 1
    if first_time >= switch.time:
        return None
    others = tuple(trigger for trigger in failing.triggers if trigger != switch.trigger)

    def triggers(time: int) -> tuple[Trigger, ...]:
        return tuple(sorted((*others, Trigger(switch.thread, time, switch.to))))

    def switch_at(time: int) -> Switch | None:
        wanted = Trigger(switch.thread, time, switch.to)
        return next((found for found in tests.run(triggers(time)).switches if found.trigger == wanted), None)

    if tests.outcome(triggers(first_time)) is Outcome.FAIL:
        first = switch_at(first_time)
        return None if first is None else Window(first, switch, None, 1)
    # Unit deltas: each lets the switch come one yield point later; all of them are the failing run.
    units = IntervalSet.range(0, switch.time - first_time)
    known = {EMPTY: Outcome.PASS, units: Outcome.FAIL}

    def test(configuration: IntervalSet) -> Outcome:
        return tests.outcome(triggers(first_time + configuration.count))

    result = run_search(Search(DD(EMPTY, units), known=known), test, jobs=jobs, on_interrupt=LIVE.kill_all)
    if result.stopped_by == "interrupt":
        raise KeyboardInterrupt
    first = switch_at(first_time + result.c_fail.count)
    before = switch_at(first_time + result.c_pass.count)
    return None if first is None else Window(first, switch, before, result.executed + 1)
