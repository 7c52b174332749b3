"""Runs sessions, each on its own display."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from replay_dd.errors.machine import DisplayLostError
from replay_dd.events.displays import DisplaySupply
from replay_dd.events.model import Action, Session
from replay_dd.events.run import Conditions, Run, run_session


class SessionRunner:
    """Plays actions to one program, each time on a fresh display.

    Args:
        session: provides the program, the screen and the window manager.
        conditions: how to make each run.
        supply: provides the displays.
    """

    def __init__(self, session: Session, conditions: Conditions, supply: DisplaySupply) -> None:
        self.session = session
        self.conditions = conditions
        self._supply = supply

    def run(self, actions: Sequence[Action], *, pictures: Path | None = None, want_backtrace: bool = False) -> Run:
        """Play actions once; try again if the display dies.

        Raises:
            ReplayDDError: the program cannot be run.
        """
        try:
            return self._run(actions, pictures, want_backtrace)
        except DisplayLostError:
            return self._run(actions, pictures, want_backtrace)

    def _run(self, actions: Sequence[Action], pictures: Path | None, want_backtrace: bool) -> Run:
        display = self._supply.take()
        try:
            return run_session(
                *(self.session, actions, display, self.conditions), pictures=pictures, want_backtrace=want_backtrace
            )
        finally:
            self._supply.give_back(display)
