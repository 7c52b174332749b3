"""The runs by which the story of an isolated switch tries orders: no more of them than the isolation took."""

from __future__ import annotations

import time
from dataclasses import dataclass

from replay_dd.schedules.isolating.answer import GuiltySwitch, ScheduleIsolation
from replay_dd.schedules.isolating.circumstance import MixedSchedules
from replay_dd.schedules.model import Ending
from replay_dd.schedules.running.runner import Runner
from replay_dd.schedules.story.conflict import Conflict
from replay_dd.schedules.story.links import Links, try_links
from replay_dd.schedules.story.twins import OBSERVED_RUNS, Twins


@dataclass
class OrderTrials:
    """Tries the orders of conflicts.

    Attributes:
        found: the isolation.
        twins: what was seen of its final runs.
        runner: runs the program.
        limit_s: seconds after which a run is killed; None for no limit.
        ends_at: the time, as ``time.monotonic`` tells it, after which no more runs are made; None for no limit.
        runs: how many runs were made so far.
    """

    found: ScheduleIsolation
    twins: Twins
    runner: Runner
    limit_s: float | None
    ends_at: float | None = None
    runs: int = 0

    @property
    def ending(self) -> Ending:
        """How the failing run ended."""
        return self.found.failing.ending

    @property
    def needs_several(self) -> bool:
        """Whether it is known which choices the failure needs."""
        return self.found.needed is not None and self.found.needed.minimal

    def links(self, switch: GuiltySwitch, conflict: Conflict) -> tuple[Conflict, Links]:
        """The conflict as it was proved, and what was tried; the runs are all that were made so far.

        Args:
            switch: the choice at which to try it.
            conflict: what the threads did.

        Raises:
            KeyboardInterrupt: Ctrl-C.
            ReplayDDError: the program can no longer be run.
        """
        schedules = self.found.isolation.circumstance
        assert isinstance(schedules, MixedSchedules)
        proved, links = try_links(
            *(conflict, self.twins.failing, self.found.failing, switch.failing, schedules.runs, self.runner),
            time_limit_s=self.limit_s,
            most_runs=self.found.isolation.runs - OBSERVED_RUNS - self.runs,
            is_late=lambda: self.ends_at is not None and time.monotonic() >= self.ends_at,
        )
        self.runs += links.runs
        return proved, links._replace(runs=self.runs)
