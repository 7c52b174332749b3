"""What goes wrong in one thread, whatever the others do: they only let it be seen."""

from __future__ import annotations

from dataclasses import replace

from replay_dd.schedules.hang import Hang
from replay_dd.schedules.model import Ending
from replay_dd.schedules.observed.observation import Observation
from replay_dd.schedules.story import (
    dropped_lock,
    left_over,
    missed_state,
    outside_loop,
    permits,
    shared_context,
    timers,
    woken_in_vain,
)
from replay_dd.schedules.story.conflict import Conflict
from replay_dd.schedules.story.kinds import (
    DROPPED_LOCK,
    EXTRA_PERMIT,
    LATE_CANCEL,
    LEFT_OVER,
    MISSED_STATE,
    ORDER_VIOLATION,
    OUTSIDE_LOOP,
    SHARED_CONTEXT,
    WAIT_WITHOUT_LOOP,
    kind_of,
)
from replay_dd.schedules.story.story import Story
from replay_dd.schedules.story.tell import tell_race
from replay_dd.schedules.story.twins import Twins

WHY_NOT_TRIED = {
    DROPPED_LOCK: "another lock around what is torn would hide that this one does not guard it",
    EXTRA_PERMIT: "no lock and no order takes back the permit that nobody had taken",
    LATE_CANCEL: "no lock and no order stops a function that has begun: it has to look itself",
    LEFT_OVER: "each thread has its own, so no lock and no order of threads is missing",
    MISSED_STATE: "each access is made under the lock already, and in an order that no lock forbids",
    OUTSIDE_LOOP: "neither a lock nor an order of the threads wakes the event loop",
    SHARED_CONTEXT: "a lock would let tasks wait for each other that need a context each",
    WAIT_WITHOUT_LOOP: "no lock makes a thread look again after its wait",
}
"""Why nothing is tried against such a fault, by its kind."""

_VAGUE = ("", ORDER_VIOLATION)


def tell_own_fault(conflict: Conflict, twins: Twins, ending: Ending) -> tuple[Conflict, Story] | None:
    """The story of one thread; None if none is seen, or what the threads did to each other explains more.

    Args:
        conflict: what they did to each other.
        twins: what was seen of both runs.
        ending: how the failing run ended.
    """
    if twins.failing_hang is not None:
        found = _find_fault_of_hang(conflict, twins.failing, twins.failing_hang, ending)
    else:
        found = _find_own_fault(conflict, twins, ending)
    if found is None:
        return None
    fault, why = found
    story = tell_race(fault, twins.failing, twins.passing, replace(ending, deadlock=()))  # a hang has its own story
    return None if story is None else (fault, story._replace(inferred=(*story.inferred, why)))


def _find_fault_of_hang(
    conflict: Conflict, failing: Observation, hang: Hang, ending: Ending
) -> tuple[Conflict, str] | None:
    asleep = outside_loop.find_call_to_sleeper(failing, hang)
    if asleep is not None:
        return asleep, outside_loop.INFERRED
    is_vague = kind_of(conflict, replace(ending, deadlock=())) in _VAGUE
    missed = missed_state.find_missed_state(failing, hang) if is_vague else None
    return None if missed is None else (missed, missed_state.INFERRED)


def _find_own_fault(conflict: Conflict, twins: Twins, ending: Ending) -> tuple[Conflict, str] | None:
    """The fault, and what is inferred of it."""
    shared = shared_context.find_shared_context(twins.failing, ending)
    if shared is not None:
        return shared, shared_context.INFERRED
    dropped = dropped_lock.find_dropped_lock(conflict, twins.failing)
    if dropped is not None:
        return dropped, dropped_lock.INFERRED
    kind = kind_of(conflict, ending)
    woken = woken_in_vain.find_woken_in_vain(conflict, twins.failing)
    if woken is not None and kind != WAIT_WITHOUT_LOOP:
        return woken, woken_in_vain.INFERRED
    is_vague = kind in _VAGUE
    outside = outside_loop.find_call_outside(twins.failing, ending) if is_vague else None
    if outside is not None:
        return outside, outside_loop.INFERRED
    extra = permits.find_extra_permit(twins.failing)
    if extra is not None and (is_vague or permits.is_let_in(conflict, extra, twins.failing)):
        return extra, permits.INFERRED
    left = left_over.find_left_over(twins.failing, twins.passing) if is_vague else None
    if left is not None:
        return left, left_over.INFERRED
    late = timers.find_late_cancel(twins.failing, twins.passing) if not kind else None
    return None if late is None else (late, timers.INFERRED)
