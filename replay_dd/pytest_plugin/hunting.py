"""The part of the plugin that works: watches which tests start threads, has them hunted, and tells what was found.

Rules of this module:

* Tests run here as they do without replay-dd.
* A test is hunted when its fixtures are undone, so a file or a port that they use is not in the way of the hunt, nor is
  what the hunt does to it in theirs. Its outcome is told after that. Where another plugin runs the tests, it is hunted
  as soon as its call is over.
* A test that fails under one of its schedules fails, as any failing test does; what else is known stands below.
* Logs that its marker names are tried for each test that passes or fails, also where it is not hunted.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from _pytest import runner

from replay_dd.pytest_plugin.expectation import Expectation
from replay_dd.pytest_plugin.failure import told_failure
from replay_dd.pytest_plugin.hunts import hunts_of
from replay_dd.pytest_plugin.junit import add_flaky_failure
from replay_dd.pytest_plugin.results import (
    NO_THREADS,
    RACE,
    HuntResult,
    annotation,
    job_summary,
    summary,
    table,
    tells_of_a_find,
    unfit_in_words,
)
from replay_dd.pytest_plugin.thread_watch import ThreadWatch

_SENT = "replay_dd"  # under this name, workers of xdist send what they found


class HuntedTests:
    """The hooks.

    Args:
        config: of this run of pytest.
        only_failed: hunt only tests that have just failed.

    Raises:
        pytest.UsageError: an option does not make sense.
    """

    def __init__(self, config: pytest.Config, *, only_failed: bool) -> None:
        self._config = config
        self._hunts = hunts_of(config)
        self._hunts.check_folder()
        self._only_failed = only_failed
        self._results: list[HuntResult] = []
        self._hunted: dict[str, HuntResult] = {}
        self._seen: set[str] = set()
        self._tests = self._threaded = 0
        self._expectation = Expectation()
        self._running = False
        self._delays = False
        self._reports: list[pytest.TestReport] = []
        self._waiting: tuple[pytest.TestReport, bool] | None = None
        self._watch = ThreadWatch()

    def pytest_report_header(self) -> str:
        """What will take its time."""
        which = "tests that fail and start threads" if self._only_failed else "tests that start threads"
        return f"replay-dd: hunts {which}, {self._hunts.limits}, and isolates what it finds"

    # -- which tests start threads -----------------------------------------------------------------------------------

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Note which tests there are; a worker of xdist collects all, but others share in them."""
        given: dict[str, Any] = getattr(self._config, "workerinput", {})
        self._expectation = Expectation(session.items, int(given.get("workercount", 1)))
        self._watch.leave_out()
        if session.items:
            self._hunts.start()

    def pytest_runtest_logstart(self) -> None:
        """A test begins."""
        self._watch.begin()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> bool:
        """Run a test as pytest does, but tell how it went after it was torn down and hunted."""
        if self._is_run_by_another(item, nextitem):
            return True
        item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
        self._delays, self._waiting, self._reports = True, None, []
        try:
            runner.runtestprotocol(item, log=False, nextitem=nextitem)
            if self._waiting is not None:
                self._hunt(item, *self._waiting)
        finally:
            self._delays = False
            for report in self._reports:
                item.ihook.pytest_runtest_logreport(report=report)
        item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
        return True

    def _is_run_by_another(self, item: pytest.Item, nextitem: pytest.Item | None) -> bool:
        """Let other plugins run a test first, as those do that run it again if it fails; most have no wish to."""
        given = {"item": item, "nextitem": nextitem}
        for one in reversed(item.ihook.pytest_runtest_protocol.get_hookimpls()):
            its_own = one.plugin is self or one.function is runner.pytest_runtest_protocol
            if its_own or one.hookwrapper or one.wrapper or _runs_once(one.function, item):
                continue
            if one.function(*(given[name] for name in one.argnames)) is not None:
                return True
        return False

    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """A marker that makes no sense is an error of its test, as it is with those of pytest."""
        try:
            self._hunts.asked_for(item)
        except ValueError as error:
            raise pytest.fail.Exception(f"@pytest.mark.replay_dd: {error}", pytrace=False) from None

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_call(self) -> Iterator[None]:
        """Tell reports of a test's parts, which are made while it runs, from its own."""
        self._running = True
        yield
        self._running = False

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
        """After the test itself, see whether it has threads; if so, it is hunted."""
        outcome: Any = yield
        report: pytest.TestReport = outcome.get_result()
        if self._running:
            return
        if report.when == "setup":
            self._reports = []
        self._reports.append(report)
        if report.when != "call":
            return
        # A test that was skipped meets no thread of a fixture, or of a test before it.
        beside = not report.skipped or hasattr(report, "wasxfail")
        threads = self._watch.started or (beside and self._watch.others_ran())
        if item.nodeid not in self._seen:  # other plugins run a test again that has failed
            self._seen.add(item.nodeid)
            self._tests += 1
            self._threaded += threads
            self._expectation.saw(item, threads=bool(threads))
        if self._delays and report.failed:
            _tear_down_all_if_last(item.session)
        if not _counts(report):
            return
        whole = bool(threads) and (report.failed or not self._only_failed)
        if self._delays:
            self._waiting = report, whole
        else:
            self._hunt(item, report, whole)

    def _hunt(self, item: pytest.Item, report: pytest.TestReport, whole: bool) -> None:
        result = self._hunted.get(item.nodeid)
        if result is None:
            took_s = sum(one.duration for one in self._reports)
            to_come = self._expectation
            result = self._hunts.hunt_test(
                *(item, to_come.left + 1, to_come.with_threads + 1, took_s), whole=whole, failed=report.failed
            )
            if result is None:
                return
            if result.verdict == NO_THREADS and self._watch.started:
                result = result.with_why("it started one here, but none when it ran alone")
            elif result.verdict == NO_THREADS:
                self._threaded -= 1  # a fixture's thread was running, which the test does not use
            self._hunted[item.nodeid] = result
            self._results.append(result)
            item.user_properties += result.properties()
        self._tell(item, report, result)
        if result.interrupted:
            raise KeyboardInterrupt

    # -- telling -----------------------------------------------------------------------------------------------------

    def _tell(self, item: pytest.Item, report: pytest.TestReport, result: HuntResult) -> None:
        for one in (report, *self._reports):  # JUnit's XML has those of the last one
            one.user_properties = item.user_properties
        lines = list(unfit_in_words(result))
        if result.verdict == RACE:
            lines = [*result.story, f"{'repeat':<13}{result.repeat}", *lines]
            vars(report)[_SENT] = result.as_data()  # goes through xdist, as all attributes of reports do
        if not lines:
            return
        text = "\n".join(lines)
        if report.failed:
            report.sections.append(("replay-dd", text))
            return
        report.outcome = "failed"
        if result.verdict == RACE:
            text = "\n".join(filter(None, [result.told or result.failure, f"{' replay-dd ':-^80}", text]))
        report.longrepr = told_failure(text, result.path or item.nodeid, result.line, result.failure or lines[0])

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Mark a race as flaky in JUnit's XML."""
        data = getattr(report, _SENT, None)
        if data:
            add_flaky_failure(self._config, report, HuntResult.of_data(data))

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """End the loaded suites; a worker of xdist hands its results on."""
        self._watch.end()
        self._hunts.close()
        output = getattr(self._config, "workeroutput", None)
        if output is not None:
            results = [result.as_data() for result in self._results]
            output[_SENT] = {"tests": self._tests, "threaded": self._threaded, "results": results}

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Take over what a worker of xdist has found."""
        sent = getattr(node, "workeroutput", {}).get(_SENT)
        if sent:
            self._tests += sent["tests"]
            self._threaded += sent["threaded"]
            self._results += map(HuntResult.of_data, sent["results"])

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Tell what was hunted and found; nobody hears a worker of xdist, but its summary of the job would be kept."""
        if hasattr(self._config, "workerinput"):
            return
        lines = list(summary(self._results, self._tests, self._threaded))
        if terminalreporter.verbosity > 0:
            lines[1:1] = table(self._results)
        if terminalreporter.verbosity < -1:
            lines = lines[:1] + [line for line in lines if tells_of_a_find(line)]
        terminalreporter.write_sep("=", "replay-dd")
        for line in lines:
            terminalreporter.write_line(line, red=tells_of_a_find(line))
        if os.environ.get("GITHUB_ACTIONS") == "true":
            for result in self._results:
                if result.verdict == RACE:
                    terminalreporter.write_line(annotation(result))
            page = os.environ.get("GITHUB_STEP_SUMMARY")
            if page:
                with open(page, "a", encoding="utf-8") as file:
                    file.write(job_summary(self._results, self._tests, self._threaded))


def _tear_down_all_if_last(session: pytest.Session) -> None:
    """With ``--exitfirst``, a test that fails is torn down as the last one; pytest learns of its failure after that."""
    most = session.config.getoption("maxfail")
    if most and session.testsfailed + 1 >= most:
        session.shouldfail = f"stopping after {session.testsfailed + 1} failures"


def _runs_once(hook: Callable[..., object], item: pytest.Item) -> bool:
    """Whether a hook that runs each test itself does with this one just what pytest does: that of ``flaky``."""
    if getattr(hook, "__module__", "").partition(".")[0] != "flaky":
        return False
    if item.config.getoption("force_flaky", False) or item.get_closest_marker("flaky"):
        return False
    owners = (getattr(item, name, None) for name in ("obj", "cls", "module"))
    return not any(hasattr(owner, "_flaky_max_runs") for owner in owners)  # set by its decorator


def _counts(report: pytest.TestReport) -> bool:
    return report.outcome in ("passed", "failed") and not hasattr(report, "wasxfail")
