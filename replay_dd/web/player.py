"""Plays a flow in the browser and says how it went.

Rules of this module:

* Each flow is played in its own context, isolated from all others.
* The player waits for the page, not for the clock: a step begins when the page has loaded its requests and rendered a
  frame. A newly loaded page must also be calm: pages build themselves in timer callbacks, and a click between two of
  them meets a different page on a slow machine than on a fast one. The calm is measured with the page's own timers, so
  that it takes longer on a slower machine.
* Only the end is watched for a fixed time, as a timer may still raise an error.
* A step that cannot be done (its element is missing or stays covered) is skipped, and the playback says so. So a flow
  without some of its steps is always well defined.
* The failure that the caller waits for ends the playback immediately.
* Dialogs get their default answer (OK, Leave), so that they never block.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from playwright.sync_api import BrowserContext, Dialog, Frame, Page, Request
from playwright.sync_api import Error as PlaywrightError

from replay_dd.web.browser import WebBrowser
from replay_dd.web.describe import describe
from replay_dd.web.failure import ASSERTION, CRASH, TEXT, Failure
from replay_dd.web.flow import Flow, Step
from replay_dd.web.steps import StepFailedError, do
from replay_dd.web.watch import PAGE_CRASHED, Watch

DEFAULT_STEP_LIMIT_MS = 5_000
"""The default time-out of a step in the DevTools player."""
_POLL_MS = 5.0
_CALM_MS = 100
_COUNT_CHANGES = """() => {
    const counted = {changes: 0};
    new MutationObserver(records => { counted.changes += records.length; })
        .observe(document, {subtree: true, childList: true});
    return counted;
}"""


@dataclass(frozen=True, slots=True)
class Limits:
    """Time limits.

    Attributes:
        step_ms: for each step, in milliseconds; None for the time-out in the flow.
        quiet_ms: after each step, for the page to load its requests.
        calm_ms: for a newly loaded page to stop building itself.
        settle_s: at the end, in seconds, for a failure to occur.
    """

    step_ms: float | None = None
    quiet_ms: float = 5_000
    calm_ms: float = 2_000
    settle_s: float = 0.3


@dataclass(frozen=True, slots=True)
class Playback:
    """The result of playing a flow.

    Attributes:
        failures: all failures, in order.
        left_out: the numbers of the skipped steps, with the reasons.
        seconds: how long each step took, including waiting for the page.
        reached: whether the first page was loaded.
    """

    failures: tuple[Failure, ...]
    left_out: tuple[tuple[int, str], ...]
    seconds: tuple[float, ...]
    reached: bool

    def first(self, kinds: Sequence[str]) -> Failure | None:
        """The first failure of the first of these kinds that occurred."""
        return next((failure for kind in kinds for failure in self.failures if failure.kind == kind), None)


BeforeStep = Callable[[int, Page, Frame], None]
"""Called before each step with its number, its page and its frame."""


def play(
    flow: Flow,
    browser: WebBrowser,
    *,
    limits: Limits = Limits(),
    until: Callable[[Failure], bool] = lambda failure: False,
    text: str | None = None,
    before_step: BeforeStep | None = None,
    at_end: Callable[[Page], None] | None = None,
) -> Playback:
    """Play a flow.

    Args:
        flow: the flow.
        browser: where to play it.
        limits: how long to wait.
        until: called with each failure; True ends the playback.
        text: a regular expression; its occurrence in the visible text of a page is a failure.
        before_step: called before each step.
        at_end: called after the playback with the page of the last step, if that still exists.
    """
    viewport = next((step for step in flow.steps if step.type == "setViewport"), None)
    with browser.fresh_context(viewport) as context:
        playing = _Playing(flow, context, limits, until, text, before_step)
        try:
            playing.run()
        except PlaywrightError as error:
            # Each step handles its own errors; only the loss of the page or of the browser gets here.
            playing.note_end(error)
        if at_end is not None and not playing.page.is_closed() and not playing.watch.crashed:
            at_end(playing.page)
    return playing.playback()


class _Playing:
    """A flow being played."""

    def __init__(
        self,
        flow: Flow,
        context: BrowserContext,
        limits: Limits,
        until: Callable[[Failure], bool],
        text: str | None,
        before_step: BeforeStep | None,
    ) -> None:
        self.number = 0
        self.watch = Watch(context, lambda: self.number)
        self._flow = flow
        self._context = context
        self._limits = limits
        self._until = until
        self._text = None if text is None else re.compile(text)
        self._before_step = before_step
        self._left_out: list[tuple[int, str]] = []
        self._seconds: list[float] = []
        self._reached = False
        self._in_flight: set[Request] = set()
        self._endless: set[Request] = set()
        # Lambdas: Playwright sets attributes on its handlers, which methods of built-in types do not allow.
        self._asked = 0
        self._loaded = False
        context.on("request", self._on_request)
        context.on("requestfinished", lambda request: self._in_flight.discard(request))
        context.on("requestfailed", lambda request: self._in_flight.discard(request))
        context.on("dialog", _accept)
        self._main = self.page = context.new_page()

    def run(self) -> None:
        """Play all steps, until one shows the failure awaited."""
        for number, step in enumerate(self._flow.steps):
            self.number = number
            started = time.monotonic()
            self._step(step)
            self._wait_until_quiet()
            self._wait_until_calm()
            self._look_for_text()
            self._seconds.append(time.monotonic() - started)
            if self._is_over():
                return
        ends_at = time.monotonic() + self._limits.settle_s
        while time.monotonic() < ends_at:
            # Events of the page are delivered only while Playwright is called.
            self._living_page().wait_for_timeout(_POLL_MS)
            if self._is_over():
                return
        self._look_for_text()

    def note_end(self, error: PlaywrightError) -> None:
        """Record why the playback cannot continue; raise any other error."""
        if self.watch.crashed:
            return
        if not self._is_connected():
            self.watch.add(Failure(CRASH, "the browser crashed", "", error.message, self.number))
        elif "crashed" in error.message:
            self.watch.add(Failure(CRASH, PAGE_CRASHED, "", PAGE_CRASHED, self.number))
        elif self._context.pages:
            raise error

    def playback(self) -> Playback:
        """The result."""
        return Playback(tuple(self.watch.failures), tuple(self._left_out), tuple(self._seconds), self._reached)

    def _step(self, step: Step) -> None:
        limit_ms = self._limit_ms(step)
        try:
            self.page = self._page_of(step, limit_ms)
            frame = self._frame_of(step)
            if self._before_step is not None:
                self._before_step(self.number, self.page, frame)
            do(step, self.page, frame, limit_ms)
            if step.navigates and not self.page.is_closed():
                self.page.wait_for_load_state("load", timeout=limit_ms)
            self._reached = self._reached or step.type == "navigate"
        except StepFailedError as error:
            if step.is_assertion:
                self.watch.add(Failure(ASSERTION, describe(step), "", str(error), self.number))
            else:
                self._left_out.append((self.number, str(error)))
        except PlaywrightError as error:
            if self._is_end(error):
                raise
            self._left_out.append((self.number, _first_line(error)))

    def _limit_ms(self, step: Step) -> float:
        own = step.timeout_ms or self._flow.timeout_ms or DEFAULT_STEP_LIMIT_MS
        if step.type == "navigate":
            return own  # the full time-out: without its page a flow is meaningless
        return own if self._limits.step_ms is None else min(own, self._limits.step_ms)

    def _page_of(self, step: Step, limit_ms: float) -> Page:
        target = step.data.get("target", "main")
        if target == "main":
            return self._main
        ends_at = time.monotonic() + limit_ms / 1000
        while True:
            for page in self._context.pages:
                if page.url == target:
                    return page
            if time.monotonic() > ends_at:
                raise StepFailedError(f"no page has the address {target}")
            self._living_page().wait_for_timeout(_POLL_MS)

    def _frame_of(self, step: Step) -> Frame:
        frame = self.page.main_frame
        for number in step.data.get("frame") or ():
            children = frame.child_frames
            if number >= len(children):
                raise StepFailedError("its frame is not there")
            frame = children[number]
        return frame

    def _wait_until_quiet(self) -> None:
        """Wait until nothing is loading and the page has rendered, up to the limit."""
        ends_at = time.monotonic() + self._limits.quiet_ms / 1000
        while not self._is_over() and time.monotonic() < ends_at:
            page = self._living_page()
            try:
                page.evaluate("() => new Promise(done => requestAnimationFrame(() => setTimeout(done, 0)))")
            except PlaywrightError as error:
                if self._is_end(error):
                    raise
                # The page went away during the call: it is being replaced, so it is not quiet.
                page = self._living_page()
                page.wait_for_timeout(_POLL_MS)
                continue
            if self._in_flight <= self._endless:
                return
            page.wait_for_timeout(_POLL_MS)
        # What is not answered by now may never be (a page that asks for news): the next steps do not wait for it.
        self._endless |= self._in_flight

    def _on_request(self, request: Request) -> None:
        self._asked += 1
        if request.resource_type != "eventsource":  # these stay open for ever
            self._in_flight.add(request)
        if request.is_navigation_request():
            self._loaded = True

    def _wait_until_calm(self) -> None:
        """After a navigation, wait until the page adds and requests nothing more, up to the limit."""
        ends_at = time.monotonic() + self._limits.calm_ms / 1000
        while self._loaded and not self._is_over() and time.monotonic() < ends_at:
            asked = self._asked
            changes = self._changes_meanwhile()
            self._loaded = changes > 0 or self._asked != asked
            self._wait_until_quiet()
        self._loaded = False

    def _changes_meanwhile(self) -> int:
        """Count the elements that come and go in all frames of the page during a short wait."""
        page = self._living_page()
        try:
            counted = [frame.evaluate_handle(_COUNT_CHANGES) for frame in page.frames]
            page.evaluate("calm_ms => new Promise(done => setTimeout(done, calm_ms))", _CALM_MS)
            return sum(handle.evaluate("counted => counted.changes") for handle in counted)
        except PlaywrightError as error:
            if self._is_end(error):
                raise
            return 1  # a frame is being replaced

    def _look_for_text(self) -> None:
        if self._text is None or self._is_over():
            return
        for page in self._context.pages:
            for frame in page.frames:
                try:
                    visible = str(frame.evaluate("() => document.body ? document.body.innerText : ''"))
                except PlaywrightError:
                    continue  # the frame is being replaced
                if found := self._text.search(visible):
                    self.watch.add(Failure(TEXT, found.group(), "", found.group(), self.number))
                    return

    def _living_page(self) -> Page:
        if not self.page.is_closed():
            return self.page
        pages = self._context.pages
        if not pages:
            raise PlaywrightError("all pages are closed")
        return pages[-1]

    def _is_over(self) -> bool:
        return any(self._until(failure) for failure in self.watch.failures)

    def _is_end(self, error: PlaywrightError) -> bool:
        return self.watch.crashed or "crashed" in error.message or not self._is_connected()

    def _is_connected(self) -> bool:
        browser = self._context.browser
        return browser is not None and browser.is_connected()


def _accept(dialog: Dialog) -> None:
    dialog.accept(dialog.default_value)


def _first_line(error: PlaywrightError) -> str:
    return (error.message.splitlines() or ["the browser failed"])[0]
