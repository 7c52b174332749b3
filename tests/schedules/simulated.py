"""A simulated program: what a run under a schedule does is said by a function."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from replay_dd.experiment.testing import Tests
from replay_dd.schedules.isolating.circumstance import MixedSchedules, ScheduleRunner
from replay_dd.schedules.isolating.difference import difference_of
from replay_dd.schedules.model import Log, Place, Switch, Trigger
from tests.schedules.logs import FAILED, PASSED, log_of

PlaceAt = Callable[[Trigger], Place | None]


class SimulatedRunner:
    """Stands in for the runner of a program.

    Args:
        fails: whether a run under these triggers fails.
        place_at: where the thread stands at a trigger.
        skips: triggers whose target could not run.
    """

    def __init__(
        self,
        fails: Callable[[tuple[Trigger, ...]], bool],
        place_at: PlaceAt = lambda trigger: None,
        skips: Callable[[Trigger], bool] = lambda trigger: False,
    ) -> None:
        self._fails, self._place_at, self._skips = fails, place_at, skips
        self.schedules: list[tuple[Trigger, ...]] = []

    def run(self, plan: Any, time_limit_s: float | None) -> Any:
        self.schedules.append(plan.triggers)
        return SimpleNamespace(log=self.log(plan.triggers))

    def log(self, triggers: tuple[Trigger, ...]) -> Log:
        switches = [
            Switch(*trigger, False, False, self._place_at(trigger), trigger.time, trigger.time)
            for trigger in triggers
            if not self._skips(trigger)
        ]
        return log_of(switches, FAILED if self._fails(triggers) else PASSED)


def isolated(runner: SimulatedRunner, failing: Log) -> tuple[Tests[Log], ScheduleRunner]:
    """The tests of an isolation that ended with this failing run."""
    runs = ScheduleRunner(failing, runner, None, log_of([]))  # type: ignore[arg-type]
    circumstance = MixedSchedules(runs, difference_of(log_of([]), failing))
    tests = Tests(circumstance)
    tests.remember(circumstance.universe, failing, circumstance.judge(failing))
    return tests, runs
