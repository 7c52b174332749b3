"""Watches a browser context for failures: uncaught errors, failed console assertions, crashes."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import urldefrag

from playwright.sync_api import BrowserContext, ConsoleMessage, Page, Request, WebError

from replay_dd.web.failure import CONSOLE_ASSERTION, CRASH, Failure, page_error, path_of

PAGE_CRASHED = "the page crashed"


class Watch:
    """Collects the failures of a context.

    Args:
        context: the context, before it has any page.
        step: returns the number of the current step.

    Attributes:
        failures: the failures so far, in order.
    """

    def __init__(self, context: BrowserContext, step: Callable[[], int]) -> None:
        self.failures: list[Failure] = []
        self._step = step
        self._pages: set[str] = set()
        context.on("request", self._on_request)
        context.on("weberror", self._on_error)
        context.on("console", self._on_console)
        context.on("page", self._on_page)

    @property
    def crashed(self) -> bool:
        """Whether a page has crashed."""
        return any(failure.kind == CRASH for failure in self.failures)

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
        if message.type != "assert":
            return
        at = message.location
        place = f"{path_of(at['url'])}:{at['lineNumber'] + 1}:{at['columnNumber'] + 1}" if at.get("url") else ""
        text = (message.text.splitlines() or [""])[0] or "console.assert"
        inside = path_of(at["url"]) if urldefrag(at.get("url", "")).url in self._pages else ""
        self.add(Failure(CONSOLE_ASSERTION, text, place, message.text, self._step(), inside))

    def _on_page(self, page: Page) -> None:
        page.on("crash", lambda _: self.add(Failure(CRASH, PAGE_CRASHED, "", PAGE_CRASHED, self._step())))
