"""Loaded into each pytest that a hunt starts: leaves out what other plugins add to a run, or do after its test.

Rules of this module:

* It imports nothing of replay-dd: it is loaded where tests run.
* Logs name it in their command, so a replay leaves out the same.
* Only what could hide a failure, or costs more than the test without telling anything about it, is left out.
"""

from __future__ import annotations

import sys

import pytest

# By the names under which they are registered. Those that run a failed test again would hide its failure; a limit on
# the real clock would end tests that a hunt merely holds up, and a deadlock is told better without it.
_LEFT_OUT = ("rerunfailures", "flaky", "pytest-retry", "timeout")
_HYPOTHESIS = "hypothesispytest"


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> None:
    """All plugins have seen their options and marks, and no test has run."""
    manager = session.config.pluginmanager
    left_out = [*_LEFT_OUT]
    if "hypothesis" not in sys.modules:
        left_out.append(_HYPOTHESIS)  # its summary would import it, in every single run
    for name in left_out:
        plugin = manager.get_plugin(name)
        if plugin is not None:
            manager.unregister(plugin)
    _collect_no_garbage(session.config)


def _collect_no_garbage(config: pytest.Config) -> None:
    """At its end pytest looks five times through all objects there are, to warn of exceptions in finalizers."""
    from _pytest import unraisableexception

    key = getattr(unraisableexception, "gc_collect_iterations_key", None)
    if key is not None:
        config.stash[key] = 0
