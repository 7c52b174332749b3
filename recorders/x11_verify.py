"""Checks a recorded session by playing it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from replay_dd.events.actions import actions_of
from replay_dd.events.model import Action, EndingKind, Pace, Playback, Session, Target
from replay_dd.events.naming import targets_of
from replay_dd.events.pauses import LONGEST_LINGER_S, linger_of
from replay_dd.events.run import Conditions, Run, run_session
from replay_dd.events.told import replayed_on_bus, told_targets
from replay_dd.events.x11.display import PrivateDisplay, window_manager_like

_MUCH_LATER = 10  # times as late as in the recording


class Verification(NamedTuple):
    """What the replays of a session said.

    Attributes:
        pace: the fastest pace at which it ends as recorded; ``FAST`` if there is none.
        playback: how else it was played.
        differences: what was not the same at any pace, in words.
        targets: what its actions were done to, if it ended as recorded.
    """

    pace: Pace
    playback: Playback
    differences: tuple[str, ...] = ()
    targets: tuple[Target, ...] = ()


def verify_session(session: Session, conditions: Conditions) -> Verification:
    """Play a session at the fastest pace at which it ends as recorded."""
    manager = window_manager_like(session.window_manager)
    actions = actions_of(session)
    first: tuple[str, ...] = ()
    for tried in _ways(session, actions, conditions):
        with PrivateDisplay(session.screen, manager) as display:
            run = run_session(session, actions, display, tried, want_targets=not session.masked)
        differences = tuple(_differences(session, run))
        if not differences:
            return Verification(tried.pace, tried.playback, targets=_targets(session, actions, run, tried, manager))
        first = first or differences
    return Verification(Pace.FAST, conditions.playback, first)


def _targets(
    session: Session, actions: tuple[Action, ...], run: Run, conditions: Conditions, manager: str
) -> tuple[Target, ...]:
    return targets_of(actions, told_targets(run, lambda: replayed_on_bus(session, actions, conditions, manager)))


def _ways(session: Session, actions: tuple[Action, ...], conditions: Conditions) -> Iterator[Conditions]:
    """Every pace; at the fastest one, a failure that came late in the recording is also waited for.

    On a busy machine it may come much later than then. All runs of a search are slow at the other paces, so it is
    waited for once more, and longer.
    """
    linger_s = linger_of(session, actions, least_s=0.0)
    for pace in Pace:
        yield replace(conditions, pace=pace)
        for times in (1, _MUCH_LATER) if pace is Pace.FAST else ():
            if linger_s > conditions.linger_s:
                yield replace(conditions, pace=pace, linger_s=min(times * linger_s, LONGEST_LINGER_S))


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
