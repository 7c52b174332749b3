"""Plays a flow in the browser and says how it went.

Rules of this module:

* Each flow is played in its own context, isolated from all others.
* The player waits for the page, not for the clock: a step begins when the page has loaded its requests and rendered a
  frame. A newly loaded page must also be calm: pages build themselves in timer callbacks, and a click between two of
  them meets a different page on a slow machine than on a fast one. The calm is measured with the page's own timers, so
  that it takes longer on a slower machine. The same holds for a page that has sent something through a WebSocket.
* Only the end is watched for a fixed time, as a timer may still raise an error. On request, steps come after fixed
  pauses, for failures of which the cause is that a person went on while the page was loading.
* A step that cannot be done (its element is missing or stays covered) is skipped, and the playback says so. So a flow
  without some of its steps is always well defined.
* The failure that the caller waits for ends the playback immediately.
* Dialogs get their default answer (OK, Leave), so that they never block.
* A page that no longer responds (an endless loop) has failed; a playback always ends.
"""

from __future__ import annotations

import contextlib
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from playwright.sync_api import BrowserContext, Frame, Page
from playwright.sync_api import Error as PlaywrightError
from playwright.sync_api import TimeoutError as PlaywrightTimeoutError

from replay_dd.web.browser import WebBrowser
from replay_dd.web.calm import ANSWER_LOOKS, Sockets, changes_meanwhile
from replay_dd.web.describe import describe
from replay_dd.web.failure import ASSERTION, CRASH, Failure
from replay_dd.web.flow import Flow, Step
from replay_dd.web.hangs import END_S, HANG_S, HANGS, LONGEST_WAIT_S, HangWatch, Patience, Stack, hang
from replay_dd.web.ids import Ids
from replay_dd.web.learnt import Learnt
from replay_dd.web.requests import OpenRequests
from replay_dd.web.server import RunningServer
from replay_dd.web.steps import StepFailedError, frame_of
from replay_dd.web.watch import PAGE_CRASHED, Watch
from replay_dd.web.windows import MAIN, Windows

DEFAULT_STEP_LIMIT_MS = 5_000
"""The default time-out of a step in the DevTools player."""
_POLL_MS = 5.0
_MOST_CONSOLE_ERRORS = 20
# What ends a call that is not answered though the page answers others, or cannot be watched.
_ANSWER_S = 3 * LONGEST_WAIT_S
_RENDERED = "() => new Promise(done => requestAnimationFrame(() => setTimeout(() => done(true), 0)))"


@dataclass(frozen=True, slots=True)
class Limits:
    """Time limits.

    Attributes:
        steps_ms: for each step, in milliseconds; None for the time-out in the flow.
        quiet_ms: after each step, for the page to load its requests.
        hang_s: for a page to respond, in seconds of work.
        pause_s: go on this long after each step, whatever is still requested, as a person does; None to wait for it.
        calm_ms: for a newly loaded page to stop building itself.
        settle_s: at the end, in seconds, for a failure to occur.
    """

    steps_ms: tuple[float, ...] | None = None
    quiet_ms: float = 5_000
    hang_s: float = HANG_S
    pause_s: float | None = None
    calm_ms: float = 2_000
    settle_s: float = 0.3


