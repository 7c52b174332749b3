"""The film strip of a minimized session: its replay in pictures, the crash, the search, and scripts to attach."""

from __future__ import annotations

import contextlib
import shlex
from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate
from pathlib import Path

from replay_dd.events.describe import in_words
from replay_dd.events.model import Action, ActionKind, Ending, InputKind, Screen, Session, Window
from replay_dd.events.result import FilmFrame, SessionIsolation
from replay_dd.files import write_whole
from replay_dd.report.filmstrip import Box, CourseStep, End, FilmStrip, Frame, filmstrip_html
from replay_dd.report.isolation import counted
from replay_dd.report.scripts import scripts_for

_PRESSING = {ActionKind.CLICK, ActionKind.DOUBLE_CLICK, ActionKind.DRAG, ActionKind.WHEEL}
_MOVING = {ActionKind.DRAG, ActionKind.MOTION}
_MOST_OUTPUT_LINES = 12
_FRAMES_AROUND = 2
# Margin around the action, for window frames and the pointer.
_MARGIN_PX = 40
# A crop of nearly the whole screen is not worth making.
_WORTH_CUTTING = 0.8


def write_events_strip(found: SessionIsolation, path: Path) -> None:
    """Write the film strip atomically.

    Args:
        found: the result; pictures need its film.
        path: the HTML file.

    Raises:
        OutputError: the file cannot be written.
    """
    write_whole(path, filmstrip_html(strip_of(found)).encode())


def strip_of(found: SessionIsolation) -> FilmStrip:
    """The film strip of a result."""
    actions = found.minimal.actions
    filmed = () if found.film is None else found.film.frames
    view = _view(filmed, found.original.screen)
    if found.passing is None:
        title, frames = counted(len(actions), "action"), _frames(found, filmed)
    else:
        title, frames = f"a difference of {counted(len(found.differing), 'action')}", _frames_that_differ(found, filmed)
    notes = [] if found.isolation.complete else ["The search was stopped early: fewer actions may be enough."]
    if view is not None:
        notes.append("The pictures show the part of the screen where the actions took place.")
    return FilmStrip(
        title=f"{shlex.join(found.original.program.command)}: {title}",
        frames=[frame if frame.png is None else replace(frame, view=view) for frame in frames],
        end=replace(_end(found.ending, filmed), view=view),
        facts=_facts(found),
        course=[CourseStep(step.size, step.outcome) for step in found.isolation.steps],
        scripts=scripts_for(found.minimal, actions, found.ending.text),
        notes=notes,
    )


def _frames(found: SessionIsolation, filmed: Sequence[FilmFrame]) -> list[Frame]:
    return [
        _frame(action, number, found.minimal, filmed[place] if place < len(filmed) else None)
        for place, (action, number) in enumerate(zip(found.minimal.actions, found.needed, strict=True))
    ]


def _frames_that_differ(found: SessionIsolation, filmed: Sequence[FilmFrame]) -> list[Frame]:
    """The frames of a comparison; runs of common actions far from any difference are merged into one frame."""
    ended = list(accumulate(item.in_failing for item in found.compared))
    # Actions after the failure were never played.
    compared = [
        item
        for item, count in zip(found.compared, ended, strict=True)
        if count <= len(found.minimal.actions) and (item.in_failing or count < len(found.minimal.actions))
    ]
    differing = [place for place, item in enumerate(compared) if item.in_passing != item.in_failing]
    near = {place + step for place in differing for step in range(-_FRAMES_AROUND, _FRAMES_AROUND + 1)}
    near |= set(range(len(compared) - _FRAMES_AROUND, len(compared)))
    frames: list[Frame] = []
    together: list[str] = []
    played = 0
    for place, item in enumerate(compared):
        seen = filmed[played] if item.in_failing and played < len(filmed) else None
        played += item.in_failing
        frame = _frame(item.action, item.place, found.minimal, seen)
        if place not in near:
            together.append(frame.words)
            continue
        frames += _together(together)
        together = []
        if not item.in_failing:
            words = f"left out here, but done in the passing session: {frame.words}"
            frame = Frame(words, None, stands_out=True, left_out=True)
        elif not item.in_passing:
            frame = replace(frame, words=f"{frame.words} — not done in the passing session", stands_out=True)
        frames.append(frame)
    return frames + _together(together)


