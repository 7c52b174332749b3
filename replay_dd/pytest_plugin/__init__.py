"""The pytest plugin: hunts the tests of a suite that start threads.

Rules of this module:

* pytest loads it into every run of everyone who has replay-dd installed. So it imports nothing of replay-dd, and does
  nothing, until one of its options asks for it.
* Inside a run of replay-dd's own, it stays away.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest

_DEFAULT_RUNS = 100


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options."""
    group = parser.getgroup("replay-dd", "races: vary the thread schedules of tests")
    group.addoption(
        "--replay-dd",
        nargs="?",
        const="",
        metavar="RUNS",
        help="run each test that starts a thread under up to RUNS schedules (default: 100); a test that fails under "
        "one of them fails, with the cause",
    )
    group.addoption(
        "--replay-dd-on-failure",
        action="store_true",
        help="vary the schedules only of tests that have just failed and that started a thread",
    )
    group.addoption("--replay-dd-time", metavar="TIME", help="at most so long for each test: 60s, 2m (default: 60s)")
    group.addoption("--replay-dd-total", metavar="TIME", help="at most so long in all, shared out fairly: 10m, 1h")
    group.addoption("--replay-dd-folder", metavar="DIR", help="where to keep the logs (default: replay-dd-logs)")
    parser.addini("replay_dd_runs", "up to how many schedules of each test (default: 100)", default=str(_DEFAULT_RUNS))
    parser.addini("replay_dd_time", "at most so long for each test (default: 60s)", default="60s")
    parser.addini("replay_dd_total", "at most so long for all tests (default: no limit)", default="")
    parser.addini("replay_dd_folder", "where to keep the logs (default: replay-dd-logs)", default="replay-dd-logs")


def pytest_configure(config: pytest.Config) -> None:
    """Register the part that works, if it is asked for."""
    config.addinivalue_line(
        "markers",
        "replay_dd(runs=N, time=TIME, granularity=NAME, strategy=NAME): how `pytest --replay-dd` varies the schedules "
        "of this test; runs=0 leaves it alone",
    )
    asked = config.getoption("--replay-dd") is not None or config.getoption("--replay-dd-on-failure")
    if asked and "_replay_dd_runtime" not in sys.modules and not config.getoption("collectonly"):
        from replay_dd.pytest_plugin.hunting import HuntedTests

        config.pluginmanager.register(HuntedTests(config), "replay-dd-hunted-tests")
