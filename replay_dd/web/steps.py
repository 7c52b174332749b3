"""Does one step of a flow on a page.

Each kind of step is one function; the table at the end dispatches to them.
"""

from __future__ import annotations

import operator
import time
from collections.abc import Callable
from typing import Literal

from playwright.sync_api import Error as PlaywrightError
from playwright.sync_api import Frame, Locator, Page, Position
from playwright.sync_api import TimeoutError as PlaywrightTimeoutError

from replay_dd.web import elements
from replay_dd.web.fields import set_value
from replay_dd.web.flow import Step

_POLL_MS = 10.0
_BUTTONS: dict[str, Literal["left", "middle", "right"]] = {
    "primary": "left",
    "auxiliary": "middle",
    "secondary": "right",
}
_COMPARISONS: dict[str, Callable[[float, float], bool]] = {"==": operator.eq, ">=": operator.ge, "<=": operator.le}
_SIZES = """elements => elements.map(element => {
  const box = element.getBoundingClientRect();
  return [box.width, box.height];
})"""
# Whether every element has these attributes, and these properties, compared member by member.
_HAVE = """(elements, [attributes, properties]) => {
  const covers = (wanted, found) => wanted === found || (
    wanted !== null && typeof wanted === 'object' && found !== null && typeof found === 'object' &&
    Object.keys(wanted).every(name => covers(wanted[name], found[name])));
  return elements.every(element =>
    Object.keys(attributes).every(name => element.getAttribute(name) === attributes[name]) &&
    covers(properties, element));
}"""
# Whether an expression, or the value of its promise, is true; its exception, as text; false if it takes too long.
_TRUE_IN_TIME = """() => Promise.race([
  (async () => Boolean(await (%s)))().catch(error => String(error)),
  new Promise(done => setTimeout(() => done(false), %f)),
])"""


class StepFailedError(Exception):
    """A step could not be done, or did not come true, in time."""


class ElementMissingError(StepFailedError):
    """None of a step's selectors found an element in time."""


def frame_of(step: Step, page: Page) -> Frame:
    """The frame of a step in its page.

    Raises:
        StepFailedError: it is not there.
    """
    frame = page.main_frame
    for number in step.data.get("frame") or ():
        children = frame.child_frames
        if number >= len(children):
            raise StepFailedError("its frame is not there")
        frame = children[number]
    return frame


def do(step: Step, page: Page, frame: Frame, limit_ms: float) -> None:
    """Do a step.

    Args:
        step: the step.
        page: its page.
        frame: its frame in the page.
        limit_ms: how long it may take, in milliseconds.

    Raises:
        StepFailedError: its element does not appear in time, or its condition does not come true.
        playwright.sync_api.Error: the page or the browser went away.
    """
    try:
        _DOERS[step.type](step, page, frame, limit_ms)
    except PlaywrightTimeoutError as error:
        raise StepFailedError(_too_late(error.message)) from error


def _too_late(message: str) -> str:
    """Why a step did not come about in time, from Playwright's log of what it tried."""
    for told, words in _IN_THE_WAY.items():
        if told in message:
            return f"its element {words}"
    return "it took too long"


# What Playwright says of an element that cannot be used, the last state first.
_IN_THE_WAY = {
    "intercepts pointer events": "is covered by another one",
    "element is not visible": "is not visible",
    "element is not enabled": "is disabled",
    "element is not editable": "cannot be edited",
    "element is not stable": "keeps moving",
    "outside of the viewport": "is outside the window",
}


def element_of(step: Step, page: Page, frame: Frame, limit_ms: float) -> Locator:
    """Wait for the element of a step.

    Raises:
        ElementMissingError: it does not appear in time.
    """
    ends_at = time.monotonic() + limit_ms / 1000
    while True:
        found = elements.find(step, frame)
        if found is not None:
            return found
        if time.monotonic() > ends_at:
            raise ElementMissingError("its element is not on the page")
        page.wait_for_timeout(_POLL_MS)


def _click(step: Step, page: Page, frame: Frame, limit_ms: float) -> None:
    button = _BUTTONS.get(step.data.get("button", "primary"))
    if button is None:
        raise StepFailedError(f"the button `{step.data['button']}` is not supported")
    element = element_of(step, page, frame, limit_ms)
    element.click(
        button=button,
        click_count=2 if step.type == "doubleClick" else 1,
        position=_position(step, element),
        delay=0 if step.data.get("duration") is None else float(step.data["duration"]),
        timeout=limit_ms,
    )


