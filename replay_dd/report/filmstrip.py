"""A film strip: what a person did, picture by picture, and what happened, in one self-contained HTML file.

The model knows nothing about windows or web pages: a frame is a picture with a caption, a pointer and a target.
Outcomes are shown by symbols as well as by colours, so that colour vision is not needed.
"""

from __future__ import annotations

import base64
import struct
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from importlib import resources

from replay_dd.outcome import Outcome
from replay_dd.trust.printable import html_text

_PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_CHART_HEIGHT_PX = 120
_CHART_WIDTH_PX = 900


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle on a picture, in pixels from its upper left corner."""

    x_px: float
    y_px: float
    width_px: float
    height_px: float


@dataclass(frozen=True, slots=True)
class Frame:
    """One picture of the strip, taken just before the action.

    Attributes:
        words: the action.
        png: the picture; None if there is none.
        pointer: where the pointer acts, in pixels; None for actions without it.
        pressed: whether a button is pressed there.
        path: the path of a drag or a motion, in pixels, from its first point.
        target: what the action is aimed at.
        target_name: the name of the target.
        number: the number of the action in the whole recording, from 1.
        view: the part of the picture to show; None for all of it.
        stands_out: whether it differs from the passing session.
        left_out: whether only the passing session does it.
        more: descriptions of the actions, if one frame stands for many.
    """

    words: str
    png: bytes | None
    pointer: tuple[float, float] | None = None
    pressed: bool = False
    path: tuple[tuple[float, float], ...] = ()
    target: Box | None = None
    target_name: str = ""
    number: int | None = None
    view: Box | None = None
    stands_out: bool = False
    left_out: bool = False
    more: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class End:
    """How it ended.

    Attributes:
        headline: the failure in one line.
        details: a stack trace, a backtrace, the last output of the program.
        png: the last picture; None if there is none.
        view: the part of it to show; None for all of it.
    """

    headline: str
    details: str = ""
    png: bytes | None = None
    view: Box | None = None


@dataclass(frozen=True, slots=True)
class CourseStep:
    """One test of the search: its number of actions, and its outcome."""

    size: int
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class Script:
    """A program that repeats the remaining actions.

    Attributes:
        label: the player it is for.
        file_name: what to call the file.
        text: the program.
    """

    label: str
    file_name: str
    text: str


@dataclass(frozen=True, slots=True)
class FilmStrip:
    """The contents of a film strip.

    Attributes:
        title: what was examined.
        frames: the remaining actions.
        end: the failure they lead to.
        facts: names and values for the table: actions and seconds, before and after.
        course: the tests of the search, in order.
        scripts: programs that repeat the actions.
        notes: sentences below the table.
    """

    title: str
    frames: Sequence[Frame]
    end: End
    facts: Sequence[tuple[str, str]] = ()
    course: Sequence[CourseStep] = ()
    scripts: Sequence[Script] = ()
    notes: Sequence[str] = field(default=())


def filmstrip_html(strip: FilmStrip) -> str:
    """The page."""
    style = resources.files("replay_dd.report").joinpath("filmstrip.css").read_text(encoding="utf-8")
    return "\n".join(_page(strip, style)) + "\n"


def png_size(png: bytes) -> tuple[int, int]:
    """Width and height of a PNG picture, in pixels.

    Raises:
        ValueError: these bytes are not a PNG picture.
    """
    if png[:8] != _PNG_SIGNATURE or len(png) < 24:
        raise ValueError("these bytes are not a PNG picture")
    width, height = struct.unpack(">II", png[16:24])
    return int(width), int(height)


def _page(strip: FilmStrip, style: str) -> Iterator[str]:
    yield '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield f"<title>{html_text(strip.title)}</title>\n<style>\n{style}</style>\n</head>\n<body>"
    yield f"<header>\n<h1>{html_text(strip.title)}</h1>"
    yield f'<p class="failure">{html_text(strip.end.headline)}</p>\n</header>\n<main>'
    yield '<dl class="facts">'
    for name, value in strip.facts:
        yield f"<div><dt>{html_text(name)}</dt><dd>{html_text(value)}</dd></div>"
    yield "</dl>"
    for note in strip.notes:
        yield f"<p>{html_text(note)}</p>"
    yield '<h2>What to do</h2>\n<ol class="strip">'
    place = 1
    for frame in strip.frames:
        yield from _frame(place, frame)
        place += 0 if frame.left_out else len(frame.more) or 1
    yield from _end(strip.end)
    yield "</ol>"
    if strip.course:
        yield from _course(strip.course)
    if strip.scripts:
        yield "<h2>Scripts to reproduce it</h2>"
        for script in strip.scripts:
            yield from _script(script)
    yield "</main>\n</body>\n</html>"


def _frame(place: int, frame: Frame) -> Iterator[str]:
    names = [name for name, holds in (("stands-out", frame.stands_out), ("left-out", frame.left_out)) if holds]
    kind = f' class="{" ".join(names)}"' if names else ""
    yield f"<li{kind}>\n<figure>"
    if frame.png is not None:
        yield _picture(frame.png, f"The screen before action {place}", _marks(frame), frame.view)
    was = "" if frame.number is None else f' <span class="was">action {frame.number:,} of the recording</span>'
    aim = f' <span class="was">in {html_text(frame.target_name)}</span>' if frame.target_name else ""
    shown = "−" if frame.left_out else str(place) if len(frame.more) < 2 else f"{place}–{place + len(frame.more) - 1}"
    yield f'<figcaption><b class="place">{shown}</b> {html_text(frame.words)}{aim}{was}</figcaption>'
    if frame.more:
        items = "".join(f"<li>{html_text(words)}</li>" for words in frame.more)
        yield f'<details><summary>in words</summary><ol start="{place}">{items}</ol></details>'
    yield "</figure>\n</li>"


def _end(end: End) -> Iterator[str]:
    yield '<li class="end">\n<figure>'
    if end.png is not None:
        yield _picture(end.png, "The screen at the end", [], end.view)
    yield f'<figcaption><b class="place">✗</b> {html_text(end.headline)}</figcaption>'
    yield "</figure>"
    if end.details.strip():
        yield f"<pre>{html_text(end.details.strip())}</pre>"
    yield "</li>"


def _picture(png: bytes, words: str, marks: Iterable[str], view: Box | None) -> str:
    width, height = png_size(png)
    data = base64.b64encode(png).decode("ascii")
    shown = view or Box(0, 0, width, height)
    box = f"{shown.x_px:g} {shown.y_px:g} {shown.width_px:g} {shown.height_px:g}"
    return (
        f'<svg class="picture" viewBox="{box}" role="img" aria-label="{html_text(words)}">\n'
        f'<image href="data:image/png;base64,{data}" width="{width}" height="{height}"/>\n'
        + "".join(f"{mark}\n" for mark in marks)
        + "</svg>"
    )


def _marks(frame: Frame) -> Iterator[str]:
    if frame.target is not None:
        box = frame.target
        yield (
            f'<rect class="target" x="{box.x_px:g}" y="{box.y_px:g}" width="{box.width_px:g}" '
            f'height="{box.height_px:g}"/>'
        )
    if len(frame.path) > 1:
        points = " ".join(f"{x:g},{y:g}" for x, y in frame.path)
        yield f'<polyline class="way-under" points="{points}"/><polyline class="way" points="{points}"/>'
        x, y = frame.path[-1]
        yield f'<circle class="way-end" cx="{x:g}" cy="{y:g}" r="6"/>'
    if frame.pointer is not None:
        x, y = frame.pointer
        if frame.pressed:
            yield f'<circle class="press" cx="{x:g}" cy="{y:g}" r="18"/>'
        # An arrow with its tip at the pointer's place.
        yield f'<path class="pointer" transform="translate({x:g} {y:g})" d="M0 0v23l5.5-5 3.6 8.4 4-1.7-3.6-8.3h7.5z"/>'


_SIGNS = {
    Outcome.FAIL: ("fails", "✗"),
    Outcome.PASS: ("passes", "✓"),
    Outcome.UNRESOLVED: ("unresolved", "?"),
}


def _course(course: Sequence[CourseStep]) -> Iterator[str]:
    most = max(1, *(step.size for step in course))
    wide = _CHART_WIDTH_PX / len(course)
    yield "<h2>The search</h2>"
    yield (
        f'<svg class="course" viewBox="0 -14 {_CHART_WIDTH_PX} {_CHART_HEIGHT_PX + 32}" role="img" '
        f'aria-label="{len(course)} tests and how many actions each had">'
    )
    best = most
    line: list[str] = []
    for number, step in enumerate(course):
        height = max(2.0, _CHART_HEIGHT_PX * step.size / most)
        x, y = number * wide, _CHART_HEIGHT_PX - height
        name, sign = _SIGNS[step.outcome]
        gap = min(2.0, wide / 4)
        yield (
            f"<g><title>test {number + 1}: {step.size:,} actions, {name}</title>"
            f'<rect class="{name}" x="{x:.2f}" y="{y:.2f}" width="{wide - gap:.2f}" height="{height:.2f}"/>'
            + (
                f'<text x="{x + (wide - gap) / 2:.2f}" y="{y - 3:.2f}">{sign}</text>'
                if wide >= 9 or step.outcome is Outcome.FAIL
                else ""
            )
            + "</g>"
        )
        best = min(best, step.size) if step.outcome is Outcome.FAIL else best
        level = _CHART_HEIGHT_PX * (1 - best / most)
        line.append(f"{x:.2f},{level:.2f} {x + wide:.2f},{level:.2f}")
    yield f'<polyline class="best" points="{" ".join(line)}"/>'
    yield f'<text class="axis" x="0" y="{_CHART_HEIGHT_PX + 14}">test 1</text>'
    yield f'<text class="axis last" x="{_CHART_WIDTH_PX}" y="{_CHART_HEIGHT_PX + 14}">test {len(course)}</text>'
    yield "</svg>"
    yield (
        '<p class="legend">One bar per test; its height is the number of actions: '
        '<span class="fails">✗ fails</span>, <span class="passes">✓ passes</span>, '
        '<span class="unresolved">? neither</span>. The line is the smallest failing session so far.</p>'
    )


def _script(script: Script) -> Iterator[str]:
    data = base64.b64encode(script.text.encode()).decode("ascii")
    yield f"<details>\n<summary>{html_text(script.label)}</summary>"
    yield (
        f'<p><a download="{html_text(script.file_name)}" href="data:text/plain;base64,{data}">'
        f"Save {html_text(script.file_name)}</a></p>"
    )
    yield f"<pre>{html_text(script.text)}</pre>\n</details>"