@dataclass(frozen=True, slots=True)
class Playback:
    """The result of playing a flow.

    Attributes:
        failures: all failures, in order.
        left_out: the numbers of the skipped steps, with the reasons.
        seconds: how long each step took, including waiting for the page, but not for requests that stayed open.
        reached: whether the first page was loaded.
        console: the first errors in the console, each once.
        slowest_s: for how long processes of pages worked during the slowest answer, in seconds of processor time.
        sent: what was sent to the server, as :class:`~replay_dd.web.watch.Watch` tells it, each as often as it was.
    """

    failures: tuple[Failure, ...]
    left_out: tuple[tuple[int, str], ...]
    seconds: tuple[float, ...]
    reached: bool
    console: tuple[str, ...] = ()
    slowest_s: float = 0.0
    sent: tuple[str, ...] = ()

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
    learnt: Learnt | None = None,
    tells_where: bool = True,
) -> Playback:
    """Play a flow.

    Args:
        flow: the flow.
        browser: where to play it.
        limits: how long to wait.
        until: called with each failure; True ends the playback.
        text: a regular expression; to be in the visible text of a page, or in an error in the console, is a failure.
        before_step: called before each step.
        at_end: called after the playback with the page of the last step, if that still exists and responds.
        learnt: what earlier playbacks have learnt; more is added.
        tells_where: whether a page that hangs tells where, which makes every page slower.
    """
    viewport = next((step for step in flow.steps if step.type == "setViewport"), None)
    with browser.served(flow) as server, browser.fresh_context(viewport) as context:
        known = learnt or Learnt()
        playing = _Playing(flow, context, limits, until, text, before_step, known, browser, server, tells_where)
        try:
            playing.run()
        except PlaywrightError as error:
            # Each step handles its own errors; only the loss of the page or of the browser gets here.
            playing.note_end(error)
        if at_end is not None and not playing.page.is_closed() and not playing.watch.crashed:
            at_end(playing.page)
    playing.end()
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
        learnt: Learnt,
        browser: WebBrowser,
        server: RunningServer | None,
        tells_where: bool,
    ) -> None:
        self.number = 0
        self._requests = OpenRequests(context, learnt.background)
        self._killer = browser.killer()
        pattern = None if text is None else re.compile(text)
        self.watch = Watch(context, lambda: self.number, lambda: self._killer.killed, pattern, server)
        self._flow = flow
        self._context = context
        self._limits = limits
        self._until = until
        self._before_step = before_step
        self._left_out: list[tuple[int, str]] = []
        self._seconds: list[float] = []
        self._reached = False
        self._sockets = Sockets(context)
        self._ids = Ids(learnt.differing_ids)
        self._worked_s = browser.worked_s
        self._new_watch = partial(HangWatch, tells_where=tells_where)
        self._navigated = 0
        self._in_vain_s = 0.0
        context.on("dialog", lambda dialog: dialog.accept(dialog.default_value))
        self._loads_until = 0.0
        self._hangs: dict[Page, HangWatch] = {}
        self.page = context.new_page()
        self._windows = Windows(context, self.page, learnt.differing_windows)
        self._look_after(self.page)
        context.on("page", self._look_after)

    def run(self) -> None:
        """Play all steps, until one shows the failure awaited."""
        for number, step in enumerate(self._flow.steps):
            self.number = number
            started = time.monotonic()
            self._in_vain_s = 0.0
            with self._killer.after(_ANSWER_S + self._limit_ms(step) / 1000):
                self._step(step)
                if self._limits.pause_s is None or self._requests.navigated > self._navigated:
                    self._wait_until_quiet()
                    self._wait_until_calm()
                else:
                    self._watch(self._limits.pause_s)
                self._look()
            self._seconds.append(time.monotonic() - started - self._in_vain_s)
            if self._is_over() or self.watch.crashed:
                return
        if self._limits.pause_s is not None:
            self._wait_until_quiet()
        self._watch(self._limits.settle_s)
        if self._is_over():
            return
        with self._killer.after(_ANSWER_S):
            self._check_answers()
            self._look()

    def _watch(self, seconds: float) -> None:
        """Watch the page for a fixed time."""
        ends_at = time.monotonic() + seconds
        while time.monotonic() < ends_at and not self._is_over():
            # Events of the page are delivered only while Playwright is called.
            self._living_page().wait_for_timeout(_POLL_MS)

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

    def end(self) -> None:
        """Wait until nothing watches the pages any more, which are closed by now."""
        ends_at = time.monotonic() + END_S
        with contextlib.suppress(PlaywrightError):
            while not all(watch.is_over for watch in self._hangs.values()) and time.monotonic() < ends_at:
                self._worked_s()

    def playback(self) -> Playback:
        """The result."""
        console = tuple(self.watch.console)[:_MOST_CONSOLE_ERRORS]
        slowest_s = max((watch.slowest_s for watch in self._hangs.values()), default=0.0)
        happened = (tuple(self.watch.failures), tuple(self._left_out), tuple(self._seconds))
        return Playback(*happened, self._reached, console, slowest_s, tuple(sorted(self.watch.sent.elements())))

    def _step(self, step: Step) -> None:
        limit_ms = self._limit_ms(step)
        try:
            self.page = self._page_of(step, limit_ms)
            frame = frame_of(step, self.page)
            if self._before_step is not None:
                self._before_step(self.number, self.page, frame)
            self._do(step, frame, limit_ms)
            self._reached = self._reached or step.type == "navigate"
        except StepFailedError as error:
            self._check_answers()
            if step.is_assertion:
                self.watch.add(Failure(ASSERTION, describe(step), "", str(error), self.number))
            else:
                self._left_out.append((self.number, str(error)))
        except PlaywrightError as error:
            if self._is_end(error):
                raise
            self._left_out.append((self.number, _first_line(error)))

    def _do(self, step: Step, frame: Frame, limit_ms: float) -> None:
        if step.navigates or step.type == "navigate":
            self._loads_until = time.monotonic() + limit_ms / 1000
        try:
            self._in_vain_s += self._ids.do(step, self.page, frame, limit_ms)
            if step.navigates and not self.page.is_closed():
                self.page.wait_for_load_state("load", timeout=limit_ms)
        finally:
            self._loads_until = 0.0

    def _check_answers(self) -> None:
        """Wait until the page answers.

        Raises:
            playwright.sync_api.Error: it no longer responds, which is the end; or it went away.
        """
        page = self._living_page()
        if watch := self._hangs.get(page):
            watch.check()
        if self.watch.crashed:
            raise PlaywrightError(HANGS)

    def _look_after(self, page: Page) -> None:
        with contextlib.suppress(PlaywrightError):
            self._hangs[page] = self._new_watch(page, self._patience, self._killer, self._on_hang)

    def _patience(self) -> Patience:
        return Patience(self._worked_s, self._limits.hang_s, lambda: time.monotonic() < self._loads_until)

    def _on_hang(self, stack: Stack) -> None:
        if not self.watch.crashed:
            self.watch.add(hang(stack, self.number))

    def _limit_ms(self, step: Step) -> float:
        own = step.timeout_ms or self._flow.timeout_ms or DEFAULT_STEP_LIMIT_MS
        if step.type == "navigate":
            return own  # the full time-out: without its page a flow is meaningless
        return own if self._limits.steps_ms is None else min(own, self._limits.steps_ms[self.number])

    def _page_of(self, step: Step, limit_ms: float) -> Page:
        target = step.data.get("target", MAIN)
        started = time.monotonic()
        while (page := self._windows.find(target)) is None:
            took_s = time.monotonic() - started
            if took_s > limit_ms / 1000:
                return self._page_like(target, took_s)
            self._living_page().wait_for_timeout(_POLL_MS)
        return page

    def _page_like(self, target: str, waited_s: float) -> Page:
        """The window of a similar address, after that of the very address was waited for in vain."""
        if (page := self._windows.find(target, in_time=False)) is None:
            raise StepFailedError(f"no page has the address {target}")
        self._in_vain_s += waited_s
        return page

    def _wait_until_quiet(self) -> None:
        """Wait until nothing is loading and the page has rendered, up to the limit."""
        started = time.monotonic()
        while not self._is_over() and time.monotonic() - started < self._limits.quiet_ms / 1000:
            page = self._living_page()
            try:
                page.wait_for_function(_RENDERED, timeout=1000 * self._limits.hang_s)
            except PlaywrightTimeoutError:
                self._check_answers()
                continue
            except PlaywrightError as error:
                if self._is_end(error):
                    raise
                # The page went away during the call: it is being replaced, so it is not quiet.
                page = self._living_page()
                page.wait_for_timeout(_POLL_MS)
                continue
            if not self._requests:
                return
            page.wait_for_timeout(_POLL_MS)
        if self._requests:
            # What is not answered by now may never be (a page that asks for news): nothing waits for it any more.
            self._requests.give_up()
            self._in_vain_s += time.monotonic() - started

    def _wait_until_calm(self) -> None:
        """After a navigation or a message through a socket, wait until nothing comes any more, up to the limit."""
        ends_at = time.monotonic() + self._limits.calm_ms / 1000
        restless = self._requests.navigated > self._navigated or self._sockets.sent
        looks = 0
        while restless and not self._is_over() and time.monotonic() < ends_at:
            before = self._requests.asked, self._sockets.received
            changes = self._changes_meanwhile()
            looks += 1
            restless = changes > 0 or (self._requests.asked, self._sockets.received) != before
            restless = restless or (self._sockets.sent and not self._sockets.is_answered and looks < ANSWER_LOOKS)
            self._wait_until_quiet()
        self._navigated = self._requests.navigated
        self._sockets.end_step(is_calm=not restless)

    def _changes_meanwhile(self) -> int:
        try:
            return changes_meanwhile(self._living_page())
        except PlaywrightError as error:
            if self._is_end(error):
                raise
            return 1  # a frame is being replaced

    def _look(self) -> None:
        if not self._is_over():
            self.watch.look()

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


def _first_line(error: PlaywrightError) -> str:
    return (error.message.splitlines() or ["the browser failed"])[0]
