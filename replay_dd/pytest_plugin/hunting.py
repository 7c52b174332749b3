"""The part of the plugin that works: watches which tests start threads, hunts them, and tells what was found.

Rules of this module:

* Tests run here as they do without replay-dd. Hunts run in other processes, so nothing of a hunt can reach a test.
* A test that fails under one of its schedules fails, as any failing test does; what else is known stands below.
"""

from __future__ import annotations

import os
import shlex
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from replay_dd.pytest_plugin.budget import Budget, seconds_of
from replay_dd.pytest_plugin.command_line import command_of, environment_of
from replay_dd.pytest_plugin.failure import Crash, ToldFailure
from replay_dd.pytest_plugin.hunter import Asked, Hunter, failure_as_told
from replay_dd.pytest_plugin.results import (
    NOT_HUNTED,
    RACE,
    HuntResult,
    annotation,
    job_summary,
    summary,
)
from replay_dd.pytest_plugin.thread_watch import ThreadWatch
from replay_dd.schedules.log import read_log
from replay_dd.schedules.model import Program, Settings
from replay_dd.schedules.record import GRANULARITIES, STRATEGIES, settings_for_now
from replay_dd.schedules.target import describe_program

_SENT = "replay_dd"  # under this name, workers of xdist send what they found
_INSIDE = "replay_dd.pytest_plugin.suite"


