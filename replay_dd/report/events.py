"""Sessions and their isolation as text and as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from replay_dd.events.actions import actions_of
from replay_dd.events.model import Ending, Session, Window
from replay_dd.events.result import MinimizedSession
from replay_dd.events.words import describe_action

_MOST_FRAMES = 6


def session_as_text(session: Session) -> Iterator[str]:
    """What a session holds: the actions in words, one in each line, and how it ended."""
    actions = actions_of(session)
    width = len(str(len(actions)))
    screen = f"{session.screen.width_px}x{session.screen.height_px}"
    yield f"program      {' '.join(session.program.command)}"
    yield f"screen       {screen}, {session.window_manager or 'no window manager'}"
    raw = f"{len(session.events)} events, " if session.events else ""
    seed = "" if session.seed is None else f", seed {session.seed}"
    yield f"recorded     {raw}{len(actions)} actions ({session.recorder}{seed})"
    for number, action in enumerate(actions, 1):
        yield f"  {number:>{width}}  {describe_action(action, session)}"
    yield from _ending(session.ending)


def session_as_json(session: Session) -> dict[str, Any]:
    """The same for machines."""
    return {
        "command": list(session.program.command),
        "screen": [session.screen.width_px, session.screen.height_px],
        "window_manager": session.window_manager,
        "recorder": session.recorder,
        "events": len(session.events),
        "actions": [describe_action(action, session) for action in actions_of(session)],
        "ending": ending_as_json(session.ending),
        "verified": session.verified,
    }


def ending_as_json(ending: Ending | None) -> dict[str, Any] | None:
    """How a run ended."""
    if ending is None:
        return None
    return {
        "kind": ending.kind.value,
        "text": ending.text,
        "failed": ending.failed,
        "signature": ending.signature,
        "status": ending.status,
        "signal": ending.signal,
        "frames": list(ending.frames),
    }


def minimized_as_text(found: MinimizedSession, log: Path) -> Iterator[str]:
    """The answer of an isolation."""
    before = len(found.original_actions)
    left = found.minimal.actions
    if found.passing is None:
        yield f"The failure needs {_count(len(left), 'action')} of {before}:"
        for number, action in zip(found.needed, left, strict=True):
            yield f"  {number + 1:>4}  {describe_action(action, found.original)}"
    else:
        yield f"The difference is {_count(len(found.needed), 'action')} of {before}:"
        for number in found.needed:
            yield f"  {number + 1:>4}  {describe_action(found.original_actions[number], found.original)}"
        without = len(found.passing.actions)
        yield f"With it ({len(left)} actions in all) the program fails, without it ({without}) it does not."
    yield from _ending(found.ending)
    yield f"tests        {found.tests} run, {found.tests_requested} asked for, {found.seconds:.1f} s"
    yield f"before       failed in {found.rate_before[0]} of {found.rate_before[1]} replays of the whole session"
    if found.rate_after[1]:
        yield f"proof        failed in {found.rate_after[0]} of {found.rate_after[1]} fresh replays of what is left"
    if not found.complete:
        yield "The search was stopped before its end: less may be needed."
    yield f"fails        replay-dd replay {log}"


def minimized_as_json(found: MinimizedSession, log: Path) -> dict[str, Any]:
    """The answer of an isolation, for machines."""
    return {
        "actions_before": len(found.original_actions),
        "actions_left": len(found.minimal.actions),
        "needed": [number + 1 for number in found.needed],
        "actions": [describe_action(action, found.original) for action in found.minimal.actions],
        "ending": ending_as_json(found.ending),
        "tests": found.tests,
        "tests_requested": found.tests_requested,
        "seconds": round(found.seconds, 3),
        "rate_before": list(found.rate_before),
        "rate_after": list(found.rate_after),
        "complete": found.complete,
        "log": str(log),
    }


def describe_window(window: Window) -> str:
    """A window in a few words."""
    area = window.area
    return f'"{window.name}" ({area.width_px}x{area.height_px} at {area.x_px},{area.y_px})'


def _ending(ending: Ending | None) -> Iterator[str]:
    if ending is None:
        yield "ending       not recorded: the log was cut off"
        return
    yield f"ending       {ending.text}"
    for frame in ending.frames[:_MOST_FRAMES]:
        yield f"               {frame}"


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
