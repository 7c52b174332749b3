"""The film strip of a minimal user flow: replays it, taking a picture before each step."""

from __future__ import annotations

import contextlib
from pathlib import Path

from playwright.sync_api import Error as PlaywrightError
from playwright.sync_api import Frame as PageFrame
from playwright.sync_api import Page

from replay_dd.files import write_whole
from replay_dd.report.filmstrip import Box, CourseStep, End, FilmStrip, Frame, filmstrip_html
from replay_dd.report.isolation import rate_in_words
from replay_dd.web.browser import WebBrowser
from replay_dd.web.describe import steps_in_words
from replay_dd.web.elements import find
from replay_dd.web.flow import Step
from replay_dd.web.minimize import FlowIsolation
from replay_dd.web.player import Limits, Playback, play
from replay_dd.web.steps import StepFailedError, element_of

_ELEMENT_LIMIT_MS = 5_000


def write_flow_strip(found: FlowIsolation, browser: WebBrowser, path: Path, *, text: str | None = None) -> None:
    """Play the minimal flow and write its film strip.

    Args:
        found: the result of the minimization.
        browser: where to play it.
        path: the HTML file.
        text: the text whose occurrence is the failure, as for the minimization.

    Raises:
        OutputError: the file cannot be written.
    """
    frames: list[Frame] = []
    last: list[bytes | None] = []
    # A failure that shows only sometimes is filmed until it shows.
    for _ in range(found.isolation.baseline.repeat):
        frames.clear()
        last.clear()
        playback = _film(found, browser, frames, last, text)
        if any(map(found.failure.same, playback.failures)):
            break
    write_whole(path, filmstrip_html(_strip(found, frames, last[0] if last else None)).encode())


def _film(
    found: FlowIsolation, browser: WebBrowser, frames: list[Frame], last: list[bytes | None], text: str | None
) -> Playback:

    words = steps_in_words(found.whole)

    def before_step(number: int, page: Page, frame: PageFrame) -> None:
        step = found.flow.steps[number]
        if step.type not in {"navigate", "setViewport"}:
            frames.append(_frame_of(step, words[found.kept[number]], found.kept[number] + 1, page, frame))

    return play(
        found.flow,
        browser,
        until=found.failure.same,
        limits=Limits(pause_s=found.pause_s),
        text=text,
        before_step=before_step,
        at_end=lambda page: last.append(_screenshot(page)),
    )


def _frame_of(step: Step, words: str, number: int, page: Page, frame: PageFrame) -> Frame:
    target: Box | None = None
    pointer: tuple[float, float] | None = None
    if step.selectors:
        with contextlib.suppress(PlaywrightError, StepFailedError):
            element = find(step, frame) if step.is_assertion else element_of(step, page, frame, _ELEMENT_LIMIT_MS)
            if element is not None:
                element.scroll_into_view_if_needed(timeout=_ELEMENT_LIMIT_MS)
                if box := element.bounding_box():
                    target = Box(box["x"], box["y"], box["width"], box["height"])
    clicks = step.type in {"click", "doubleClick"}
    if target is not None and (clicks or step.type == "hover"):
        x, y = step.data.get("offsetX", -1), step.data.get("offsetY", -1)
        if not (0 <= x < target.width_px and 0 <= y < target.height_px):
            x, y = target.width_px / 2, target.height_px / 2
        pointer = target.x_px + x, target.y_px + y
    return Frame(
        words=words,
        png=_screenshot(page),
        pointer=pointer,
        pressed=clicks,
        target=target,
        number=number,
    )


def _screenshot(page: Page) -> bytes | None:
    # A missing picture makes the strip poorer, not wrong.
    with contextlib.suppress(PlaywrightError):
        return page.screenshot(scale="css")
    return None


def _strip(found: FlowIsolation, frames: list[Frame], last: bytes | None) -> FilmStrip:
    start = next(step for step in found.flow.steps if step.type == "navigate")
    facts = [
        ("page", str(start.data["url"])),
        ("steps", f"{len(found.whole.steps)} → {len(found.kept)}"),
        ("flows played", f"{found.isolation.runs}"),
        ("time", f"{found.isolation.seconds:.1f} s"),
    ]
    if found.isolation.proof.made:
        facts.append(("played afresh", rate_in_words(found.isolation.proof.failing)))
    return FilmStrip(
        title=found.whole.title,
        frames=frames,
        end=End(found.failure.summary, found.failure.details, last),
        facts=facts,
        course=[CourseStep(step.size, step.outcome) for step in found.isolation.steps],
    )
