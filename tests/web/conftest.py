"""The browser, one per test worker; tests that need it are skipped if there is none."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from replay_dd.errors.machine import SoftwareMissingError
from replay_dd.web.browser import WebBrowser, find_browser
from tests.web.flows import serving


@pytest.fixture(scope="session")
def browser() -> Iterator[WebBrowser]:
    try:
        find_browser()
    except SoftwareMissingError:
        pytest.skip("NO CHROMIUM: web sessions are not tested (on Debian: apt install chromium)")
    with WebBrowser() as running:
        yield running


@pytest.fixture
def site(tmp_path: Path) -> Iterator[str]:
    """The address that serves the files of ``tmp_path``."""
    with serving(tmp_path) as address:
        yield address
