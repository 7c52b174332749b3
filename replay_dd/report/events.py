"""GUI sessions and their isolation as text and as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from shlex import quote
from typing import Any

from replay_dd.events.actions import actions_of
from replay_dd.events.describe import describe_action
from replay_dd.events.model import ActionKind, Ending, Session
from replay_dd.events.result import SessionIsolation
from replay_dd.report.isolation import (
    at_most,
    counted,
    isolation_as_json,
    needs_in_words,
    not_reproduced_in_words,
    search_as_text,
)
from replay_dd.report.runs import MONKEY_FORMAT, VERSION

_FORMAT = "replay-dd session summary"
_VERSION = 1
_MOST_FRAMES = 6


def session_as_text(session: Session) -> Iterator[str]:
    """The contents of a session: its actions, one per line, and how it ended."""
    actions = actions_of(session)
    width = len(str(len(actions)))
    screen = f"{session.screen.width_px}x{session.screen.height_px}"
    yield f"program      {' '.join(session.program.command)}"
    yield f"screen       {screen}, {session.window_manager or 'no window manager'}"
    raw = f"{counted(len(session.events), 'event')}, " if session.events else ""
    seed = "" if session.seed is None else f", seed {session.seed}"
    yield f"recorded     {raw}{counted(len(actions), 'action')} ({session.recorder}{seed})"
    for number, action in enumerate(actions, 1):
        yield f"  {number:>{width}}  {describe_action(action, session)}"
    yield from _ending(session.ending)


def session_as_json(session: Session) -> dict[str, Any]:
    """The object that ``show --json`` prints."""
    return {
        "format": _FORMAT,
        "version": _VERSION,
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
        "neighbours": list(ending.neighbours),
        "status": ending.status,
        "signal": ending.signal,
        "frames": list(ending.frames),
    }


def monkey_as_json(found: Session | None, log: Path, *, sessions: int, actions: int) -> dict[str, Any]:
    """The object that ``monkey --json`` prints.

    Args:
        found: the session that failed, if one did.
        log: the path of the log.
        sessions: how many were tried.
        actions: how many they had together.
    """
    return {
        "format": MONKEY_FORMAT,
        "version": VERSION,
        "failed": found is not None,
        "sessions": sessions,
        "actions": actions,
        "session": None if found is None else {"seed": found.seed, **session_as_json(found)},
        "files": {"log": str(log)},
    }


def needed_actions(found: SessionIsolation) -> Iterator[str]:
    """How many actions make the failure, and which, line by line; these are indented."""
    left = found.minimal.actions
    if found.passing is None:
        yield from needs_in_words(found.isolation, len(left), len(found.original_actions), "action")
        for number, action in zip(found.needed, left, strict=True):
            yield f"  {number + 1:>4}  {describe_action(action, found.minimal)}"
    else:
        yield from not_reproduced_in_words(found.isolation.proof)
        yield f"The difference is {at_most(found.isolation)}{counted(len(found.differing), 'action')}:"
        for item in found.differing:
            sign = "-" if item.in_passing else "+"
            yield f"  {sign} {item.place + 1:>4}  {describe_action(item.action, found.minimal)}"
        words = "the program fails" if found.reproduced else "the program failed in the search"
        yield f"With + and without - ({counted(len(left), 'action')} in all) {words};"
        yield f"without + and with - ({len(found.passing.actions):,}) it does not."


def events_as_text(
    found: SessionIsolation, log: Path, passing_log: Path | None = None, options: str = ""
) -> Iterator[str]:
    """The answer of an isolation.

    Args:
        found: the answer.
        log: the path of the failing session.
        passing_log: where the passing session is, if any.
        options: what a replay must be given so that it judges as the search did.
    """
    yield from needed_actions(found)
    neighbours = [f"also: {signature}" for signature in found.ending.neighbours]
    yield from search_as_text(found.isolation, [*found.ending.frames[:_MOST_FRAMES], *neighbours])
    if not found.isolation.complete:
        yield "The search was stopped early: fewer actions may be enough."
    if found.film_interrupted:
        yield "The answer was not filmed: interrupted."
    if passing_log is not None:
        yield f"passes       replay-dd replay {options}{quote(str(passing_log))}"
    yield f"fails        replay-dd replay {options}{quote(str(log))}"
    if passing_log is None and _could_be_finer(found):
        yield f"fewer keys   replay-dd events --finer {options}{quote(str(log))}"


def _could_be_finer(found: SessionIsolation) -> bool:
    """Whether keys may be left out of a text that was typed in one go, which the search has not tried."""
    texts = [action.text for action in found.minimal.actions if action.kind is ActionKind.TEXT]
    return found.isolation.circumstance.delta == "action" and any(len(text) > 1 for text in texts)


def events_as_json(found: SessionIsolation, log: Path, passing_log: Path | None = None) -> dict[str, Any]:
    """The same as JSON."""
    answer: dict[str, Any] = {
        "actions_before": len(found.original_actions),
        "actions": [
            {"number": number + 1, "words": describe_action(action, found.minimal)}
            for number, action in zip(found.needed, found.minimal.actions, strict=False)
        ]
        if found.passing is None
        else [
            {
                "only_in": "passing" if item.in_passing else "failing",
                "number": item.place + 1,
                "words": describe_action(item.action, found.minimal),
            }
            for item in found.differing
        ],
        "actions_played": len(found.minimal.actions),
        "ending": ending_as_json(found.ending),
    }
    return isolation_as_json(found.isolation, answer=answer, files={"failing": log, "passing": passing_log})


def _ending(ending: Ending | None) -> Iterator[str]:
    if ending is None:
        yield "ending       not recorded: the log was cut off"
        return
    yield f"ending       {ending.text}"
    for frame in ending.frames[:_MOST_FRAMES]:
        yield f"               {frame}"
