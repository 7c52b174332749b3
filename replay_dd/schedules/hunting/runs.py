"""Runs the plans of a hunt in parallel; results come in the order of the plans, whatever the number of jobs."""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator
from typing import NamedTuple

from replay_dd.experiment.in_order import runs_in_order
from replay_dd.schedules.running.runner import Runner
from replay_dd.schedules.running.target import Plan, TargetRun

_SHORTEST_S = 1.0  # to find out where a program was at its end takes as long


class HuntRuns(NamedTuple):
    """How a hunt makes its runs.

    Attributes:
        runner: what runs the program.
        first: a finished run under the default schedule.
        jobs: the number of parallel runs.
        time_limit_s: seconds after which a run is killed; None for no limit.
        ends_at: the time, as ``time.monotonic`` tells it, at which it is killed in any case; None for no limit.
        fresh_limit_s: the same as ``time_limit_s`` for a process of its own, which also starts Python and loads the
            program.
    """

    runner: Runner
    first: TargetRun
    jobs: int
    time_limit_s: float | None
    ends_at: float | None = None
    fresh_limit_s: float | None = None

    def run(self, plan: Plan) -> TargetRun:
        """The run of a plan."""
        limit_s = self.fresh_limit_s if self.runner.why_fresh else self.time_limit_s
        if self.ends_at is not None:
            left_s = max(_SHORTEST_S, self.ends_at - time.monotonic())
            limit_s = left_s if limit_s is None else min(limit_s, left_s)
        return self.runner.run(plan, limit_s)

    def with_at_least(self, seconds: float) -> HuntRuns:
        """The same, but not ended before so many seconds from now."""
        return self if self.ends_at is None else self._replace(ends_at=max(self.ends_at, time.monotonic() + seconds))

    def runs(self, plans: Iterator[Plan]) -> Generator[tuple[Plan, TargetRun], None, None]:
        """The runs of the plans, in order, ``jobs`` of them in parallel; to be closed."""
        return runs_in_order(self.run, plans, self.jobs)
