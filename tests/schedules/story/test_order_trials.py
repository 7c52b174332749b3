"""How many runs the orders of a story may take, all together."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

import pytest

from replay_dd.schedules.isolating.answer import GuiltySwitch
from replay_dd.schedules.isolating.circumstance import MixedSchedules
from replay_dd.schedules.story import order_trials as module
from replay_dd.schedules.story.conflict import Conflict
from replay_dd.schedules.story.links import Links
from replay_dd.schedules.story.order_trials import OrderTrials
from replay_dd.schedules.story.twins import OBSERVED_RUNS
from tests.schedules.story.made_accesses import switch

NO_CONFLICT = Conflict("0.1", None, None, None, (), (), ())


def trials_until(ends_at: float | None) -> OrderTrials:
    schedules: Any = object.__new__(MixedSchedules)
    schedules.runs = None
    isolation = SimpleNamespace(circumstance=schedules, runs=9 + OBSERVED_RUNS)
    found: Any = SimpleNamespace(isolation=isolation, failing=None)
    twins, runner = cast(Any, SimpleNamespace(failing=None)), cast(Any, None)
    return OrderTrials(found, twins, runner, 1.0, ends_at)


def test_all_trials_together_take_no_more_runs_than_the_isolation(monkeypatch: pytest.MonkeyPatch) -> None:
    allowed: list[int] = []

    def takes_two(conflict: Conflict, *_: object, most_runs: int, **more: object) -> tuple[Conflict, Links]:
        allowed.append(most_runs)
        return conflict, Links((), 2)

    monkeypatch.setattr(module, "try_links", takes_two)
    trials = trials_until(None)
    told = [trials.links(GuiltySwitch(switch(5), None), NO_CONFLICT)[1].runs for _ in range(3)]
    assert (allowed, told, trials.runs) == ([9, 7, 5], [2, 4, 6], 6)


@pytest.mark.parametrize(("ends_at", "late"), [(None, False), (7.0, True), (7.5, False)])
def test_they_take_no_longer_than_they_may(ends_at: float | None, late: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[bool] = []

    def asks(conflict: Conflict, *_: object, is_late: Callable[[], bool], **more: object) -> tuple[Conflict, Links]:
        told.append(is_late())
        return conflict, Links()

    monkeypatch.setattr(module, "try_links", asks)
    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: 7.0))
    trials_until(ends_at).links(GuiltySwitch(switch(5), None), NO_CONFLICT)
    assert told == [late]
