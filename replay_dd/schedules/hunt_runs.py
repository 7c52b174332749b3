"""Runs the plans of a hunt in parallel; results come in the order of the plans, whatever the number of jobs."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

from replay_dd.experiment.process import LIVE
from replay_dd.experiment.waiting import result_of
from replay_dd.schedules.fork_server_client import Runner
from replay_dd.schedules.target import Plan, TargetRun


@dataclass(frozen=True)
class HuntRuns:
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

    def runs(self, plans: Iterator[Plan]) -> Iterator[tuple[Plan, TargetRun]]:
        """The runs of the plans, in order, ``jobs`` of them in parallel."""
        with ThreadPoolExecutor(self.jobs) as pool:
            waiting: list[tuple[Plan, Future[TargetRun]]] = []
            try:
                for plan in plans:
                    waiting.append((plan, pool.submit(self.runner.run, plan, self.time_limit_s)))
                    if len(waiting) >= self.jobs:
                        done, future = waiting.pop(0)
                        yield done, result_of(future)
                for done, future in waiting:
                    yield done, result_of(future)
            except KeyboardInterrupt:
                LIVE.kill_all()
                raise
            finally:
                for _, future in waiting:
                    future.cancel()