class HuntedTests:
    """The hooks.

    Args:
        config: of this run of pytest.

    Raises:
        pytest.UsageError: an option does not make sense.
    """

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._runs, self._budget = _runs(config), _budget(config)
        self._only_failed = config.getoption("--replay-dd") is None
        folder = config.getoption("--replay-dd-folder") or config.getini("replay_dd_folder")
        self._folder = config.invocation_params.dir / folder
        self._results: list[HuntResult] = []
        self._tests = self._threaded = 0
        self._left = 0
        self._threads_before = 0
        self._watch = ThreadWatch()
        self._settings = settings_for_now()
        self._hunter: Hunter | None = None

    # -- which tests start threads -----------------------------------------------------------------------------------

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Note how many tests there are."""
        self._left = len(session.items)
        self._threads_before = threading.active_count()

    def pytest_runtest_logstart(self) -> None:
        """A test begins."""
        self._watch.started = False

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
        """After the test itself, hunt it if it has threads."""
        outcome: Any = yield
        report: pytest.TestReport = outcome.get_result()
        if report.when != "call":
            return
        self._tests += 1
        threads = self._watch.started or threading.active_count() > self._threads_before
        self._threaded += threads
        if threads and _counts(report) and (report.failed or not self._only_failed):
            result = self._hunted(item)
            if result is not None:
                self._results.append(result)
                self._tell(item, report, result)
        self._budget.seen += 1
        self._left -= 1

    # -- hunting -----------------------------------------------------------------------------------------------------

    def _hunted(self, item: pytest.Item) -> HuntResult | None:
        try:
            asked, settings = self._asked(item)
        except ValueError as error:
            return HuntResult(item.nodeid, NOT_HUNTED, why=f"@pytest.mark.replay_dd: {error}")
        if asked.runs == 0:
            return None
        if asked.seconds <= 0:
            return HuntResult(item.nodeid, NOT_HUNTED, why="no time is left of --replay-dd-total")
        if self._config.pluginmanager.hasplugin("timeout"):
            item.ihook.pytest_timeout_cancel_timer(item=item)  # the test itself is over
        if self._hunter is None:
            self._hunter = Hunter(self._program(_collected(self._config), _INSIDE), self._folder)
        with self._budget:
            return self._hunter.hunt(item.nodeid, self._program([item.nodeid]), settings, asked)

    def _program(self, tests: list[str], *plugins: str) -> Program:
        directory = self._config.invocation_params.dir
        program = describe_program(command_of(self._config, tests, *plugins), directory=directory)
        return Program(**{**vars(program), "environment": environment_of(program.environment)})

    def _asked(self, item: pytest.Item) -> tuple[Asked, Settings]:
        runs, seconds, strategy, settings = self._runs, None, None, self._settings
        marker = item.get_closest_marker("replay_dd")
        if marker is not None:
            _check_marker(marker)
            runs = marker.kwargs.get("runs", runs)
            strategy = marker.kwargs.get("strategy")
            if "time" in marker.kwargs:
                seconds = seconds_of(str(marker.kwargs["time"]))
            if "granularity" in marker.kwargs:
                settings = settings_for_now(marker.kwargs["granularity"])
        return Asked(runs, self._budget.share_s(self._left, seconds), strategy), settings

    # -- telling -----------------------------------------------------------------------------------------------------

    def _tell(self, item: pytest.Item, report: pytest.TestReport, result: HuntResult) -> None:
        item.user_properties += result.properties()
        report.user_properties = item.user_properties
        if result.verdict != RACE:
            return
        text = "\n".join([*result.story, f"{'repeat':<13}replay-dd replay {result.log}"])
        if report.failed:
            report.sections.append(("replay-dd", text))
            return
        told = failure_as_told(read_log(Path(_unquoted(result.log))))
        report.outcome = "failed"
        whole = "\n".join(filter(None, [told or result.failure, f"{' replay-dd ':-^80}", text]))
        report.longrepr = ToldFailure(whole, Crash(result.path, result.line, result.failure))  # type: ignore[assignment]  # pytest asks only for what it has

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """End the loaded suite; a worker of xdist hands its results on."""
        self._watch.end()
        if self._hunter is not None:
            self._hunter.close()
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
        """Tell what was hunted and found."""
        terminalreporter.section("replay-dd")
        for line in summary(self._results, self._tests, self._threaded):
            terminalreporter.write_line(line)
        if os.environ.get("GITHUB_ACTIONS") == "true":
            for result in self._results:
                if result.verdict == RACE:
                    terminalreporter.write_line(annotation(result))
            page = os.environ.get("GITHUB_STEP_SUMMARY")
            if page:
                with open(page, "a", encoding="utf-8") as file:
                    file.write(job_summary(self._results, self._tests, self._threaded))


def _counts(report: pytest.TestReport) -> bool:
    return report.outcome in ("passed", "failed") and not hasattr(report, "wasxfail")


def _collected(config: pytest.Config) -> list[str]:
    """The files and folders that this run was asked for."""
    return [str(name) for name in config.known_args_namespace.file_or_dir]


def _check_marker(marker: pytest.Mark) -> None:
    """Refuse what does not make sense.

    Raises:
        ValueError: a name or value is not known.
    """
    known: dict[str, tuple[object, ...]] = {"granularity": GRANULARITIES, "strategy": STRATEGIES}
    if marker.args or not marker.kwargs.keys() <= {"runs", "time", *known}:
        raise ValueError("it takes runs, time, granularity and strategy, by these names")
    for name, values in known.items():
        if name in marker.kwargs and marker.kwargs[name] not in values:
            raise ValueError(f"{name} is one of {', '.join(map(str, values))}")
    runs = marker.kwargs.get("runs", 1)
    if not isinstance(runs, int) or runs < 0:
        raise ValueError("runs is a number of runs, or 0 to leave the test alone")


def _unquoted(path: str) -> str:
    return shlex.split(path)[0]


def _runs(config: pytest.Config) -> int:
    given = config.getoption("--replay-dd") or config.getini("replay_dd_runs")
    if not given.isdigit() or int(given) == 0:
        raise pytest.UsageError(
            f"--replay-dd takes a number of runs, not `{given}`. Write `--replay-dd=100 {given}`, or the option last."
        )
    return int(given)


def _budget(config: pytest.Config) -> Budget:
    try:
        total = config.getoption("--replay-dd-total") or config.getini("replay_dd_total")
        return Budget(
            seconds_of(config.getoption("--replay-dd-time") or config.getini("replay_dd_time")),
            seconds_of(total) if total else None,
        )
    except ValueError as error:
        raise pytest.UsageError(f"{error} (--replay-dd-time, --replay-dd-total)") from error
