"""The plans of the first runs of a hunt: what fails in one of them is one of the most common bugs.

Rules of this module:

* The first one needs to know nothing about the program. It shows whether threads run the same code, which decides what
  the others are: see decision 0097.
* Threads that run the same code may undo each other's mistakes in step, so in the second run those that were started
  first go further at a time. Where all threads differ, so do their paces, and who was overtaken waits instead.
* Then come schedules that find what these leave: two that are drawn; or one that is drawn, one in step for threads that
  make way for each other, and the one in which who was overtaken waits.
* Where the default schedule fails as well, one that passes is still to be found: that without sleeps comes next, and
  that in which others answer before another thread runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

from replay_dd.schedules.hunting.likely_preemptions import conflict_points
from replay_dd.schedules.hunting.strategies import ABREAST, DEPTH, IN_STEP, VIEWS, anywhere, priorities
from replay_dd.schedules.observed.touches import Touch
from replay_dd.schedules.running.target import Plan, TargetRun

_CHANGES = 0  # see `runtime/strategies/abreast.py`
_ALIKE = 0.9  # of the places where either of two threads touches something, both do
_MOST_COMPARED = 12  # threads
_MAIN = "0"

FIRST = Plan("profile", {VIEWS: 0}, label="threads abreast, changes to what others looked at first")
_UNEVEN = Plan(
    "profile",
    {ABREAST: _CHANGES, "latest": 1, "uneven": 1},
    label="threads abreast before changes, the latest first, at uneven paces",
)
_PATIENT = Plan("profile", {VIEWS: 1}, label="threads abreast, overtaken ones last")
NO_SLEEP = Plan("profile", {"no_sleep": 1}, label="sleeps end at once")
ANSWERS_FIRST = Plan("profile", {"answers_first": 1}, label="answers from outside before other threads")
_PRIORITIES_DRAWN = "priorities drawn"
_DRAWN = "drawn at every yield point"
MOST = 5


def opening(seed: int, before: Sequence[TargetRun]) -> Plan | None:
    """The next of the first plans of a hunt; None if there are no more.

    Args:
        seed: the first seed of the hunt.
        before: the runs of those before.
    """
    if not before:
        return FIRST
    first = before[0]
    alike = some_are_alike(first.touches)
    number = len(before) + 1
    if number == 2:
        return _UNEVEN if alike else _PATIENT
    if number == 3:
        plan = priorities(DEPTH, seed, first, conflict_points(first.touches))
        return replace(plan, label=f"{_PRIORITIES_DRAWN} (seed {seed})")
    if number == 4:
        return IN_STEP if alike else replace(anywhere(seed, before[1]), label=f"{_DRAWN} (seed {seed})")
    return _PATIENT if alike and number == MOST else None


def is_opening(plan: Plan) -> bool:
    """Whether a plan is one of :func:`opening`."""
    return plan in (FIRST, _UNEVEN, _PATIENT, IN_STEP, NO_SLEEP, ANSWERS_FIRST) or plan.label.startswith(
        (_PRIORITIES_DRAWN, _DRAWN)
    )


def some_are_alike(touches: Sequence[Touch]) -> bool:
    """Whether two threads run the same code, as far as it touches something; the main thread does not count."""
    places: dict[str, set[int]] = {}
    for touch in touches:
        if touch.thread != _MAIN:
            places.setdefault(touch.thread, set()).add(touch.place)
    compared = list(places.values())[:_MOST_COMPARED]
    return any(len(one & other) > _ALIKE * len(one | other) for one, other in combinations(compared, 2))
