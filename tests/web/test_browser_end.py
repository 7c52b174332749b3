"""A browser whose driver does not answer keeps nobody from ending."""

from __future__ import annotations

import subprocess
import sys

import pytest

from replay_dd.web.browser import WebBrowser

SCRIPT = """
import os, signal
from replay_dd.web import browser as module
module.STOP_LIMIT_S = 1.0
with module.WebBrowser() as browser:
    drivers = browser._drivers
    assert len(drivers) == 1
    for driver in drivers:
        os.kill(driver, signal.SIGSTOP)
print("over", module._drivers())
"""


@pytest.mark.once
def test_a_driver_that_does_not_answer_is_killed(browser: WebBrowser) -> None:
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, timeout=250)
    assert done.stdout == "over set()\n", done.stderr
