"""A browser leaves the user's HOME as it is."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from replay_dd.web.browser import WebBrowser
from tests.experiment.test_working_copy import listing

SCRIPT = """
from replay_dd.web.browser import WebBrowser
with WebBrowser() as browser, browser.fresh_context(None) as context:
    page = context.new_page()
    page.set_content("<p>text</p>")
    print(page.inner_text("p"))
"""


@pytest.mark.once
def test_a_browser_changes_nothing_in_home(browser: WebBrowser, tmp_path: Path) -> None:
    home = tmp_path / "home"
    (home / ".config").mkdir(parents=True)
    before = listing(home)
    # Another process: the driver of the browser has the environment in which it was started.
    variables = {name: value for name, value in os.environ.items() if not name.startswith("XDG_")}
    command = [sys.executable, "-c", SCRIPT]
    done = subprocess.run(command, env={**variables, "HOME": str(home)}, capture_output=True, text=True, check=True)
    assert done.stdout == "text\n"
    assert listing(home) == before
