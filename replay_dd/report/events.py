"""Sessions and their isolation as text and as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from replay_dd.events.actions import actions_of
from replay_dd.events.model import Ending, Session, Window
from replay_dd.events.result import MinimizedSession
from replay_dd.events.words import describe_action
from replay_dd.report.counts import tests_in_words

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


def minimized_as_text(found: MinimizedSession, log: Path, passing_log: Path | None = None) -> Iterator[str]:
    """The answer of an isolation.

    Args:
        found: the answer.
        log: where the failing session is.
        passing_log: where the passing one is, if there is one.
    """
    before = len(found.original_actions)
    left = found.minimal.actions
    runs = found.rate_after[1]
    if not found.reproduced:
        yield f"Not reproduced: in {runs} fresh replays, what the search found never failed like this."
    if found.passing is None:
        words = "The failure needs" if found.reproduced else "The search ended with"
        yield f"{words} {_count(len(left), 'action')} of {before}:"
        for number, action in zip(found.needed, left, strict=True):
            yield f"  {number + 1:>4}  {describe_action(action, found.original)}"
    else:
        yield f"The difference is {_count(len(found.differing), 'action')}:"
        for item in found.differing:
            sign = "-" if item.in_passing else "+"
            yield f"  {sign} {item.place + 1:>4}  {describe_action(item.action, found.original)}"
        words = "the program fails" if found.reproduced else "the program failed in the search"
        yield f"With + and without - ({_count(len(left), 'action')} in all) {words};"
        yield f"without + and with - ({len(found.passing.actions)}) it does not."
    yield from _ending(found.ending)
    yield f"tests        {tests_in_words(found.tests, found.tests_requested, found.seconds)}"
    yield f"before       failed in {found.rate_before[0]} of {found.rate_before[1]} replays of the whole session"
    if runs:
        yield f"proof        failed in {found.rate_after[0]} of {runs} fresh replays of what is left"
    if found.rate_passing[1]:
        yield f"             and in {found.rate_passing[0]} of {found.rate_passing[1]} of what passes"
    if not found.complete:
        yield "The search was stopped before its end: less may be needed."
    if passing_log is not None:
        yield f"passes       replay-dd replay {passing_log}"
    yield f"fails        replay-dd replay {log}"


def minimized_as_json(found: MinimizedSession, log: Path) -> dict[str, Any]:
    """The answer of an isolation, for machines."""
    answer = {
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
        "reproduced": found.reproduced,
        "complete": found.complete,
        "log": str(log),
    }
    if found.passing is not None:
        answer["difference"] = [
            {
                "only_in": "passing" if item.in_passing else "failing",
                "number": item.place + 1,
                "action": describe_action(item.action, found.original),
            }
            for item in found.differing
        ]
        answer["rate_passing"] = list(found.rate_passing)
    return answer


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
