"""Loaded into a pytest that runs under replay-dd's control: collects the suite once, and runs one test in each copy.

It imports nothing of replay-dd but the runtime, which is there already.
"""

from __future__ import annotations

import pytest


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> None:
    """Wait for the name of a test; go on, in a copy of this process, as if only that had been collected."""
    from _replay_dd_runtime.process.suite import next_test

    name = next_test([item.nodeid for item in session.items])
    session.items[:] = [next(item for item in session.items if item.nodeid == name)]
    session.testscollected = 1
    session.testsfailed = 0  # errors while other files were collected
