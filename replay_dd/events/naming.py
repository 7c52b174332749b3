"""Names of what a session's actions are done to, as a replay has found them.

Rules of this module:

* A session is named for those who read it. The positions and inputs of its actions stay as they are.
* A window that was recorded is named as it was. Where it was not there in the replay, since what opens it was left out,
  the window that the action was really done to takes its place.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain, repeat

from replay_dd.events.model import Action, ActionKind, Session, Target, Window
from replay_dd.events.relocate import same_kind
from replay_dd.events.x11.connection import Connection
from replay_dd.events.x11.windows import focused_window, numbered, window_at, window_under_pointer


def named(
    session: Session, actions: Sequence[Action], targets: Sequence[str], elsewhere: Sequence[Window | None]
) -> Session:
    """The session of some actions, named; as many as there are names for.

    Args:
        session: the session that they are from.
        actions: the actions.
        targets: for each action, from the first on, what it is done to; empty where that is not known.
        elsewhere: likewise, the window that it is done to if the recorded one is not there.
    """
    windows = list(session.windows)
    found = []
    for action, target, window in zip(
        actions, chain(targets, repeat("")), chain(elsewhere, repeat(None)), strict=False
    ):
        number = action.window if window is None else numbered(window, windows)
        found.append(replace(action, target=target or action.target, window=number))
    return replace(session, actions=tuple(found), windows=tuple(windows))


def targets_of(actions: Sequence[Action], told: Sequence[str]) -> tuple[Target, ...]:
    """What actions were done to, for a log of them: as many as it is known of."""
    named = zip(actions, told, strict=False)
    return tuple(Target(action.time_ms, action.kind, target) for action, target in named if target)


def is_there(recorded: Window, windows: Sequence[Window]) -> bool:
    """Whether a recorded window, or one that may be it, is among those that are there."""
    return any(same_kind(recorded, window) for window in windows)


def window_of(action: Action, connection: Connection) -> Window | None:
    """The window that an action is going to be done to; None for the background."""
    if action.start is None:
        with contextlib.suppress(*connection.bad_resource):
            focused = focused_window(connection)
            if focused is not None:
                return focused
    return pointed_at(action, connection)


def chooses_by_letter(action: Action) -> bool:
    """Whether an action would choose in an open menu by a letter, whatever entry is lit there."""
    return action.kind is ActionKind.TEXT and action.text != " "


def pointed_at(action: Action, connection: Connection) -> Window | None:
    """The window where an action begins, or the one under the pointer; None for the background."""
    return window_under_pointer(connection) if action.start is None else window_at(connection, *action.start)
