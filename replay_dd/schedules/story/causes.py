"""What runs say of a conflict, and of the others that explain more: runs decide which one the story is about.

Rules of this module:

* A conflict at the isolated switch stays unless another one is proved that explains more.
* An update that is lost, and a check that does not hold, are wrong whatever follows. They come before what they lead
  to, at whatever choice that the failure needs they are made.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from replay_dd.errors import ReplayDDError
from replay_dd.schedules.isolating.answer import GuiltySwitch
from replay_dd.schedules.story.at_switch import conflict_of
from replay_dd.schedules.story.came_back import came_back
from replay_dd.schedules.story.conflict import Conflict
from replay_dd.schedules.story.cross_check import interrupted_cross_check
from replay_dd.schedules.story.interrupted_check import interrupted_check
from replay_dd.schedules.story.interrupted_update import interrupted_update
from replay_dd.schedules.story.kinds import CHECK_THEN_ACT, LOST_UPDATE, ORDER_VIOLATION, kind_of
from replay_dd.schedules.story.late_lock import late_lock
from replay_dd.schedules.story.links import NO_LINKS, Links
from replay_dd.schedules.story.order_trials import OrderTrials
from replay_dd.schedules.story.sentinel import as_proved, between_producers
from replay_dd.schedules.story.twin_guards import of_making, twin_guards

_CAUSES = (LOST_UPDATE, CHECK_THEN_ACT)  # what is wrong whatever follows


class Tried(NamedTuple):
    """What runs say of a conflict.

    Attributes:
        conflict: as it was seen.
        proved: as it was proved.
        links: what was tried.
    """

    conflict: Conflict
    proved: Conflict
    links: Links = NO_LINKS


def try_conflict(trials: OrderTrials, switch: GuiltySwitch, conflict: Conflict) -> tuple[GuiltySwitch, Tried, bool]:
    """What runs say of a conflict, or of another one that explains more: at which choice, and whether Ctrl-C came.

    Args:
        trials: makes the runs.
        switch: the isolated switch.
        conflict: what was seen there.
    """
    tried = Tried(conflict, conflict)
    try:
        tried = Tried(conflict, *trials.links(switch, conflict))
    except KeyboardInterrupt:
        return switch, tried, True
    except ReplayDDError:
        pass  # the story stands without
    if tried.links.tried and not tried.links.proved:
        tried = _at_switch(trials, switch, conflict) or tried
    if trials.twins.failing_hang is None:
        earlier = _of_note_or_value(trials, switch) or _of_earlier_update(trials, switch, tried.conflict)
        switch, tried = earlier or (switch, tried)
    if kind_of(tried.conflict, replace(trials.ending, deadlock=())) == ORDER_VIOLATION:
        tried = _between_producers(trials, switch, tried.conflict) or tried
    return switch, tried, False


def _at_switch(trials: OrderTrials, switch: GuiltySwitch, told: Conflict) -> Tried | None:
    """What was done at the switch, whatever failed in the end; None if no order of it is proved.

    What fails, as where a key is missing, may be far from the accesses whose order decides that.
    """
    conflict = conflict_of(trials.found, switch, trials.twins, by_failure=False)
    if conflict == told or (conflict.left is None and conflict.right is None):
        return None
    return _proved(trials, switch, conflict)


def _proved(trials: OrderTrials, switch: GuiltySwitch, conflict: Conflict) -> Tried | None:
    """A conflict with what was tried; None if no order of it is proved, or the program can no longer be run."""
    try:
        proved, links = trials.links(switch, conflict)
    except ReplayDDError:
        return None
    return Tried(conflict, proved, links) if links.proved else None


def _of_note_or_value(trials: OrderTrials, switch: GuiltySwitch) -> tuple[GuiltySwitch, Tried] | None:
    """A value that comes back, or a lock taken late, at a choice that the failure needs; None if nothing is proved."""
    others = [choice for choice in trials.found.choices if trials.needs_several and not choice.forced]
    for choice in dict.fromkeys((switch.failing, *others)):
        found = came_back(trials.twins.failing, choice) or late_lock(trials.twins.failing, choice)
        if found is not None:
            here = switch if choice == switch.failing else GuiltySwitch(choice, None)
            tried = _proved(trials, here, found)
            if tried is not None:
                return here, tried
    return None


def _of_earlier_update(trials: OrderTrials, switch: GuiltySwitch, told: Conflict) -> tuple[GuiltySwitch, Tried] | None:
    """An update, or a check and an act, that an earlier choice parts, and at which; None if no order of it is proved.

    That an update is lost, or a check does not hold, is wrong whatever follows. At the isolated choice, only its effect
    may show: two objects have one number, and one of them is missed. That needs another choice, but is wrong only since
    the update was lost. Where two locks were made in the place of one, only how they were made is such a cause.
    """
    guards = twin_guards(told, trials.twins.failing)
    if (kind_of(told, trials.ending) in _CAUSES and not guards) or not trials.needs_several:
        return None
    for choice in trials.found.choices:
        if choice.forced or choice.global_time >= switch.failing.global_time:
            continue
        update = interrupted_update(trials.twins.failing, choice, trials.twins.failing_flow)
        for find in (interrupted_check, interrupted_cross_check):
            if update is None or kind_of(update, trials.ending) not in _CAUSES:
                update = find(trials.twins.failing, choice)
        if update is None or kind_of(update, trials.ending) not in _CAUSES:
            continue
        if guards and not any(one.new.number in guards for one in update.accesses):
            continue
        earlier = GuiltySwitch(choice, None)
        tried = _proved(trials, earlier, update)
        if tried is not None:
            return earlier, tried._replace(conflict=of_making(tried.conflict)) if guards else tried
    return None


def _between_producers(trials: OrderTrials, switch: GuiltySwitch, told: Conflict) -> Tried | None:
    """The conflict of two that put something into a queue, with what was tried; None if that is not proved."""
    producers = between_producers(told, trials.twins.failing)
    if producers is None:
        return None
    try:
        _, links = trials.links(switch, producers)
    except ReplayDDError:
        return None
    proved = as_proved(producers, links)
    return None if proved is None else Tried(proved, proved, links)
