"""The film strip of a minimised session: its replay with pictures, the crash, the search, and scripts to attach."""

from __future__ import annotations

import contextlib
import os
import shlex
from pathlib import Path

from replay_dd.events.model import Action, ActionKind, Ending, InputKind, Screen, Session, Window
from replay_dd.events.result import FilmFrame, MinimizedSession
from replay_dd.events.words import in_words
from replay_dd.logfile import LogError
from replay_dd.outcome import Outcome
from replay_dd.report.filmstrip import Box, CourseStep, End, FilmStrip, Frame, filmstrip_html
from replay_dd.report.scripts import scripts_for

_PRESSING = {ActionKind.CLICK, ActionKind.DOUBLE_CLICK, ActionKind.DRAG, ActionKind.WHEEL}
_MOVING = {ActionKind.DRAG, ActionKind.MOTION}
_MOST_OUTPUT_LINES = 12


def write_events_strip(found: MinimizedSession, path: Path) -> None:
    """Write the film strip, whole or not at all.

    Args:
        found: the result; with a film for there to be pictures.
        path: the HTML file.

    Raises:
        LogError: the file cannot be written.
    """
    unfinished = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        unfinished.write_text(filmstrip_html(strip_of(found)), encoding="utf-8")
        unfinished.replace(path)
    except OSError as error:
        unfinished.unlink(missing_ok=True)
        raise LogError(
            f"The film strip {path} cannot be written: {error.strerror}.", "Name another file with `--strip`."
        ) from error


def strip_of(found: MinimizedSession) -> FilmStrip:
    """The film strip of a result."""
    actions = found.minimal.actions
    numbers = found.needed if len(found.needed) == len(actions) else (None,) * len(actions)
    filmed = () if found.film is None else found.film.frames
    frames = [
        _frame(action, number, found.minimal, filmed[place] if place < len(filmed) else None)
        for place, (action, number) in enumerate(zip(actions, numbers, strict=True))
    ]
    notes = () if found.complete else ("The search was stopped before its end: fewer actions may be enough.",)
    return FilmStrip(
        title=f"{shlex.join(found.original.program.command)}: {_count(len(actions), 'action')}",
        frames=frames,
        end=_end(found.ending, filmed),
        facts=_facts(found),
        course=[CourseStep(step.actions, Outcome[step.outcome]) for step in found.steps if step.outcome in _OUTCOMES],
        scripts=scripts_for(found.minimal, actions, found.ending.text),
        notes=notes,
    )


_OUTCOMES = {outcome.name for outcome in Outcome}


def _facts(found: MinimizedSession) -> list[tuple[str, str]]:
    screen = found.original.screen
    facts = [
        ("actions", f"{len(found.original_actions):,} → {len(found.minimal.actions):,}"),
        ("events", f"{_inputs(found.original_actions):,} → {_inputs(found.minimal.actions):,}"),
        ("the search", f"{_count(found.tests, 'test')}, {found.seconds:.1f} s"),
        ("replays that fail", f"{found.rate_after[0]} of {found.rate_after[1]}"),
        ("screen", f"{screen.width_px} × {screen.height_px}, {found.original.window_manager or 'no window manager'}"),
    ]
    if found.original.ending is not None:
        before_s, after_s = found.original.ending.time_ms / 1000, found.ending.time_ms / 1000
        facts.insert(1, ("from start to failure", f"{before_s:.2f} → {after_s:.2f} s"))
    return facts


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"


def _inputs(actions: tuple[Action, ...]) -> int:
    return sum(len(action.inputs) for action in actions)


def _frame(action: Action, number: int | None, session: Session, filmed: FilmFrame | None) -> Frame:
    window = session.window_of(action.window)
    if filmed is not None and filmed.window is not None:
        window = filmed.window
    pointer = action.start
    if pointer is None and filmed is not None:
        pointer = filmed.pointer
    return Frame(
        words=in_words(action, window),
        png=None if filmed is None else _read(filmed.before),
        pointer=pointer,
        pressed=action.kind in _PRESSING,
        path=_path(action, filmed) if action.kind in _MOVING else (),
        target=None if window is None else _target(window, session.screen),
        number=None if number is None else number + 1,
    )


def _path(action: Action, filmed: FilmFrame | None) -> tuple[tuple[float, float], ...]:
    points: list[tuple[float, float]] = []
    if action.kind is ActionKind.MOTION and filmed is not None:
        points.append(filmed.pointer)
    points += [(item.x_px, item.y_px) for item in action.inputs if item.kind is InputKind.MOVE]
    return tuple(points)


def _target(window: Window, screen: Screen) -> Box:
    """The part of the window that is aimed at, as far as it is on the screen."""
    area = window.part
    left, top = max(area.x_px, 0), max(area.y_px, 0)
    right = min(area.x_px + area.width_px, screen.width_px)
    bottom = min(area.y_px + area.height_px, screen.height_px)
    return Box(left, top, max(right - left, 0), max(bottom - top, 0))


def _end(ending: Ending, filmed: tuple[FilmFrame, ...]) -> End:
    parts = ["\n".join(ending.frames)]
    said = ending.output.strip().splitlines()[-_MOST_OUTPUT_LINES:]
    if said:
        parts.append("Its last words:\n" + "\n".join(said))
    last = _read(filmed[-1].after) if filmed else None
    return End(ending.text, "\n\n".join(part for part in parts if part), last)


def _read(path: Path | None) -> bytes | None:
    # A picture that is gone makes the strip poorer, not wrong.
    with contextlib.suppress(OSError):
        return None if path is None else path.read_bytes()
    return None
