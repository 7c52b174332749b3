"""``replay-dd replay`` and ``replay-dd show`` for sessions with windows."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from replay_dd.cli.errors import EXIT_CANNOT_TELL
from replay_dd.cli.gui_options import conditions_of, pace_option, play_options
from replay_dd.cli.progress import say
from replay_dd.errors.user import NothingRecordedError
from replay_dd.events.actions import actions_of
from replay_dd.events.log import FORMAT as SESSION_FORMAT
from replay_dd.events.log import read_session
from replay_dd.events.model import EndingKind, Pace, Session
from replay_dd.events.signature import outcome_of
from replay_dd.events.target import check_program
from replay_dd.events.trial import Run, run_session
from replay_dd.events.x11.display import PrivateDisplay, choose_window_manager, window_manager_like
from replay_dd.outcome import Outcome
from replay_dd.report.events import session_as_json, session_as_text

__all__ = ["SESSION_FORMAT", "gui_replay_options", "replay_session", "show_session"]

Command = TypeVar("Command", bound=Callable[..., Any])


def gui_replay_options(command: Command) -> Command:
    """The options of ``replay`` that are for sessions with windows."""
    wm = click.option("--wm", metavar="NAME", help="Another window manager than the session's, or `none`.")
    return play_options(pace_option(wm(command)))


def replay_session(
    log: Path,
    *,
    accept_changes: bool,
    pace: str | None,
    wm: str | None,
    player: str,
    settle: float | None,
    start_limit: float,
    hang_limit: float,
) -> int:
    """Play a session again; the exit status as ``git bisect run`` takes it.

    Raises:
        ReplayDDError: it cannot be played.
    """
    session = read_session(log)
    if not accept_changes:
        check_program(session)
    run = _play(session, pace, wm, conditions=(player, settle, start_limit, hang_limit), pictures=None)
    sys.stdout.write(run.ending.output)
    if run.ending.output and not run.ending.output.endswith("\n"):
        sys.stdout.write("\n")
    done = run.ending.actions
    click.echo(f"played: {done} of {len(actions_of(session))} actions in {run.play_s:.2f} s")
    click.echo(f"outcome: {run.ending.text}")
    recorded = session.ending
    if recorded is None or not recorded.failed:
        if run.ending.failed:
            return 1
        same = recorded is None or _same_end(recorded.kind, run.ending.kind)
        return 0 if same else EXIT_CANNOT_TELL
    outcome = outcome_of(run.ending, recorded)
    if outcome is Outcome.UNRESOLVED:
        say(f"another failure than the recorded one: {recorded.text}")
    return {Outcome.PASS: 0, Outcome.FAIL: 1, Outcome.UNRESOLVED: EXIT_CANNOT_TELL}[outcome]


def _same_end(one: EndingKind, other: EndingKind) -> bool:
    return one is other


def show_session(log: Path, *, as_json: bool, thumbnails: Path | None) -> None:
    """Print what a session holds; play it for pictures where these are wanted."""
    session = read_session(log)
    if as_json:
        click.echo(json.dumps(session_as_json(session), indent=2))
    else:
        for line in session_as_text(session):
            click.echo(line)
    if thumbnails is not None:
        thumbnails.mkdir(parents=True, exist_ok=True)
        run = _play(session, None, None, conditions=("xtest", 0.0, 30.0, 5.0), pictures=thumbnails)
        click.echo(f"pictures     {len(run.frames)} actions in {thumbnails}")


def _play(
    session: Session,
    pace: str | None,
    wm: str | None,
    *,
    conditions: tuple[str, float | None, float, float],
    pictures: Path | None,
) -> Run:
    actions = actions_of(session)
    if not actions:
        raise NothingRecordedError("The session holds no actions.")
    how = conditions_of(*conditions, pace=session.pace if pace is None else Pace(pace))
    manager = window_manager_like(session.window_manager) if wm is None else choose_window_manager(wm)
    if wm is None and manager != session.window_manager:
        say(
            f"the window manager {session.window_manager} is not installed; windows may stand elsewhere under {manager}"
        )
    with PrivateDisplay(session.screen, manager) as display:
        return run_session(session, actions, display, how, pictures=pictures)
