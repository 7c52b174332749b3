"""Watches a browser context for failures: uncaught errors, failed console assertions, crashes, errors of the server."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from urllib.parse import urldefrag, urlsplit

from playwright.sync_api import BrowserContext, ConsoleMessage, Page, Request, WebError
from playwright.sync_api import Error as PlaywrightError

from replay_dd.web.failure import CONSOLE_ASSERTION, CRASH, HANG, SERVER_ERROR, TEXT, Failure, page_error, path_of
from replay_dd.web.hangs import HANGS
from replay_dd.web.requests import without_counts
from replay_dd.web.server import RunningServer

_ASKING = frozenset({"GET", "HEAD", "OPTIONS"})
PAGE_CRASHED = "the page crashed"


class Watch:
    """Collects the failures of a context.

    Args:
        context: the context, before it has any page.
        step: returns the number of the current step.
        killed: returns whether a page that did not respond was killed.
        text: if given, its occurrence in an error in the console, or on a page, is a failure.
        server: the server of the pages, if it was started for this playback.

    Attributes:
        failures: the failures so far, in order.
        sent: what was sent to the host of the first page, beyond asking for something: methods and paths, without
            their numbers, and how often.
        console: the errors that were written to the console, each once: first lines, and where they were written.
    """

    def __init__(
        self,
        context: BrowserContext,
        step: Callable[[], int],
        killed: Callable[[], bool],
        text: re.Pattern[str] | None,
        server: RunningServer | None,
    ) -> None:
        self.failures: list[Failure] = []
        self.console: dict[str, str] = {}
        self.sent: Counter[str] = Counter()
        self._step = step
        self._killed = killed
        self._text = text
        self._server = server
        self._server_ended = False
        self._context = context
        self._pages: set[str] = set()
        self._host: str | None = None
        context.on("request", self._on_request)
        context.on("weberror", self._on_error)
        context.on("console", self._on_console)
        context.on("page", self._on_page)

    @property
    def crashed(self) -> bool:
        """Whether a page has crashed, or hangs, which is the end as well."""
        return any(failure.kind in {CRASH, HANG} for failure in self.failures)

    def add(self, failure: Failure) -> None:
        """Add a failure detected elsewhere."""
        self.failures.append(failure)

    def look(self) -> None:
        """Look for what comes without an event: the text on a page, and what the server says."""
        self._look_at_server()
        if self._text is None:
            return
        for page in self._context.pages:
            for frame in page.frames:
                try:
                    visible = str(frame.evaluate("() => document.body ? document.body.innerText : ''"))
                except PlaywrightError:
                    continue  # the frame is being replaced
                if found := self._text.search(visible):
                    self.add(Failure(TEXT, found.group(), "", found.group(), self._step()))
                    return

    def _look_at_server(self) -> None:
        if self._server is None:
            return
        end = self._server.end
        reports = self._server.reports()
        for report in reports:
            self.add(Failure(SERVER_ERROR, report.words, report.signature, report.words, self._step()))
        if end and not (reports or self._server_ended):
            self.add(Failure(SERVER_ERROR, f"the server {end}", "", self._server.last_words, self._step()))
        self._server_ended = bool(end)

    def _on_error(self, web_error: WebError) -> None:
        error = web_error.error
        self.add(page_error(error.name or "", error.message, error.stack or "", self._step(), self._pages))

    def _on_request(self, request: Request) -> None:
        # Not the present addresses of the pages: a page may change its own (`history.pushState`).
        if request.is_navigation_request():
            self._pages.add(urldefrag(request.url).url)
            self._host = self._host or urlsplit(request.url).hostname
        if request.method not in _ASKING and urlsplit(request.url).hostname == self._host:
            self.sent[f"{request.method} {without_counts(path_of(request.url))}"] += 1

    def _on_console(self, message: ConsoleMessage) -> None:
        at = message.location
        if message.type == "error":
            self._on_console_error(message.text, f"{path_of(at.get('url') or '')}:{at.get('lineNumber', 0) + 1}")
        if message.type != "assert":
            return
        place = f"{path_of(at['url'])}:{at['lineNumber'] + 1}:{at['columnNumber'] + 1}" if at.get("url") else ""
        text = (message.text.splitlines() or [""])[0] or "console.assert"
        inside = path_of(at["url"]) if urldefrag(at.get("url", "")).url in self._pages else ""
        self.add(Failure(CONSOLE_ASSERTION, text, place, message.text, self._step(), inside))

    def _on_console_error(self, message: str, place: str) -> None:
        self.console.setdefault((message.splitlines() or [""])[0], place)
        if self._text is not None and (found := self._text.search(message)):
            self.add(Failure(TEXT, found.group(), "", f"{message}\nin the console, from {place}", self._step()))

    def _on_page(self, page: Page) -> None:
        page.on("crash", lambda _: self._on_crash())

    def _on_crash(self) -> None:
        kind, words = (HANG, HANGS) if self._killed() else (CRASH, PAGE_CRASHED)
        self.add(Failure(kind, words, "", words, self._step()))
