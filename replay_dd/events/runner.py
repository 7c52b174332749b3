"""Runs sessions, each on its own display."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from replay_dd.errors.machine import DisplayLostError
from replay_dd.events.displays import DisplaySupply
from replay_dd.events.hangs import sooner
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

    def run(
        self,
        actions: Sequence[Action],
        *,
        pictures: Path | None = None,
        want_backtrace: bool = False,
        want_targets: bool = False,
        on_bus: bool = False,
    ) -> Run:
        """Play actions once; try again if the display dies.

        Args:
            actions: what to play.
            pictures: a folder for screenshots; None for no film.
            want_backtrace: ask gdb about a crash.
            want_targets: ask the program what the actions are done to.
            on_bus: let the program's toolkit tell of its widgets.

        Raises:
            ReplayDDError: the program cannot be run.
        """
        wanted = {
            "pictures": pictures,
            "want_backtrace": want_backtrace,
            "want_targets": want_targets,
            "on_bus": on_bus,
        }
        try:
            return self._run(actions, wanted)
        except DisplayLostError:
            return self._run(actions, wanted)

    def watching(self, linger_s: float) -> SessionRunner:
        """A runner that watches the program for so long after the last action."""
        return SessionRunner(self.session, replace(self.conditions, linger_s=linger_s), self._supply)

    def suspecting(self) -> SessionRunner:
        """A runner that takes a program for hung soon (:mod:`replay_dd.events.hangs`)."""
        return SessionRunner(self.session, sooner(self.conditions), self._supply)

    def _run(self, actions: Sequence[Action], wanted: dict[str, Any]) -> Run:
        display = self._supply.take()
        try:
            return run_session(self.session, actions, display, self.conditions, **wanted)
        finally:
            self._supply.give_back(display)
