"""What goes wrong in one thread, whatever the others do: they only let it be seen."""

from __future__ import annotations

from replay_dd.schedules.model import Ending
from replay_dd.schedules.story import left_over, permits, shared_context
from replay_dd.schedules.story.conflict import Conflict
from replay_dd.schedules.story.kinds import EXTRA_PERMIT, ORDER_VIOLATION, SHARED_CONTEXT, kind_of
from replay_dd.schedules.story.story import Story
from replay_dd.schedules.story.tell import tell_race
from replay_dd.schedules.story.twins import Twins

WHY_NOT_TRIED = {
    EXTRA_PERMIT: "no lock and no order takes back the permit that nobody had taken",
    SHARED_CONTEXT: "a lock would let tasks wait for each other that need a context each",
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
        return None
    vague = kind_of(conflict, ending) in _VAGUE
    found, why = shared_context.find_shared_context(twins.failing, ending), shared_context.INFERRED
    if found is None:
        found, why = permits.find_extra_permit(twins.failing), permits.INFERRED
    if (
        found is not None
        and found.fault == EXTRA_PERMIT
        and not vague
        and not permits.is_let_in(conflict, found, twins.failing)
    ):
        found = None
    if found is None and vague:
        found, why = left_over.find_left_over(twins.failing, twins.passing), left_over.INFERRED
    story = None if found is None else tell_race(found, twins.failing, twins.passing, ending)
    if found is None or story is None:
        return None
    return found, story._replace(inferred=(*story.inferred, why))
