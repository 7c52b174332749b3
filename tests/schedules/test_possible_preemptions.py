"""Only threads that have not ended can be switched to."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest

from replay_dd.schedules.model import Trigger
from replay_dd.schedules.possible_preemptions import possible_preemptions
from replay_dd.schedules.touches import Touch
from tests.schedules.logs import schedule

pytestmark = pytest.mark.once

STEPS = (("0.1", 3), ("0.1", 5), ("0.2", 3), ("0.2", 5))
TOUCHES = tuple(
    Touch(thread, time, number, time, (7, "balance"), changes=time == 5)
    for number, (thread, time) in enumerate(STEPS, start=1)
)


def found_in(ended: bool) -> set[Trigger]:
    log = schedule(("0.1", 6, "0.2"))
    log = replace(log, switches=(replace(log.switches[0], ended=ended, global_time=2),))
    run = SimpleNamespace(log=log, touches=TOUCHES, alternatives=())
    return {found.trigger for found in possible_preemptions(cast("Any", run))}


def test_who_has_ended_is_not_switched_to() -> None:
    assert {trigger.to for trigger in found_in(ended=True)} == {"0.2"}


def test_who_waits_may_go_on_by_then() -> None:
    assert {trigger.to for trigger in found_in(ended=False)} == {"0.1", "0.2"}
