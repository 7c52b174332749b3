"""``replay-dd show`` of a GUI session."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from replay_dd.cli.output import echo, echo_json, echo_lines
from replay_dd.cli.progress import say
from replay_dd.cli.replay_session import play_session
from replay_dd.cli.session_playback import conditions_of
from replay_dd.events.actions import actions_of
from replay_dd.events.model import Session
from replay_dd.events.naming import named
from replay_dd.events.told import replayed_on_bus, told_targets
from replay_dd.events.x11.display import window_manager_like
from replay_dd.report.events import session_as_json, session_as_text


def show_session(session: Session, path: Path, *, as_json: bool, pictures: Path | None) -> None:
    """Print what a session holds; play it for screenshots, and for names, where they are wanted.

    Raises:
        ReplayDDError: it cannot be played.
    """
    run, told = None, session
    try:
        if pictures is not None:
            pictures.mkdir(parents=True, exist_ok=True)
            conditions = conditions_of(pace=session.pace, recorded=session.playback)
            run = play_session(session, conditions, pictures=pictures, want_targets=True)
            actions, manager = actions_of(session), window_manager_like(session.window_manager)
            targets = told_targets(run, partial(replayed_on_bus, session, actions, conditions, manager))
            told = named(session, actions, targets, run.elsewhere)
    finally:
        # Also where it cannot be played.
        if as_json:
            echo_json(session_as_json(told))
        else:
            echo_lines(session_as_text(told))
    if run is not None:
        tell = say if as_json else echo
        tell(f"pictures     {len(run.frames)} actions in {pictures}")
