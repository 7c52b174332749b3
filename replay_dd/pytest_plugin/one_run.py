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
# Options, by the names of their values, and what a run has instead: those of the user's own run say where its reports
# and files are, which tests are run, and when it stops. They may be set anywhere: on the command line, in settings, in
# the environment.
_INSTEAD = {
    **dict.fromkeys(("xmlpath", "htmlpath", "allure_report_dir", "report_log", "json_report", "json_report_file")),
    "pastebin": None,  # would send each run to the Internet
    "basetemp": None,  # is emptied by each run, and the user's own run has its files there
    **dict.fromkeys(("lf", "failedfirst", "newfirst", "stepwise", "stepwise_skip", "stepwise_reset"), False),
    **dict.fromkeys(("cacheclear", "usepdb", "trace", "looponfail"), False),
    **dict.fromkeys(("keyword", "markexpr"), ""),
    **dict.fromkeys(("deselect", "durations")),
    "maxfail": 0,
    "log_file": os.devnull,  # may be a setting as well, which counts where the option is empty
}
# What they note of one run for the next one; the fixture `cache` stays.
_FOR_THE_NEXT_RUN = ("lfplugin", "nfplugin", "stepwise")
_HUNTED_CALL = "REPLAY_DD_HUNTED_CALL"  # set where the fixture hunts a call
_HYPOTHESIS = "hypothesispytest"


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
    """All options are known, and no plugin has begun to work."""
    for name in _LEFT_OUT:
        _leave_out(config, name)
    for name in _MARKS:
        config.addinivalue_line("markers", f"{name}: of a plugin that is left out")
    for name, value in _INSTEAD.items():
        if hasattr(config.option, name):
            setattr(config.option, name, value)


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    """All plugins have begun to work."""
    for name in _FOR_THE_NEXT_RUN:
        _leave_out(config, name)


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
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    """The test may be marked as one that fails. What it hunts is its own call, which is to pass."""
    by_mark = call.excinfo is not None and not isinstance(call.excinfo.value, pytest.xfail.Exception)
    before = item.config.getoption("runxfail", None)
    if _HUNTED_CALL in os.environ and by_mark and before is not None:
        item.config.option.runxfail = True
        yield
        item.config.option.runxfail = before
    else:
        yield


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
