"""The conflict of two threads of which one came too early: a look shows it that finds another value when it passes.

Where a thread has to wait, the isolated switch only chooses who goes on. That thread takes no part: those two do, of
whom one came first in the failing run and the other one in the passing run. And where an update like ``+=`` comes after
those of others, nothing is wrong with the updates, whatever their order; but somebody may have looked too early.

Rules of this module:

* A look counts if it found another value in the passing run. The first half of an update is no look.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from replay_dd.schedules.isolating.answer import GuiltySwitch
from replay_dd.schedules.observed.observation import Access, Observation
from replay_dd.schedules.story.conflict import Conflict, Edge, one_thing
from replay_dd.schedules.story.order import Visit, visits_of


def conflict_of_choice(failing: Observation, passing: Observation, guilty: GuiltySwitch) -> Conflict | None:
    """The conflict of the two threads between which a switch chose; None if it did not, or if no look shows one.

    Args:
        failing: all that the failing run accessed.
        passing: all that the passing run accessed.
        guilty: the isolated switch.
    """
    chosen, instead = guilty.failing, guilty.passing
    if instead is None or not (chosen.forced and instead.forced) or chosen.time != instead.time:
        return None
    late = instead.to
    if late in (chosen.to, chosen.thread) or instead.wake is not None:
        return None
    own = [one for one in failing.accesses if one.thread == late]
    before = [one for one in own if one.global_time < chosen.global_time]
    after = own[len(before) :]
    if not after:
        return None
    stretch = [
        one
        for one in failing.accesses
        if one.thread != late and one.global_time >= chosen.global_time and one.number < after[0].number
    ]
    edge = _edge(after, stretch, failing, passing)
    if edge is None:
        return None
    place = before[-1].place if before else None
    return Conflict(late, None, edge, place, tuple(stretch), tuple(before), tuple(after))


def with_early_look(conflict: Conflict, failing: Observation, passing: Observation) -> Conflict:
    """A conflict about the order of updates, with the look of another thread that comes before the last of them.

    Args:
        conflict: what the threads did in the failing run.
        failing: all that the failing run accessed.
        passing: all that the passing run accessed.
    """
    left, right = conflict.left, conflict.right
    if right is None or conflict.never or not _is_of_update(right.access, failing):
        return conflict
    if left is not None and not left.access.writes:
        return conflict  # what it had seen before counts
    own = [one for one in conflict.after if one.thing == right.access.thing]
    edge = _edge(own, conflict.stretch, failing, passing)
    return conflict if edge is None else conflict._replace(left=_first_step(left, edge), right=edge)


def _first_step(left: Edge | None, right: Edge) -> Edge | None:
    """What a thread had changed before, where whoever looks too early has seen that: then it sees half of a change."""
    if left is None or left.inferred or one_thing(left.access, right.access) or right.access.reads:
        return None
    lookers = {other.thread for other in right.others}
    seen = tuple(one for one in left.others if one.reads and not one.writes and one.thread in lookers)
    return left._replace(others=seen) if seen else None


def _edge(own: Sequence[Access], stretch: Sequence[Access], failing: Observation, passing: Observation) -> Edge | None:
    """The first access of the late thread that is one of a look and the change that it missed, or saw too early."""
    for access in own:
        others = [other for other in stretch if other.conflicts(access)]
        if access.reads:
            others = [other for other in others if other.writes]
        looks = [access] if access.reads else [other for other in others if other.reads]
        if others and any(_saw_another(look, failing, passing) for look in looks):
            if access.reads:
                return Edge(access, tuple(others), inferred=False)
            seen = tuple(other for other in others if other.reads and _saw_another(other, failing, passing))
            return Edge(access, seen, inferred=False)
    return None


def _saw_another(look: Access, failing: Observation, passing: Observation) -> bool:
    """Whether a look found another value in the passing run."""
    if look.writes or _is_of_update(look, failing):
        return False
    number = dict(_by_number(failing)).get(look.number)
    usual = None if number is None else dict(visits_of(passing.accesses)).get(number)
    if usual is None or not (look.old.is_known and usual.old.is_known):
        return False
    return not look.old.same(usual.old) and min(look.old.number, usual.old.number) < 0


def _by_number(observed: Observation) -> Iterator[tuple[int, Visit]]:
    yield from ((access.number, visit) for visit, access in visits_of(observed.accesses))


def _is_of_update(access: Access, observed: Observation) -> bool:
    """Whether it is a read that its own line replaces: the first half of an update such as ``+=``."""
    if access.does != "reads":
        return False
    following = (one for one in observed.accesses if one.number > access.number and one.thread == access.thread)
    then = next((one for one in following if one.thing == access.thing), None)
    return then is not None and then.does == "stores" and then.place.line == access.place.line
