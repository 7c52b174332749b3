"""Watches a browser context for failures: uncaught errors, failed console assertions, crashes."""

from __future__ import annotations

import re
from collections.abc import Callable
from urllib.parse import urldefrag

from playwright.sync_api import BrowserContext, ConsoleMessage, Page, Request, WebError

from replay_dd.web.failure import CONSOLE_ASSERTION, CRASH, HANG, TEXT, Failure, page_error, path_of
from replay_dd.web.hangs import HANGS

PAGE_CRASHED = "the page crashed"


class Watch:
    """Collects the failures of a context.

    Args:
        context: the context, before it has any page.
        step: returns the number of the current step.
        killed: returns whether a page that did not respond was killed.
        text: if given, its occurrence in an error in the console is a failure.

    Attributes:
        failures: the failures so far, in order.
        console: the errors that were written to the console, each once: first lines, and where they were written.
    """

    def __init__(
        self, context: BrowserContext, step: Callable[[], int], killed: Callable[[], bool], text: re.Pattern[str] | None
    ) -> None:
        self.failures: list[Failure] = []
        self.console: dict[str, str] = {}
        self._step = step
        self._killed = killed
        self._text = text
        self._pages: set[str] = set()
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

    def _on_error(self, web_error: WebError) -> None:
        error = web_error.error
        self.add(page_error(error.name or "", error.message, error.stack or "", self._step(), self._pages))

    def _on_request(self, request: Request) -> None:
        # Not the present addresses of the pages: a page may change its own (`history.pushState`).
        if request.is_navigation_request():
            self._pages.add(urldefrag(request.url).url)

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
