"""The recorder of thread schedules."""

from __future__ import annotations

from replay_dd.schedules.model import Program, Settings
from replay_dd.schedules.replaying.record import DEFAULT_TIME_LIMIT_S, record
from replay_dd.schedules.running.target import TargetRun


class ThreadRecorder:
    """Records the thread schedule of a Python program under the deterministic scheduler."""

    name = "threads"

    def record(
        self,
        program: Program,
        settings: Settings,
        *,
        strategy: str = "default",
        seed: int = 0,
        time_limit_s: float | None = DEFAULT_TIME_LIMIT_S,
        verify: bool = True,
        show_output: bool = True,
    ) -> TargetRun:
        """Run a program and keep its schedule; see :func:`replay_dd.schedules.replaying.record.record`."""
        return record(
            program,
            settings,
            strategy=strategy,
            seed=seed,
            time_limit_s=time_limit_s,
            verify=verify,
            show_output=show_output,
        )
