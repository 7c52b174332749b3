"""Only threads that have not ended can be switched to."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest

from replay_dd.schedules.hunting.possible_preemptions import possible_preemptions
from replay_dd.schedules.model import Trigger
from replay_dd.schedules.observed.touches import Alternative, Touch
from replay_dd.schedules.runtime.channel import LOCK
from tests.schedules.logs import schedule

pytestmark = pytest.mark.once

OWN = (1000, "own")
STEPS = (("0.1", 3), ("0.1", 5), ("0.2", 3), ("0.2", 5))
TOUCHES = tuple(
    Touch(thread, time, number, time, (7, "balance"), changes=time == 5)
    for number, (thread, time) in enumerate(STEPS, start=1)
)


def found_in(ended: bool) -> set[Trigger]:
    log = schedule(("0.1", 6, "0.2"))
    log = replace(log, switches=(replace(log.switches[0], ended=ended, global_time=2),))
    run = SimpleNamespace(log=log, touches=TOUCHES, alternatives=(), touched={})
    return {found.trigger for found in possible_preemptions(cast("Any", run))}


def test_who_has_ended_is_not_switched_to() -> None:
    assert {trigger.to for trigger in found_in(ended=True)} == {"0.2"}


def test_who_waits_may_go_on_by_then() -> None:
    assert {trigger.to for trigger in found_in(ended=False)} == {"0.1", "0.2"}


def test_the_programs_own_places_take_turns_with_those_of_packages() -> None:
    """However many objects the threads of a package share, and before the program's own."""
    steps = [("0.1", time, (time // 2, "package")) for time in range(2, 40)] + [("0.1", 40, OWN), ("0.1", 41, OWN)]
    steps += [("0.2", time, thing) for _, time, thing in steps]
    locks = [("0.1", time, (time, LOCK)) for time in range(50, 56)]
    steps += [*locks, *(("0.2", time, thing) for _, time, thing in locks)]
    touches = [
        Touch(thread, time, number, time, thing, changes=time % 2 == 1)
        for number, (thread, time, thing) in enumerate(steps)
    ]
    waits = [Alternative("0.1", time, time, "0.3") for time in (60, 70)]
    folder = "/usr/lib/python3/dist-packages/a.py"
    files = {time: "/work of mine/prog.py" if thing == OWN else folder for _, time, thing in steps}
    touched = {time: SimpleNamespace(path=path) for time, path in files.items()}
    run = SimpleNamespace(log=schedule(), touches=touches, alternatives=waits, touched=touched)
    order = list(possible_preemptions(cast("Any", run)))
    assert [found.trigger for found in order if found.rank == 0][:4:2] == [("0.1", 41, "0.2"), ("0.2", 41, "0.1")]
    run.touched = {}  # all are of packages, or all the program's own
    unknown = list(possible_preemptions(cast("Any", run)))
    run.touched = {time: SimpleNamespace(path="/work of mine/prog.py") for time in files}
    assert unknown == list(possible_preemptions(cast("Any", run))) != order
    assert {found.trigger for found in unknown} == {found.trigger for found in order}


@pytest.mark.parametrize(("able_at", "late"), [(3, set()), (4, {3})])
def test_who_waits_at_that_moment_comes_last(able_at: int, late: set[int]) -> None:
    """As the threads of a server do most of the time; who can go on again is seen when it can."""
    log = schedule(("0.1", 6, "0.2"))
    log = replace(log, switches=(replace(log.switches[0], forced=True, by_default=True, global_time=2),))
    again = Alternative("0.2", 0, able_at, "0.1", forced=False)
    run = SimpleNamespace(log=log, touches=TOUCHES, alternatives=(again,), touched={})
    found = [one for one in possible_preemptions(cast("Any", run)) if one.trigger.to == "0.1"]
    assert {one.global_time for one in found if one.rank >= 3} == late
    assert {one.global_time for one in found} == {3, 4, 5}
