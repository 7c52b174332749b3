"""Tries a switch everywhere in one function, because the line that it was made at is gone.

Rules of this module:

* What takes the place of a line that was edited is not guessed at: the switch is made at every yield point that its
  thread passes in the same function, or evenly spread ones of them if there are too many.
"""

from __future__ import annotations

from typing import NamedTuple

from replay_dd.outcome import Outcome
from replay_dd.schedules.anchors import named
from replay_dd.schedules.failures.signature import PASSED, signature_of
from replay_dd.schedules.model import Log, Switch, Trigger
from replay_dd.schedules.replaying.anchored_replay import AnchoredReplay
from replay_dd.schedules.replaying.replay import replay_plan
from replay_dd.schedules.running.target import Plan, run_target

MOST_TRIED = 40
_TRACED = 200_000  # yield points


class Swept(NamedTuple):
    """What came of it.

    Attributes:
        places: how many yield points the thread passes in the function.
        tried: at how many of them the switch was tried.
        failing: the first run that failed; None if none did.
        trigger: the switch with which it failed.
    """

    places: int = 0
    tried: int = 0
    failing: Log | None = None
    trigger: Trigger | None = None


def sweep(log: Log, replayed: AnchoredReplay, switch: Switch, *, time_limit_s: float | None) -> Swept:
    """Try a switch at other places of its function.

    Args:
        log: what was to be replayed.
        replayed: its replay without the switch, which passed.
        switch: the switch whose line is gone; it has a place.
        time_limit_s: seconds after which a run is killed.
    """
    assert switch.place is not None
    base = replayed.run.log
    assert replayed.outcome is Outcome.PASS
    program, settings = base.program, log.settings
    traced = run_target(program, settings, Plan("replay", triggers=base.triggers, traced=_TRACED), time_limit_s=None)
    times, passed = [], 0
    for thread, place in traced.trace:
        if thread != switch.thread:
            continue
        passed += 1
        if place is not None and place.file == switch.place.file and named(place) == named(switch.place):
            times.append(passed)
    chosen = times
    if len(times) > MOST_TRIED:
        chosen = [times[number * len(times) // MOST_TRIED] for number in range(MOST_TRIED)]
    for number, time in enumerate(chosen, 1):
        trigger = Trigger(switch.thread, time, switch.to)
        run = run_target(program, settings, replay_plan((trigger, *base.triggers)), time_limit_s=time_limit_s)
        if signature_of(run.log.ending).kind != PASSED:
            return Swept(len(times), number, run.log, trigger)
    return Swept(len(times), len(chosen))
