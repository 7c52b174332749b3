"""Runs the plans of a hunt in parallel; results come in the order of the plans, whatever the number of jobs."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import NamedTuple

from replay_dd.experiment.in_order import runs_in_order
from replay_dd.schedules.fork_server_client import Runner
from replay_dd.schedules.target import Plan, TargetRun


class HuntRuns(NamedTuple):
    """How a hunt makes its runs.

    Attributes:
        runner: what runs the program.
        first: a finished run under the default schedule.
        jobs: the number of parallel runs.
        time_limit_s: seconds after which a run is killed; None for no limit.
    """

    runner: Runner
    first: TargetRun
    jobs: int
    time_limit_s: float | None

    def runs(self, plans: Iterator[Plan]) -> Generator[tuple[Plan, TargetRun], None, None]:
        """The runs of the plans, in order, ``jobs`` of them in parallel; to be closed."""
        return runs_in_order(lambda plan: self.runner.run(plan, self.time_limit_s), plans, self.jobs)
