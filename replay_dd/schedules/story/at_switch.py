"""Which conflict the story of an isolated switch is about.

The edges of the failing range show one, the access that failed another one. What each of them amounts to decides.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from replay_dd.schedules.isolating.answer import GuiltySwitch, ScheduleIsolation
from replay_dd.schedules.model import Switch
from replay_dd.schedules.story.acted_later import acted_on_later
from replay_dd.schedules.story.after_wait import acted_after_wait
from replay_dd.schedules.story.both import (
    with_first_half,
    with_first_step,
    with_overlapping_calls,
    with_own_check,
    with_stale_check,
)
from replay_dd.schedules.story.conflict import Conflict, find_conflict, with_deciding_look, with_own_look
from replay_dd.schedules.story.interrupted_update import interrupted_update
from replay_dd.schedules.story.kinds import (
    CHECK_THEN_ACT,
    INVALIDATED,
    LOST_UPDATE,
    NON_REPEATABLE_READ,
    ORDER_VIOLATION,
    TOO_EARLY,
    TORN_UPDATE,
    essential,
    kind_of,
)
from replay_dd.schedules.story.looks import conflict_of_choice, with_early_look
from replay_dd.schedules.story.one_section import with_one_thing
from replay_dd.schedules.story.raised import deciding_look
from replay_dd.schedules.story.removed_unused import removed_unused
from replay_dd.schedules.story.request_reply import with_exchange
from replay_dd.schedules.story.signal_for_all import signal_for_all
from replay_dd.schedules.story.twins import Twins
from replay_dd.schedules.story.victim import (
    better_of,
    changed_in_between,
    conflict_of_victim,
    failed_access,
    is_raised,
    made_by_both,
    made_once_more,
    never_done,
)

_OF_REMOVED = (CHECK_THEN_ACT, INVALIDATED, NON_REPEATABLE_READ, ORDER_VIOLATION)


def conflict_of(found: ScheduleIsolation, switch: GuiltySwitch, twins: Twins, *, by_failure: bool = True) -> Conflict:
    """The conflict that the story of a race is about.

    Args:
        found: the isolation.
        switch: its guilty switch.
        twins: what was seen of both runs.
        by_failure: whether the access that failed counts, too, or only what was done at the switch.
    """
    ending = found.failing.ending
    conflict = conflict_of_choice(twins.failing, twins.passing, switch) or conflict_at_edges(found, switch, twins)
    conflict = with_early_look(conflict, twins.failing, twins.passing)
    victim = failed_access(twins.failing, twins.passing, switch.failing, ending) if by_failure else None
    if by_failure and (victim is None or not is_raised(victim, ending)):  # it may have been caught elsewhere
        told = kind_of(with_own_check(conflict, twins.failing), ending)
        vague = told in ("", ORDER_VIOLATION) and not ending.deadlock
        victim = (deciding_look(twins.failing, twins.passing, ending) if vague else None) or victim
    if victim is not None:
        by_victim = conflict_of_victim(twins.failing, twins.passing, victim, ending)
        conflict = made_by_both(twins.failing, victim) or better_of(conflict, by_victim, victim)
    elif kind_of(conflict, replace(ending, deadlock=())) in ("", ORDER_VIOLATION):
        conflict = _earlier_lost_update(found, switch, twins, conflict) or conflict
    if kind_of(conflict, replace(ending, deadlock=())) == TORN_UPDATE and conflict.right is not None:
        update = interrupted_update(twins.failing, switch.failing, twins.failing_flow)
        same = update is not None and update.right is not None and update.right.access == conflict.right.access
        conflict = update if update is not None and same else conflict
    guessed = all(edge is None or edge.inferred for edge in (conflict.left, conflict.right))
    if guessed and not ending.deadlock:
        conflict = never_done(twins.failing, twins.passing, switch.failing) or conflict
    if kind_of(conflict, replace(ending, deadlock=())) in (TOO_EARLY, ORDER_VIOLATION):
        conflict = made_once_more(twins.failing, conflict) or conflict
    if kind_of(conflict, replace(ending, deadlock=())) == ORDER_VIOLATION:
        conflict = acted_after_wait(conflict, twins.failing) or changed_in_between(twins.failing, conflict) or conflict
    if kind_of(conflict, replace(ending, deadlock=())) in (ORDER_VIOLATION, TORN_UPDATE):
        conflict = with_own_check(conflict, twins.failing)
    if kind_of(conflict, replace(ending, deadlock=())) == TORN_UPDATE:
        conflict = acted_on_later(conflict, twins.failing) or conflict
    if kind_of(conflict, replace(ending, deadlock=())) == ORDER_VIOLATION:
        conflict = with_first_half(with_first_step(conflict, switch, found.failing_range))
    if kind_of(conflict, replace(ending, deadlock=())) == ORDER_VIOLATION:
        conflict = with_stale_check(with_overlapping_calls(conflict, switch, twins.failing), of_same=True)
    if kind_of(conflict, replace(ending, deadlock=())) == CHECK_THEN_ACT:
        conflict = with_deciding_look(conflict)
    if kind_of(conflict, replace(ending, deadlock=())) in ("", ORDER_VIOLATION):
        conflict = with_exchange(conflict, twins.failing) or conflict
    if kind_of(conflict, replace(ending, deadlock=())) == ORDER_VIOLATION:
        conflict = signal_for_all(conflict, twins.failing) or conflict
    if kind_of(conflict, replace(ending, deadlock=())) in _OF_REMOVED:
        conflict = removed_unused(conflict, twins.failing) or conflict
    return essential(conflict, ending)


def _earlier_lost_update(
    found: ScheduleIsolation, switch: GuiltySwitch, twins: Twins, conflict: Conflict
) -> Conflict | None:
    """The lost update at another choice that the failure needs: the isolated one may only let its effect be seen.

    It must be to what the isolated switch is about, if that is known.
    """
    if found.needed is None or not found.needed.minimal:
        return None
    about = [edge.access for edge in conflict.edges]
    for choice in found.choices:
        if choice == switch.failing or choice.forced:
            continue
        earlier = interrupted_update(twins.failing, choice, None)
        if earlier is None or earlier.right is None:
            continue
        stored = earlier.right.access
        same = not about or any(stored.touches(one) for one in about)
        if same and kind_of(earlier, replace(found.failing.ending, deadlock=())) == LOST_UPDATE:
            return earlier
    return None


def conflict_at_edges(found: ScheduleIsolation, switch: GuiltySwitch, twins: Twins) -> Conflict:
    """The conflict that the edges of the failing range show; arguments as for :func:`conflict_of`."""
    return with_own_look(with_one_thing(find_conflict(twins.failing, switch, found.failing_range)))


def conflicts_elsewhere(found: ScheduleIsolation, switch: GuiltySwitch, twins: Twins) -> Iterator[Conflict]:
    """The conflicts at the other choices that the failure needs: the isolated one may only let their effect be seen."""
    for _, conflict in choices_elsewhere(found, switch, twins):
        if conflict.right is not None and not conflict.right.inferred:
            yield conflict


def choices_elsewhere(
    found: ScheduleIsolation, switch: GuiltySwitch, twins: Twins
) -> Iterator[tuple[Switch, Conflict]]:
    """The other choices that the failure needs, each with its conflict; arguments as for :func:`conflict_of`."""
    for choice in found.choices if found.needed is not None else ():
        if choice == switch.failing or choice.forced:
            continue
        conflict = with_own_look(find_conflict(twins.failing, GuiltySwitch(choice, None), None))
        if conflict.right is not None:
            yield choice, conflict
