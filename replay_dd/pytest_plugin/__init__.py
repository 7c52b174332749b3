"""The pytest plugin: hunts the tests of a suite that start threads.

Rules of this module:

* pytest loads it into every run of everyone who has replay-dd installed. So it imports nothing of replay-dd, and does
  nothing, until one of its options asks for it.
* Inside a run of replay-dd's own, it stays away.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from replay_dd.pytest_plugin.hunted_call import HuntedCalls

_DEFAULT_RUNS = 100
_KNOWN_RACES = "replay-dd-known-races-of-calls"
_ONLY_HOW = ("time", "total", "folder", "granularity", "strategy", "max-delay", "corpus")  # not whether to hunt


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
    group.addoption("--replay-dd-log", metavar="FILE", help="run the test of this log alone, under its schedule")
    group.addoption("--replay-dd-time", metavar="TIME", help="time limit for each test: 60s, 2m (default: 60s)")
    group.addoption("--replay-dd-total", metavar="TIME", help="time limit for all tests, shared out fairly: 10m, 1h")
    group.addoption("--replay-dd-folder", metavar="DIR", help="where to keep the logs (default: replay-dd-logs)")
    group.addoption(
        "--replay-dd-granularity", metavar="NAME", help="where threads can be switched, as for `replay-dd hunt`"
    )
    group.addoption("--replay-dd-strategy", metavar="NAME", help="how to choose schedules, as for `replay-dd hunt`")
    group.addoption(
        "--replay-dd-max-delay",
        metavar="TIME",
        help="how late a thread may be, as on a busy machine, where a sleep or time-out ends early (default: 10ms)",
    )
    group.addoption("--replay-dd-corpus", metavar="DIR", help="keep what hunts learn there, and go on from there")
    parser.addini("replay_dd_corpus", "as --replay-dd-corpus (default: none)", default="")
    parser.addini("replay_dd_max_delay", "as --replay-dd-max-delay (default: 10ms)", default="10ms")
    parser.addini("replay_dd", "whether to hunt in each run, as with --replay-dd", type="bool", default=False)
    parser.addini("replay_dd_on_failure", "as --replay-dd-on-failure", type="bool", default=False)
    parser.addini("replay_dd_runs", "number of schedules for each test (default: 100)", default=str(_DEFAULT_RUNS))
    parser.addini("replay_dd_time", "time limit for each test (default: 60s)", default="60s")
    parser.addini("replay_dd_total", "time limit for all tests (default: no limit)", default="")
    parser.addini("replay_dd_folder", "where to keep the logs (default: replay-dd-logs)", default="replay-dd-logs")
    parser.addini("replay_dd_granularity", "where threads can be switched (default: access)", default="")
    parser.addini("replay_dd_strategy", "how to choose schedules (default: a mixture)", default="")


def pytest_configure(config: pytest.Config) -> None:
    """Register the part that works, if it is asked for."""
    config.addinivalue_line(
        "markers",
        "replay_dd(runs=N, time=TIME, granularity=NAME, strategy=NAME, max_delay=TIME, known=FILE): how `pytest "
        "--replay-dd` varies the schedules of this test; runs=0: not at all; known: logs of its known races, which are "
        "tried first",
    )
    if "_replay_dd_runtime" in sys.modules or config.getoption("collectonly"):
        return
    if config.getoption("--replay-dd-log"):
        from replay_dd.pytest_plugin.replaying import ReplayedTest

        config.pluginmanager.register(ReplayedTest(config), "replay-dd-replayed-test")
        return
    every = config.getoption("--replay-dd") is not None
    failed = config.getoption("--replay-dd-on-failure")
    if every or failed or config.getini("replay_dd") or config.getini("replay_dd_on_failure"):
        from replay_dd.pytest_plugin.hunting import HuntedTests

        only_failed = not every and (failed or not config.getini("replay_dd"))
        config.pluginmanager.register(HuntedTests(config, only_failed=only_failed), "replay-dd-hunted-tests")
        return
    unused = [f"--replay-dd-{name}" for name in _ONLY_HOW if config.getoption(f"--replay-dd-{name}")]
    if unused:
        from replay_dd.pytest_plugin.unused import UnusedOptions

        config.pluginmanager.register(UnusedOptions(config, unused), "replay-dd-unused-options")


@pytest.fixture
def replay_dd(request: pytest.FixtureRequest) -> HuntedCalls:
    """Vary the thread schedules of one call: ``replay_dd.check(function)``, ``replay_dd.hunt(function)``."""
    from replay_dd.pytest_plugin.hunted_call import HuntedCalls, KnownRacesOfCalls

    plugins = request.config.pluginmanager
    if "_replay_dd_runtime" not in sys.modules and not plugins.hasplugin(_KNOWN_RACES):
        plugins.register(KnownRacesOfCalls(), _KNOWN_RACES)
    return HuntedCalls(request)
