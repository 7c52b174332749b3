"""Loaded into a pytest that runs under replay-dd's control: collects the suite once, and runs one test in each copy.

It imports nothing of replay-dd but the runtime, which is there already.
"""

from __future__ import annotations

import pytest

from .stages import make_fixtures, stages_of


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool | None:
    """Wait for the name of a test; go on, in a copy of this process, as if only that had been collected.

    Returns:
        True if no test is to be run; pytest then ends, and tears down what it has set up.
    """
    from _replay_dd_runtime.process.suite import next_test, refuse

    names = [item.nodeid for item in session.items]
    items = {item.nodeid: item for item in reversed(session.items)}
    while True:
        name, stage = next_test(names, lambda name: [one.key for one in stages_of(items[name])])
        if not name:
            return True
        if stage is None:
            break
        try:
            make_fixtures(items[name], stages_of(items[name])[stage])
        except BaseException as error:
            refuse(f"they end with {type(error).__name__} if they are made before the test")
            return True
    session.items[:] = [items[name]]
    session.testscollected = 1
    session.testsfailed = 0  # errors while other files were collected
    return None
