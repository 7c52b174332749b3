"""The failing range of a guilty switch: from where to where in its thread a switch makes the run fail.

The isolation ends at one edge: a switch here fails, one step further it passes. This finds the other edge by bisection,
as the two together are what a reader looks for: the read and the write that must not be torn apart.
"""

from __future__ import annotations

from dataclasses import dataclass

from replay_dd.dd import DD, EMPTY, Search
from replay_dd.experiment.process import LIVE
from replay_dd.experiment.search import run_search
from replay_dd.experiment.testing import Tests
from replay_dd.outcome import Outcome
from replay_dd.schedules.circumstance import ScheduleRunner, ShiftedPreemption
from replay_dd.schedules.model import Log, Switch


@dataclass(frozen=True)
class FailingRange:
    """Where a switch of one thread to another fails.

    Attributes:
        first: the earliest such switch found.
        last: the latest such switch found.
        before: the switch one step before the range, None where the range begins with the thread's turn.
        tests: runs that it took to find the other edge.
    """

    first: Switch
    last: Switch
    before: Switch | None
    tests: int


def find_failing_range(
    tests: Tests[Log], runs: ScheduleRunner, failing: Log, switch: Switch, jobs: int
) -> FailingRange | None:
    """Find the earliest time at which the isolated switch makes the run fail.

    Args:
        tests: what the isolation has run.
        runs: what runs schedules.
        failing: the final failing run.
        switch: its guilty switch, which passes when it comes later.
        jobs: how many runs at the same time.

    Raises:
        KeyboardInterrupt: Ctrl-C.

    Returns:
        The range; None where the switch is no preemption, or the thread's turn begins with it.
    """
    if switch.forced:
        return None
    earlier = [other.time for other in failing.switches if other.thread == switch.thread and other.time < switch.time]
    first_time = max(earlier, default=0) + 1
    if first_time >= switch.time:
        return None
    times = ShiftedPreemption(runs, failing, switch, first_time)
    tests.continue_with(times)
    if tests.outcome(EMPTY) is Outcome.FAIL:
        first = switch_at(tests, times, first_time)
        return None if first is None else FailingRange(first, switch, None, 1)
    # Unit deltas: each lets the switch come one yield point later; all of them are the failing run.
    search = Search(DD(EMPTY, times.universe), known={EMPTY: Outcome.PASS, times.universe: Outcome.FAIL})
    result = run_search(search, tests.outcome, jobs=jobs, on_interrupt=LIVE.kill_all)
    if result.stopped_by == "interrupt":
        raise KeyboardInterrupt
    first = switch_at(tests, times, first_time + result.c_fail.count)
    before = switch_at(tests, times, first_time + result.c_pass.count)
    return None if first is None else FailingRange(first, switch, before, result.executed + 1)


def switch_at(tests: Tests[Log], times: ShiftedPreemption, time: int) -> Switch | None:
    """The switch as it really came in the run that has it at a thread time; None where it could not come."""
    configuration = times.at(time)
    wanted = times.trigger(configuration)
    run, _ = tests.of(configuration)
    return next((found for found in run.switches if found.trigger == wanted), None)
