"""Many runs of one session: each on a display of its own, several at the same time."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from replay_dd.errors.machine import DisplayLostError
from replay_dd.events.displays import DisplaySupply
from replay_dd.events.model import Action, Session
from replay_dd.events.trial import Conditions, Run, run_session
from replay_dd.experiment.waiting import result_of


class Trials:
    """Runs configurations on fresh displays.

    Args:
        session: names program, screen and window manager.
        conditions: how runs are made.
        supply: of displays.
    """

    def __init__(self, session: Session, conditions: Conditions, supply: DisplaySupply) -> None:
        self.session = session
        self.conditions = conditions
        self._supply = supply
        self._lock = threading.Lock()
        self.runs = 0

    def run(self, actions: Sequence[Action], *, pictures: Path | None = None, want_backtrace: bool = False) -> Run:
        """Play actions once; once more where the display died.

        Raises:
            ReplayDDError: the program cannot be run.
        """
        try:
            return self._run(actions, pictures, want_backtrace)
        except DisplayLostError:
            return self._run(actions, pictures, want_backtrace)

    def _run(self, actions: Sequence[Action], pictures: Path | None, want_backtrace: bool) -> Run:
        with self._lock:
            self.runs += 1
        display = self._supply.take()
        try:
            return run_session(
                *(self.session, actions, display, self.conditions), pictures=pictures, want_backtrace=want_backtrace
            )
        finally:
            self._supply.give_back(display)

    def several(self, actions: Sequence[Action], times: int, jobs: int) -> list[Run]:
        """Play the same actions several times."""
        if jobs == 1 or times == 1:
            return [self.run(actions) for _ in range(times)]
        with ThreadPoolExecutor(min(jobs, times), "replay-dd-measure") as pool:
            return [result_of(run) for run in [pool.submit(self.run, actions) for _ in range(times)]]
