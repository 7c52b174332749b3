"""The browser is started without what tests have no use for, and with what Playwright asks for."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Error as PlaywrightError

from replay_dd.web.browser import WebBrowser
from replay_dd.web.features import UNUSED_FEATURES, without_unused_features

pytestmark = pytest.mark.once


class Starter:
    """In the place of Playwright: cannot start a browser, and says so."""

    def __init__(self, says: str) -> None:
        self.chromium = self
        self._says = says

    def launch(self, *, executable_path: str) -> None:
        """Raises an error, as Playwright does."""
        raise PlaywrightError(self._says)


def added(says: str) -> list[str]:
    """What is added to the arguments."""
    starter: Any = Starter(says)
    return without_unused_features(starter)


def test_what_playwright_disables_stays_disabled() -> None:
    (argument,) = added("closed\n<launching> false --a --disable-features=One,Two --enable-features=Three\nended")
    assert argument.split("=") == ["--disable-features", ",".join(["One", "Two", *UNUSED_FEATURES])]


def test_nothing_is_added_to_arguments_that_are_not_told() -> None:
    assert added("closed") == []


def test_a_window_loads_no_pages_of_its_own(browser: WebBrowser) -> None:
    with browser.fresh_context(None) as context:
        page = context.new_page()
        page.goto("data:text/html,<p>text")
        assert context.browser is not None
        session = context.browser.new_browser_cdp_session()
        targets = session.send("Target.getTargets", {"filter": [{}]})["targetInfos"]
        session.detach()
    assert not [target["url"] for target in targets if target["url"].startswith("chrome:")]
