"""Which window of the browser is meant by a step of a flow.

The Recorder tells windows by their addresses at the time, and calls the first one `main`. An address may hold what is
different each time, such as the number of a new document. So a window of a similar address is the one meant, but not
if another address already stands for it, and only if none of the very address appears in time. From then on the address
is known to differ, in later playbacks too, where nothing is waited for.
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
        differing: the recorded addresses that are known to differ; more are added.
    """

    def __init__(self, context: BrowserContext, main: Page, differing: set[str]) -> None:
        self._differing = differing
        self._context = context
        self._meant = {MAIN: main}

    def find(self, target: str, *, in_time: bool = True) -> Page | None:
        """The window that a step is meant for, if it is open.

        Args:
            target: its address in the recording, or `main`.
            in_time: whether the window may still appear; otherwise one of a similar address is taken.
        """
        if target == MAIN:
            return self._meant[MAIN]
        pages = self._context.pages
        known = self._meant.get(target)
        meant = [page for page in pages if page.url == target] or [page for page in pages if page is known]
        if not meant and (not in_time or target in self._differing):
            free = [page for page in pages if page not in self._meant.values()]
            meant = [page for page in free if without_counts(page.url) == without_counts(target)]
            self._differing.update([target] if meant else [])
        if meant:
            self._meant[target] = meant[0]
        return next(iter(meant), None)
