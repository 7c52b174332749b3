"""How many runs the orders of a story may take, all together."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from replay_dd.schedules.isolating.answer import GuiltySwitch
from replay_dd.schedules.isolating.circumstance import MixedSchedules
from replay_dd.schedules.story import order_trials as module
from replay_dd.schedules.story.conflict import Conflict
from replay_dd.schedules.story.links import Links
from replay_dd.schedules.story.order_trials import OrderTrials
from replay_dd.schedules.story.twins import OBSERVED_RUNS
from tests.schedules.story.test_kinds import switch


def test_all_trials_together_take_no_more_runs_than_the_isolation(monkeypatch: pytest.MonkeyPatch) -> None:
    allowed: list[int] = []

    def takes_two(conflict: Conflict, *_: object, most_runs: int, **more: object) -> tuple[Conflict, Links]:
        allowed.append(most_runs)
        return conflict, Links((), 2)

    monkeypatch.setattr(module, "try_links", takes_two)
    schedules: Any = object.__new__(MixedSchedules)
    schedules.runs = None
    isolation = SimpleNamespace(circumstance=schedules, runs=9 + OBSERVED_RUNS)
    trials: Any = OrderTrials(
        SimpleNamespace(isolation=isolation, failing=None), SimpleNamespace(failing=None), None, 1.0
    )  # type: ignore[arg-type]
    conflict = Conflict("0.1", None, None, None, (), (), ())
    told = [trials.links(GuiltySwitch(switch(5), None), conflict)[1].runs for _ in range(3)]
    assert (allowed, told, trials.runs) == ([9, 7, 5], [2, 4, 6], 6)
