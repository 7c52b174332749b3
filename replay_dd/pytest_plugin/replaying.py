"""``--replay-dd-log``: runs the test of a log alone, under its schedule, and reports it as pytest reports a test."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any, Literal

import pytest

from replay_dd.errors import ReplayDDError
from replay_dd.outcome import Outcome
from replay_dd.pytest_plugin.failure import told_failure
from replay_dd.pytest_plugin.hunts import hunts_of
from replay_dd.pytest_plugin.known import Replayed, is_test_of, may_hold_test_of, test_of
from replay_dd.schedules.log import read_log

_PHASES: tuple[Literal["setup", "call", "teardown"], ...] = ("setup", "call", "teardown")


class ReplayedTest:
    """The hooks.

    Args:
        config: of this run of pytest.

    Raises:
        pytest.UsageError: the log cannot be read.
    """

    def __init__(self, config: pytest.Config) -> None:
        self._hunts = hunts_of(config)
        self._path: Path = config.invocation_params.dir / config.getoption("--replay-dd-log")
        try:
            self._log = read_log(self._path)
        except ReplayDDError as error:
            raise pytest.UsageError(f"--replay-dd-log: {error}") from error

    def pytest_ignore_collect(self, collection_path: Path, config: pytest.Config) -> bool | None:
        """Load only the file of the test."""
        file = os.path.relpath(collection_path, config.rootpath)
        return True if collection_path.is_file() and not may_hold_test_of(self._log, file) else None

    def pytest_collection_modifyitems(
        self, session: pytest.Session, config: pytest.Config, items: list[pytest.Item]
    ) -> None:
        """Keep only the test of the log.

        Raises:
            pytest.UsageError: it is not there.
        """
        kept = [item for item in items if is_test_of(self._log, item.nodeid)]
        if not kept:
            raise pytest.UsageError(
                f"--replay-dd-log: {self._path} is a log of `{test_of(self._log)}`, which is not among the "
                f"{len(items)} collected tests. "
                + (
                    "Not all files could be loaded, as shown above."
                    if session.testsfailed
                    else "Name its file or folder."
                )
            )
        session.testsfailed = 0  # errors in other files and folders are told, but are not in the way
        left_out = [item for item in items if item not in kept]
        config.hook.pytest_deselected(items=left_out)
        items[:] = kept

    def pytest_runtest_protocol(self, item: pytest.Item) -> bool:
        """Replay the test instead of running it here."""
        item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
        started = time.time()
        found, why = self._hunts.replay(item, self._path)
        if found is not None and found.outcome is Outcome.UNRESOLVED:
            why = f"the log no longer fits: {found.why}"
        for phase in _PHASES:
            report = _report(item, phase, started)
            if phase == "call":
                _judge(report, found, why)
            item.ihook.pytest_runtest_logreport(report=report)
        item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
        return True


def _report(item: pytest.Item, phase: Literal["setup", "call", "teardown"], started: float) -> pytest.TestReport:
    stop = time.time() if phase == "call" else started
    return pytest.TestReport(
        nodeid=item.nodeid,
        location=item.location,
        keywords=dict.fromkeys(item.keywords, 1),
        outcome="passed",
        longrepr=None,
        when=phase,
        duration=stop - started,
        start=started,
        stop=stop,
        user_properties=item.user_properties,
    )


def _judge(report: pytest.TestReport, found: Replayed | None, why: str) -> None:
    failure: Any = None
    if why or found is None:
        failure = told_failure(f"replay-dd cannot tell: {why}", report.nodeid, 0, why)
    elif found.outcome is Outcome.FAIL:
        text = "\n".join(filter(None, [found.told or found.failure, f"{' replay-dd ':-^80}", found.switch]))
        failure = told_failure(text, found.path, found.line, found.failure)
    if failure is not None:
        report.outcome, report.longrepr = "failed", failure
