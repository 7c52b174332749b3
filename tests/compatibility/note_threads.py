"""Runs pytest and notes which tests start threads and pass: ``python note_threads.py RESULT ARGUMENT...``.

Run by the interpreter of another environment, so it stands alone.
"""

import json
import os
import sys
import threading
from collections.abc import Iterator
from typing import Any

import pytest

_STARTERS = ("_start_new_thread", "_start_joinable_thread")  # the second one from 3.13 on


class Noter:
    """A plugin that counts the threads that start during each test, its fixtures included."""

    def __init__(self) -> None:
        self.started = 0
        self.threaded: list[str] = []
        self.failed: set[str] = set()
        for name in _STARTERS:
            if hasattr(threading, name):
                setattr(threading, name, self._counted(getattr(threading, name)))

    def _counted(self, start: Any) -> Any:
        def counted(*arguments: Any, **named: Any) -> Any:
            self.started += 1
            return start(*arguments, **named)

        return counted

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: Any) -> Iterator[None]:
        before = self.started
        result = yield
        if self.started > before:
            self.threaded.append(item.nodeid)
        return result

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.outcome != "passed":
            self.failed.add(report.nodeid)


if __name__ == "__main__":
    sys.path[0] = os.getcwd()  # as `python -m pytest` does
    noter = Noter()
    pytest.main(sys.argv[2:], plugins=[noter])
    passed = [name for name in noter.threaded if name not in noter.failed]
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        json.dump(passed, file)
    os._exit(0)  # threads that a test left must not hold the end up