def _position(step: Step, element: Locator) -> Position | None:
    """Where to click in the element: at the recorded offset, or in the middle if the element is now smaller."""
    # Not `bounding_box`: it takes as long as a click, and waits half a minute for an element that has just gone.
    sizes = element.evaluate_all(_SIZES)
    x, y = float(step.data["offsetX"]), float(step.data["offsetY"])
    if not any(0 <= x < width and 0 <= y < height for width, height in sizes):
        return None
    return {"x": x, "y": y}


def _hover(step: Step, page: Page, frame: Frame, limit_ms: float) -> None:
    element_of(step, page, frame, limit_ms).hover(timeout=limit_ms)


def _change(step: Step, page: Page, frame: Frame, limit_ms: float) -> None:
    set_value(element_of(step, page, frame, limit_ms), str(step.data["value"]), limit_ms)


def _key_down(step: Step, page: Page, frame: Frame, limit_ms: float) -> None:
    page.keyboard.down(_key(step))


def _key_up(step: Step, page: Page, frame: Frame, limit_ms: float) -> None:
    page.keyboard.up(_key(step))


def _key(step: Step) -> str:
    key = str(step.data["key"])
    return "Enter" if key in {"\r", "\n"} else key


def _scroll(step: Step, page: Page, frame: Frame, limit_ms: float) -> None:
    to = [step.data.get("x", 0), step.data.get("y", 0)]
    if step.selectors:
        element_of(step, page, frame, limit_ms).evaluate("(element, [x, y]) => element.scrollTo(x, y)", to)
    else:
        frame.evaluate("([x, y]) => window.scrollTo(x, y)", to)


def _navigate(step: Step, page: Page, frame: Frame, limit_ms: float) -> None:
    frame.goto(str(step.data["url"]), timeout=limit_ms)


def _set_viewport(step: Step, page: Page, frame: Frame, limit_ms: float) -> None:
    page.set_viewport_size({"width": int(step.data["width"]), "height": int(step.data["height"])})


def _close(step: Step, page: Page, frame: Frame, limit_ms: float) -> None:
    page.close()


def _emulate_network(step: Step, page: Page, frame: Frame, limit_ms: float) -> None:
    download, upload = step.data["download"], step.data["upload"]
    page.context.new_cdp_session(page).send(
        "Network.emulateNetworkConditions",
        {
            "offline": not download and not upload,
            "downloadThroughput": download or -1,
            "uploadThroughput": upload or -1,
            "latency": step.data["latency"],
        },
    )


def _wait_for_element(step: Step, page: Page, frame: Frame, limit_ms: float) -> None:
    # The schema documents `==` as the default; the published player uses `>=`, and flows were tried with that.
    compare = _COMPARISONS[step.data.get("operator", ">=")]
    wanted = float(step.data.get("count", 1))
    having = [step.data.get("attributes") or {}, step.data.get("properties") or {}]
    ends_at = time.monotonic() + limit_ms / 1000
    while True:
        amount, found = elements.count(step, frame)
        holds = compare(amount, wanted)
        if holds and found is not None and any(having):
            holds = bool(found.evaluate_all(_HAVE, having))
        if holds == step.data.get("visible", True):
            return
        if time.monotonic() > ends_at:
            raise StepFailedError(f"there {'is 1 element' if amount == 1 else f'are {amount} elements'} of this kind")
        page.wait_for_timeout(_POLL_MS)


def _wait_for_expression(step: Step, page: Page, frame: Frame, limit_ms: float) -> None:
    # Not `wait_for_function`: there, an expression that raises would show as an error of the page.
    expression = str(step.data["expression"])
    ends_at = time.monotonic() + limit_ms / 1000
    while True:
        left_ms = max(1.0, (ends_at - time.monotonic()) * 1000)
        try:
            found = frame.evaluate(_TRUE_IN_TIME % (expression, left_ms))
        except PlaywrightError as error:
            if page.is_closed() or "crashed" in error.message:
                raise
            found = error.message.splitlines()[0]  # the page is being replaced, or the expression has a syntax error
        if found is True:
            return
        if time.monotonic() > ends_at:
            raise StepFailedError("it is not true" if found is False else f"it raised {found}")
        page.wait_for_timeout(_POLL_MS)


def _custom_step(step: Step, page: Page, frame: Frame, limit_ms: float) -> None:
    """Custom steps only mean something to the program that made them; players ignore others'."""


_DOERS: dict[str, Callable[[Step, Page, Frame, float], None]] = {
    "change": _change,
    "click": _click,
    "close": _close,
    "customStep": _custom_step,
    "doubleClick": _click,
    "emulateNetworkConditions": _emulate_network,
    "hover": _hover,
    "keyDown": _key_down,
    "keyUp": _key_up,
    "navigate": _navigate,
    "scroll": _scroll,
    "setViewport": _set_viewport,
    "waitForElement": _wait_for_element,
    "waitForExpression": _wait_for_expression,
}
