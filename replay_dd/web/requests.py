"""Which requests of a page are under way, and which of them nothing need wait for.

Some requests stay open until the server has news, and are then made again. A page that makes them is never quiet, so
whatever is still open when a wait has used up its time is *background*, and so are requests like it from then on. Two
are alike if they differ only in words with digits: a time, a number, a token.
"""

from __future__ import annotations

import re

from playwright.sync_api import BrowserContext, Request

_COUNTED = re.compile(r"[\w-]*\d[\w-]*")
_LONGEST_BODY = 10_000


class OpenRequests:
    """The requests of a context that are under way.

    Args:
        context: the context, before it has any page.
        background: the requests that are known to be background; more are added.

    Attributes:
        asked: how many requests have been made, without background.
        navigated: how many of all requests were for a page or a frame.
    """

    def __init__(self, context: BrowserContext, background: set[str]) -> None:
        self.asked = 0
        self.navigated = 0
        self._background = background
        self._open: set[Request] = set()
        context.on("request", self._on_request)
        # Lambdas: Playwright sets attributes on its handlers, which methods of built-in types do not allow.
        context.on("requestfinished", lambda request: self._open.discard(request))
        context.on("requestfailed", lambda request: self._open.discard(request))

    def __bool__(self) -> bool:
        """Whether any is under way."""
        return bool(self._open)

    def give_up(self) -> None:
        """Wait no longer for those under way, nor for any like them."""
        self._background.update(_told(request) for request in self._open)
        self._open.clear()

    def _on_request(self, request: Request) -> None:
        self.navigated += request.is_navigation_request()
        if request.resource_type == "eventsource" or _told(request) in self._background:
            return
        self.asked += 1
        self._open.add(request)


def _told(request: Request) -> str:
    """A request as far as all requests like it are the same."""
    body = (request.post_data_buffer or b"")[:_LONGEST_BODY].decode("utf-8", "replace")
    return without_counts(f"{request.method} {request.url} {body}")


def without_counts(text: str) -> str:
    """A text as far as it is the same each time: without words that have digits in them."""
    return _COUNTED.sub("…", text)
