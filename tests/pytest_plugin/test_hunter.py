"""Hunts that go wrong."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from replay_dd.pytest_plugin import hunter
from replay_dd.pytest_plugin.hunter import Hunter, Wanted
from replay_dd.pytest_plugin.results import NOT_HUNTED
from replay_dd.schedules.model import Settings
from replay_dd.schedules.target import describe_program


@pytest.mark.once
def test_an_error_of_ours_costs_one_hunt_and_not_the_suite(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise KeyError("x")

    program = describe_program((sys.executable, "-c", ""), directory=tmp_path)
    monkeypatch.setattr(hunter, "hunt", fail)
    result = Hunter(program, tmp_path, tmp_path).hunt("t.py::test", program, Settings(), Wanted(1, 10))
    assert (result.verdict, result.why) == (NOT_HUNTED, "replay-dd failed: KeyError: 'x'")
