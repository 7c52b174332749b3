"""Runs both twins of an isolated switch once more, observed.

Rules of this module:

* What is not the same run tells nothing: an observed run whose digest differs from its log's is thrown away.
* A long run is observed around the switch only.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

from replay_dd.schedules.hang import Hang
from replay_dd.schedules.isolating.failing_range import FailingRange
from replay_dd.schedules.model import Log, Switch
from replay_dd.schedules.observed.flow import Flow
from replay_dd.schedules.observed.observation import NOTHING_OBSERVED, Observation
from replay_dd.schedules.replaying.execution import run_once_more
from replay_dd.schedules.replaying.replay import exact_plan
from replay_dd.schedules.running.runner import Runner
from replay_dd.schedules.runtime.points.bytecode import ACCESS

_TOO_SLOW = "takes longer when it is observed, and was not over in time; `--time-limit` gives it more"
_WHOLE_RUN = 20_000  # yield points; up to here all of a run is observed
_BEFORE, _AFTER = 2_000, 5_000  # yield points of each thread, around the switch
OBSERVED_RUNS = 2  # both twins
_MOST_STEPS = 200_000  # instructions
_ALL_OTHERS = ""
_NEVER = 1 << 62


class Twins(NamedTuple):
    """The two observed runs, and how values flowed through them; ``why_not`` tells why there are none.

    Of a run that hangs and its twin, what happened to locks and the like is known too.
    """

    failing: Observation = NOTHING_OBSERVED
    passing: Observation = NOTHING_OBSERVED
    failing_flow: Flow | None = None
    passing_flow: Flow | None = None
    why_not: str = ""
    failing_hang: Hang | None = None
    passing_hang: Hang | None = None


def observe_twins(
    passing: Log,
    failing: Log,
    switch: Switch,
    failing_range: FailingRange | None,
    time_limit_s: float | None,
    runner: Runner | None = None,
) -> Twins:
    """Observe the two final runs of an isolation.

    Args:
        passing: the final passing run.
        failing: the final failing run.
        switch: the guilty switch in the failing run.
        failing_range: the range in which it fails, if it has one.
        time_limit_s: seconds after which a run is killed.
        runner: runs the program; by default fresh processes do.

    Raises:
        ProgramNotFoundError, NotControlledError: the program can no longer be run.
    """
    hangs = bool(failing.ending.deadlock)
    if failing.settings.granularity != ACCESS and not hangs:
        return Twins(why_not=f"the yield points of these logs are not accesses but `{failing.settings.granularity}`")
    first = switch if failing_range is None else failing_range.first
    windows = windows_around(failing, first, switch) if failing.settings.granularity == ACCESS else {}
    hang: list[Hang | None] = []
    seen: list[Observation] = []
    flows: list[Flow | None] = []
    for name, log in (("failing", failing), ("passing", passing)):
        plan = replace(exact_plan(log, time_limit_s), observed=windows, history=hangs)
        if windows:
            plan = replace(plan, followed=(max(0, first.global_time - _BEFORE), _MOST_STEPS))
        run = run_once_more(log, plan, time_limit_s, runner)
        if run.log.ending.timed_out and not log.ending.timed_out:
            return Twins(why_not=f"the {name} run {_TOO_SLOW}")
        if run.log.ending.digest != log.ending.digest:
            return Twins(why_not=f"the {name} run took another path when it was observed")
        seen.append(run.accesses)
        flows.append(run.flow)
        hang.append(run.hang)
    return Twins(seen[0], seen[1], flows[0], flows[1], failing_hang=hang[0], passing_hang=hang[1])


def windows_around(log: Log, first: Switch, last: Switch) -> Mapping[str, tuple[int, int]]:
    """The thread times between which threads are observed: all of a short run, else what surrounds two switches."""
    if log.ending.global_time <= _WHOLE_RUN:
        return {_ALL_OTHERS: (0, _NEVER)}
    reached = dict.fromkeys(log.ending.thread_times, 0)
    for switch in log.switches:
        if switch.global_time <= first.global_time:
            reached[switch.thread] = switch.time
    windows = {thread: (max(0, time - _BEFORE), time + _AFTER) for thread, time in reached.items()}
    windows[last.thread] = (max(0, first.time - _BEFORE), last.time + _AFTER)
    return windows
