"""When the two final runs of an isolation cannot be observed."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from replay_dd.schedules.model import Log
from replay_dd.schedules.story import twins
from replay_dd.schedules.story.twins import observe_twins
from tests.schedules.logs import log_of
from tests.schedules.story.made_accesses import switch


def why_not(monkeypatch: pytest.MonkeyPatch, **ending: Any) -> str:
    """Why nothing is told, if each run ends otherwise when it is observed."""

    def observed(log: Log, *_: object) -> SimpleNamespace:
        return SimpleNamespace(log=replace(log, ending=replace(log.ending, **ending)))

    monkeypatch.setattr(twins, "run_once_more", observed)
    log = log_of([])
    return observe_twins(log, log, switch(5), None, 1.0).why_not


def test_a_run_that_is_not_over_in_time_took_no_other_path(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "--time-limit" in why_not(monkeypatch, digest=1, timed_out=True)
    assert "another path" in why_not(monkeypatch, digest=1)
