"""Which window of the browser is meant by a step of a flow.

The Recorder tells windows by their addresses at the time, and calls the first one `main`. An address may hold what is
different each time, such as the number of a new document. So a window of a similar address is the one meant, but not
if another address already stands for it.
"""

from __future__ import annotations

from playwright.sync_api import BrowserContext, Page

from replay_dd.web.requests import without_counts

MAIN = "main"


class Windows:
    """The windows of a context.

    Args:
        context: the context.
        main: its first window.
    """

    def __init__(self, context: BrowserContext, main: Page) -> None:
        self._context = context
        self._meant = {MAIN: main}

    def find(self, target: str) -> Page | None:
        """The window that a step is meant for, if it is open.

        Args:
            target: its address in the recording, or `main`.
        """
        if target == MAIN:
            return self._meant[MAIN]
        pages = self._context.pages
        known = self._meant.get(target)
        alike = [page for page in pages if without_counts(page.url) == without_counts(target)]
        meant = (
            *(page for page in pages if page.url == target),
            *(page for page in pages if page is known),
            *(page for page in alike if page not in self._meant.values()),
        )
        if meant:
            self._meant[target] = meant[0]
        return next(iter(meant), None)
