"""Loaded into each pytest that a hunt starts: leaves out what other plugins add to a run, or do after its test.

Rules of this module:

* It imports nothing of replay-dd: it is loaded where tests run.
* Logs name it in their command, so a replay leaves out the same.
* Only what could hide a failure, or costs more than the test without telling anything about it, is left out.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator

import pytest

# By the names under which they are registered. Those that run a failed test again would hide its failure, and may have
# a thread of their own; a limit on the real clock would end tests that a hunt merely holds up, and a deadlock is told
# better without it; coverage is switched off, and warns of that.
_LEFT_OUT = ("rerunfailures", "flaky", "pytest-retry", "timeout", "_cov", "pytest_cov")
_MARKS = ("flaky", "timeout", "no_cover")  # theirs
# Options, by the names of their values, that say where plug-ins put their reports: those are of the user's own run, and
# options may be set in its settings as well as on its command line.
_REPORTS = ("xmlpath", "htmlpath", "allure_report_dir", "report_log", "json_report", "json_report_file")
_LOG_FILE = "log_file"  # may be a setting as well, which counts where the option is empty
_HYPOTHESIS = "hypothesispytest"


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
    """All options are known, and no plugin has begun to work."""
    for name in _LEFT_OUT:
        _leave_out(config, name)
    for name in _MARKS:
        config.addinivalue_line("markers", f"{name}: of a plugin that is left out")
    for name in _REPORTS:
        if getattr(config.option, name, None):
            setattr(config.option, name, None)
    if hasattr(config.option, _LOG_FILE):
        setattr(config.option, _LOG_FILE, os.devnull)


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> None:
    """All tests are loaded, and none has run."""
    if "hypothesis" not in sys.modules:
        _leave_out(session.config, _HYPOTHESIS)  # its summary would import it, in every single run
    _forget_examples()
    _draw_no_constants()
    _keep_failing_examples_as_they_are(session.items)
    _collect_no_garbage(session.config)


@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_sessionfinish() -> Iterator[None]:
    """Plug-ins report what was found: in a suite that was loaded for many tests, more than in a run of one of them."""
    runners = sys.modules.get("_replay_dd_runtime.stdlib.test_runners")
    if runners is None:
        yield
    else:
        with runners.uncounted_if_alone():
            yield


def _leave_out(config: pytest.Config, name: str) -> None:
    plugin = config.pluginmanager.get_plugin(name)
    if plugin is not None:
        config.pluginmanager.unregister(plugin)


def _forget_examples() -> None:
    """Hypothesis keeps failing examples in the working directory, and begins the next run with them."""
    configuration = sys.modules.get("hypothesis.configuration")
    if configuration is not None and hasattr(configuration, "set_hypothesis_home_dir"):
        configuration.set_hypothesis_home_dir(os.path.join(tempfile.gettempdir(), "hypothesis"))


def _draw_no_constants() -> None:
    """Hypothesis draws constants of all modules of the project: of more where a whole suite is loaded than one test."""
    providers = sys.modules.get("hypothesis.internal.conjecture.providers")
    none = getattr(providers, "_local_constants", None)
    if none is not None and hasattr(providers, "_get_local_constants"):
        vars(providers)["_get_local_constants"] = lambda: none


def _keep_failing_examples_as_they_are(items: list[pytest.Item]) -> None:
    """Hypothesis makes failing examples smaller, and traces the program for that: hundreds of further runs in one."""
    hypothesis = sys.modules.get("hypothesis")
    kind = getattr(hypothesis, "settings", None)
    if kind is None:
        return
    for item in items:
        test = getattr(item, "obj", None)
        function = getattr(test, "__func__", test)
        # Those of a state machine belong to its class.
        for owner, name in ((function, "_hypothesis_internal_use_settings"), (getattr(item, "cls", None), "settings")):
            used = getattr(owner, name, None)
            if isinstance(used, kind):
                phases = [phase for phase in used.phases if phase.name not in ("shrink", "explain")]
                setattr(owner, name, kind(used, phases=phases))


def _collect_no_garbage(config: pytest.Config) -> None:
    """At its end pytest looks five times through all objects there are, to warn of exceptions in finalizers."""
    from _pytest import unraisableexception

    key = getattr(unraisableexception, "gc_collect_iterations_key", None)
    if key is not None:
        config.stash[key] = 0
