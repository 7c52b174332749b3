"""Checks a recorded session by playing it."""

from __future__ import annotations

from dataclasses import replace

from replay_dd.events.actions import actions_of
from replay_dd.events.model import EndingKind, Pace, Session
from replay_dd.events.run import Conditions, Run, run_session
from replay_dd.events.x11.display import PrivateDisplay, window_manager_like


def verify_session(session: Session, conditions: Conditions) -> tuple[Pace, tuple[str, ...]]:
    """Play a session at the fastest pace at which it ends as recorded; answer the pace and what still differs."""
    manager = window_manager_like(session.window_manager)
    first: tuple[str, ...] = ()
    for pace in Pace:
        with PrivateDisplay(session.screen, manager) as display:
            run = run_session(session, actions_of(session), display, replace(conditions, pace=pace))
        differences = tuple(_differences(session, run))
        if not differences:
            return pace, ()
        first = first or differences
    return Pace.FAST, first


def _differences(session: Session, run: Run) -> list[str]:
    found = []
    ending = session.ending
    if ending is not None and (ending.kind, ending.signal, ending.status) != (
        run.ending.kind,
        run.ending.signal,
        run.ending.status,
    ):
        found.append(f"{ending.text} was recorded; the replay ended differently: {run.ending.text}")
    if ending is not None and ending.kind is EndingKind.OPEN and run.ending.kind is EndingKind.OPEN:
        left = sorted(session.windows[number].name for number in _open_windows(session))
        again = sorted(window.name for window in run.windows)
        if left != again:
            found.append(f"at the end, {_named(left)} open; in the replay, {_named(again)}")
    return found


def _named(windows: list[str]) -> str:
    names = ", ".join(f'"{name}"' for name in windows)
    return f"{names} {'was' if len(windows) == 1 else 'were'}" if windows else "no window was"


def _open_windows(session: Session) -> list[int]:
    there: dict[int, None] = {}
    for change in session.changes:
        if change.appeared:
            there[change.window] = None
        else:
            there.pop(change.window, None)
    return list(there)