def _together(words: Sequence[str]) -> list[Frame]:
    return [Frame(f"{counted(len(words), 'action')} as in the passing session", None, more=words)] if words else []


def _facts(found: SessionIsolation) -> list[tuple[str, str]]:
    screen, proof = found.original.screen, found.isolation.proof
    facts = [
        ("actions", f"{len(found.original_actions):,} → {len(found.minimal.actions):,}"),
        ("events", f"{_inputs(found.original_actions):,} → {_inputs(found.minimal.actions):,}"),
        ("the search", f"{counted(found.isolation.tests, 'test')}, {found.isolation.seconds:.1f} s"),
        ("replays that fail", f"{proof.failing.failed} of {proof.failing.runs}"),
        ("screen", f"{screen.width_px} × {screen.height_px}, {found.original.window_manager or 'no window manager'}"),
    ]
    if found.original.ending is not None:
        before_s, after_s = found.original.ending.time_ms / 1000, found.ending.time_ms / 1000
        facts.insert(1, ("from start to failure", f"{before_s:.2f} → {after_s:.2f} s"))
    if proof.passing.runs:
        facts.insert(-1, ("replays that pass", f"{proof.passing.runs - proof.passing.failed} of {proof.passing.runs}"))
    return facts


def _inputs(actions: tuple[Action, ...]) -> int:
    return sum(len(action.inputs) for action in actions)


def _frame(action: Action, number: int | None, session: Session, filmed: FilmFrame | None) -> Frame:
    window = session.window_of(action.window)
    if filmed is not None:
        action = filmed.action  # as it was played: its window may have moved
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


def _view(filmed: Sequence[FilmFrame], screen: Screen) -> Box | None:
    """The part of the screen that contains the windows and the pointer in all pictures; None for the whole screen."""
    edges = [(area.x_px, area.y_px, area.x_px + area.width_px, area.y_px + area.height_px) for frame in filmed
             for area in frame.areas]  # fmt: skip
    edges += [(x, y, x, y) for frame in filmed for x, y in (frame.pointer, *_points(frame.action))]
    if not edges:
        return None
    left = max(min(edge[0] for edge in edges) - _MARGIN_PX, 0)
    top = max(min(edge[1] for edge in edges) - _MARGIN_PX, 0)
    right = min(max(edge[2] for edge in edges) + _MARGIN_PX, screen.width_px)
    bottom = min(max(edge[3] for edge in edges) + _MARGIN_PX, screen.height_px)
    if (right - left) * (bottom - top) > _WORTH_CUTTING * screen.width_px * screen.height_px:
        return None
    return Box(left, top, right - left, bottom - top)


def _points(action: Action) -> list[tuple[int, int]]:
    return [(item.x_px, item.y_px) for item in action.inputs if item.kind is InputKind.MOVE]


def _path(action: Action, filmed: FilmFrame | None) -> tuple[tuple[float, float], ...]:
    points: list[tuple[float, float]] = []
    if action.kind is ActionKind.MOTION and filmed is not None:
        points.append(filmed.pointer)
    return (*points, *_points(action))


def _target(window: Window, screen: Screen) -> Box:
    """The targeted part of the window, clipped to the screen."""
    area = window.part
    left, top = max(area.x_px, 0), max(area.y_px, 0)
    right = min(area.x_px + area.width_px, screen.width_px)
    bottom = min(area.y_px + area.height_px, screen.height_px)
    return Box(left, top, max(right - left, 0), max(bottom - top, 0))


def _end(ending: Ending, filmed: tuple[FilmFrame, ...]) -> End:
    parts = ["\n".join(ending.frames)]
    said = ending.output.strip().splitlines()[-_MOST_OUTPUT_LINES:]
    if said:
        parts.append("Its last output:\n" + "\n".join(said))
    last = _read(filmed[-1].after) if filmed else None
    return End(ending.text, "\n\n".join(part for part in parts if part), last)


def _read(path: Path | None) -> bytes | None:
    # A missing picture makes the strip poorer, not wrong.
    with contextlib.suppress(OSError):
        return None if path is None else path.read_bytes()
    return None
