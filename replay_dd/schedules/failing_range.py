"""The failing range of a guilty switch: the stretch of its thread within which the switch makes the run fail.

The isolation ends at one edge: a switch here fails, one step further it passes. This finds the other edge by bisection.
The two edges together show what a reader needs: the read and the write that must not be separated.
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
    """The range in which a switch from one thread to another makes the run fail.

    Attributes:
        first: the earliest such switch found.
        last: the latest such switch found.
        before: the switch one step before the range; None if the range begins with the thread's turn.
        tests: the number of runs that finding the other edge took.
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
        tests: the runs of the isolation so far.
        runs: runs the schedules.
        failing: the final failing run.
        switch: its guilty switch; the run passes if it comes later.
        jobs: the number of parallel runs.

    Raises:
        KeyboardInterrupt: Ctrl-C.

    Returns:
        The range; None if the switch is forced, or the thread's turn begins with it.
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
    # Each unit delta delays the switch by one yield point; all of them together are the failing run.
    search = Search(DD(EMPTY, times.universe), known={EMPTY: Outcome.PASS, times.universe: Outcome.FAIL})
    result = run_search(search, tests.outcome, jobs=jobs, on_interrupt=LIVE.kill_all)
    if result.stopped_by == "interrupt":
        raise KeyboardInterrupt
    first = switch_at(tests, times, first_time + result.c_fail.count)
    before = switch_at(tests, times, first_time + result.c_pass.count)
    return None if first is None else FailingRange(first, switch, before, result.executed + 1)


def switch_at(tests: Tests[Log], times: ShiftedPreemption, time: int) -> Switch | None:
    """The switch as the run with it at this thread time really made it; None if it was skipped there."""
    configuration = times.at(time)
    wanted = times.trigger(configuration)
    run, _ = tests.of(configuration)
    return next((found for found in run.switches if found.trigger == wanted), None)
