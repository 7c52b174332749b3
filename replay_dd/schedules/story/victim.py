"""The conflict as its victim saw it: from an access that could not succeed, back to who made that so.

The isolated switch is often in a thread that only gave the others time. Then its failing range says little, and the
failure itself more: an access that found nothing, the last change by another thread, and the look before that.

Rules of this module:

* An access counts as failed only if the passing run never failed there.
* Nothing is guessed about an access that found something: a wrong value does not show here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from replay_dd.schedules.model import Ending, Switch
from replay_dd.schedules.observed.observation import Access, Observation
from replay_dd.schedules.story.conflict import Conflict, Edge, checks, is_about, is_further_up, one_thing, until_closed
from replay_dd.schedules.story.edges import misses

_TAKES = ("pop", "popleft", "popitem", "remove", "heappop", "heapreplace", "__getitem__", "move_to_end")
_CHANGED_IN_LOOP = ("changed size during iteration", "mutated during iteration", "keys changed during iteration")
_WITH_DEFAULTS = ("defaultdict", "Counter")
_EMPTY = ("{}", "[]", "set()", "deque([])", "OrderedDict of 0", "defaultdict of 0", "Counter of 0")


def failed_access(failing: Observation, passing: Observation, switch: Switch, ending: Ending) -> Access | None:
    """The access after the isolated switch that could not succeed; None if none is seen.

    Args:
        failing: all that the failing run accessed.
        passing: all that the passing run accessed.
        switch: the isolated switch.
        ending: how the failing run ended.
    """
    innocent = {same_look(access) for access in passing.accesses if _cannot_succeed(access)}
    failed = [
        access
        for access in failing.accesses
        if access.global_time >= switch.global_time and _cannot_succeed(access) and same_look(access) not in innocent
    ]
    known = [access for access in failed if is_raised(access, ending)]
    victim = next(iter(known), None) or step_in_loop(failing, ending)
    victim = victim or next((access for access in failed if not _is_made_up_for(failing, access)), None)
    return None if victim is None else _directory_of(failing, victim) or victim


def is_raised(access: Access, ending: Ending) -> bool:
    """Whether the exceptions of a run passed the very line of an access.

    Args:
        access: what could not succeed.
        ending: how the run ended.
    """
    raised = {(frame.file, frame.line) for error in ending.exceptions for frame in error.frames if frame.counted}
    return any((frame.file, frame.line) in raised for frame in access.stack[:1])


def conflict_of_victim(
    failing: Observation, passing: Observation, victim: Access, ending: Ending | None = None
) -> Conflict | None:
    """What the others did between the last look of a thread at a thing and its access that failed.

    Args:
        failing: all that the failing run accessed.
        passing: all that the passing run accessed.
        victim: the access that failed.
        ending: how the failing run ended; None if it does not matter how far the other threads came.
    """
    earlier = [access for access in failing.accesses if access.number < victim.number]
    if not victim.found.number >= 0:
        victim = _as_found(earlier, victim)
    changes = [one for one in earlier if one.thread != victim.thread and one.writes and one.touches(victim)]
    changes = list(until_closed(victim, changes))
    if not changes:
        return _too_early(failing, victim) or _never_made(failing, passing, victim, ending)
    looks = [
        access
        for access in earlier
        if access.thread == victim.thread and access.touches(victim) and access.number < changes[-1].number
    ]
    if not looks:
        return _taken_away(failing, victim, changes[-1])
    look = looks[-1]
    meanwhile = [one for one in earlier if one.thread != victim.thread and one.number > look.number]
    others = until_closed(victim, [one for one in meanwhile if one.conflicts(victim)])
    own = [access for access in failing.accesses if access.thread == victim.thread]
    following = next(access for access in own if access.number > look.number)
    return Conflict(
        victim.thread,
        Edge(look, others, inferred=False),
        Edge(victim, others, inferred=False),
        following.place,
        tuple(one for one in meanwhile if one.number > look.number),
        tuple(access for access in own if access.number <= look.number),
        tuple(access for access in own if access.number > look.number),
    )


def made_by_both(failing: Observation, victim: Access) -> Conflict | None:
    """The conflict of two threads that both found nothing and made the thing; each then takes it away as its own.

    Args:
        failing: all that the failing run accessed.
        victim: the access that failed, as the other thread has taken the thing away.
    """
    earlier = [one for one in failing.accesses if one.number < victim.number and one.touches(victim)]
    taken = next((one for one in reversed(earlier) if one.writes and one.does != "stores"), None)
    if taken is None or taken.thread == victim.thread:
        return None
    own = [one for one in failing.accesses if one.thread == taken.thread]
    looks = [one for one in own if one in earlier and _found_none(one) and one.number < taken.number]
    if not looks:
        return None
    look = looks[-1]
    made = next((one for one in own if one.number > look.number and one in earlier and one.writes), None)
    if made is None or made.number >= taken.number:
        return None
    stretch = tuple(one for one in failing.accesses if look.number < one.number < made.number and one not in own)
    others = tuple(one for one in stretch if one.conflicts(victim))
    if not any(one.writes and one.thread == victim.thread for one in others):
        return None
    return Conflict(
        *(taken.thread, Edge(look, others, inferred=False), Edge(made, others, inferred=False)),
        next(one for one in own if one.number > look.number).place,
        stretch,
        tuple(one for one in own if one.number <= look.number),
        tuple(one for one in own if one.number > look.number),
    )


def never_done(failing: Observation, passing: Observation, switch: Switch) -> Conflict | None:
    """The conflict with what the interrupted thread does next in the passing run; the failing one has ended before.

    Args:
        failing: all that the failing run accessed.
        passing: all that the passing run accessed.
        switch: the isolated switch.
    """
    own = tuple(one for one in failing.accesses if one.thread == switch.thread)
    if any(one.time >= switch.time for one in own):
        return None
    stretch = tuple(
        one for one in failing.accesses if one.thread != switch.thread and one.global_time >= switch.global_time
    )
    for access in passing.accesses:
        if access.thread != switch.thread or access.time < switch.time or not access.writes:
            continue
        others = tuple(one for one in stretch if one.reads and one.name == access.name)
        if others:
            made = access._replace(number=failing.accesses[-1].number + 1, thing=others[0].thing)
            return Conflict(
                switch.thread, None, Edge(made, others, inferred=False), switch.place, stretch, own, (), never=True
            )
    return None


def made_once_more(failing: Observation, conflict: Conflict) -> Conflict | None:
    """The conflict of a thread that found nothing and makes the thing, although another one has made it meanwhile.

    Args:
        failing: all that the failing run accessed.
        conflict: of the thread that made it first, and that the other one did not wait for.
    """
    right = conflict.right
    if right is None or right.access.does != "stores":
        return None
    look = next((one for one in reversed(right.others) if _found_none(one) or (one.reads and one.old.is_missing)), None)
    if look is None:
        return None
    own = [one for one in failing.accesses if one.thread == look.thread]
    after = tuple(one for one in own if one.number > look.number)
    # An object may keep what belongs to one key in several containers.
    key, made = look.thing[2], {one.thing for one in _stored_after(failing, right.access, look)}
    made = {thing for thing in made if thing == look.thing or (thing[0] == look.thing[0] == "item" and thing[2] == key)}
    last = next((one for one in after if one.does == "stores" and one.thing in made), None)
    if last is None or last.number < right.access.number or not (checks(look) or misses(look, last)):
        return None
    stretch = _between(failing.accesses, look, last)
    left, right = (
        Edge(mine, tuple(one for one in stretch if one.writes and one.conflicts(mine)), inferred=False)
        for mine in (look, last)
    )
    if not left.others or not right.others:
        return None
    before = tuple(one for one in own if one.number <= look.number)
    return Conflict(look.thread, left, right, after[0].place, stretch, before, after)


def changed_in_between(failing: Observation, conflict: Conflict) -> Conflict | None:
    """The conflict of a thread that looks before another one stores, and then stores there itself.

    Args:
        failing: all that the failing run accessed.
        conflict: of the thread that stores, after the look of the other one.
    """
    right = conflict.right
    if right is None or conflict.left is not None or not _puts(right.access):
        return None
    look = next((one for one in reversed(right.others) if one.reads and not one.writes), None)
    if look is None:
        return None
    own = [one for one in failing.accesses if one.thread == look.thread]
    after = tuple(one for one in own if one.number > look.number)
    last = next((one for one in after if one.thing == look.thing and _puts(one)), None)
    if last is None or last.number < right.access.number or is_further_up(last, look):
        return None
    stretch = _between(failing.accesses, look, last)
    others = tuple(one for one in stretch if one.writes and one.conflicts(look))
    before = tuple(one for one in own if one.number <= look.number)
    left, right = (Edge(one, others, inferred=False) for one in (look, last))
    return Conflict(look.thread, left, right, after[0].place, stretch, before, after)


def _puts(access: Access) -> bool:
    """Whether it puts a value in the place of another one."""
    return access.writes and (access.does == "stores" or access.thing[0] == "database")


def _stored_after(failing: Observation, made: Access, look: Access) -> Iterator[Access]:
    """What the thread that made a thing stored after another one had looked for it."""
    for one in failing.accesses:
        if one.thread == made.thread and one.does == "stores" and one.number > look.number:
            yield one


def better_of(by_edges: Conflict, by_victim: Conflict | None, victim: Access) -> Conflict:
    """The conflict that explains a failure better.

    Args:
        by_edges: that of the failing range.
        by_victim: that of the access that failed.
        victim: the access that failed.
    """
    if by_victim is None:
        return by_edges
    edges = [edge.access for edge in (by_edges.left, by_edges.right) if edge is not None]
    elsewhere = by_edges.thread != victim.thread or not all(one_thing(access, victim) for access in edges)
    if victim.does == "iterates" and elsewhere:
        return by_victim  # the exception says that this container has changed while this thread went through it
    if not is_about(by_edges, victim):
        return by_victim
    # A check by the failing thread itself says more than that two others came in the wrong order.
    one_sided = by_edges.left is None or by_edges.right is None
    looked = by_victim.left is not None and checks(by_victim.left.access)
    return by_victim if looked and (one_sided or by_edges.thread != victim.thread) else by_edges


def _taken_away(failing: Observation, victim: Access, change: Access) -> Conflict:
    """The conflict of a thread that never looked at the thing before another one changed it."""
    own = [access for access in failing.accesses if access.thread == victim.thread]
    before = tuple(access for access in own if access.number < change.number)
    after = tuple(access for access in own if access.number > change.number)
    stretch = _between(failing.accesses, before[-1] if before else None, after[0])
    others = tuple(one for one in stretch if one.conflicts(victim))
    return Conflict(victim.thread, None, Edge(victim, others, inferred=False), after[0].place, stretch, before, after)


def _too_early(failing: Observation, victim: Access) -> Conflict | None:
    """The conflict with the thread that would have made the thing only later."""
    later = [one for one in failing.accesses if one.number > victim.number and one.thread != victim.thread]
    made = next((one for one in later if one.writes and one.touches(victim) and not _takes_away(one)), None)
    if made is None:
        return None
    own = [access for access in failing.accesses if access.thread == made.thread]
    before = tuple(access for access in own if access.number < victim.number)
    after = tuple(access for access in own if access.number > victim.number)
    last = before[-1] if before else None
    stretch = _between(failing.accesses, last, made)
    return Conflict(made.thread, None, Edge(made, (victim,), inferred=False), None, stretch, before, after)


def _never_made(failing: Observation, passing: Observation, victim: Access, ending: Ending | None) -> Conflict | None:
    """The conflict with the thread that makes the thing in the passing run; the failing one has ended before."""
    there = [one for one in passing.accesses if same_look(one) == same_look(victim) and not finds_none(one)]
    if victim.does != "reads" or not there:
        return None
    makes = [
        one
        for one in passing.accesses
        if one.thread != victim.thread and one.does == "stores" and one.thing == there[0].thing
    ]
    if len(makes) != 1 or makes[0].number > there[0].number:
        return None
    maker = makes[0].thread
    own = [one for one in failing.accesses if one.thread == maker]
    same = {(one.time, one.place) for one in passing.accesses if one.thread == maker and one.time < makes[0].time}
    waits = not own and ending is not None and ending.thread_times.get(maker, makes[0].time + 1) <= makes[0].time
    if not waits and (not own or (own[-1].time, own[-1].place) not in same):
        return None  # it went another way
    made = makes[0]._replace(number=failing.accesses[-1].number + 1, thing=victim.thing)
    before = tuple(one for one in own if one.number < victim.number)
    stretch = _between(failing.accesses, before[-1] if before else None, made)
    return Conflict(maker, None, Edge(made, (victim,), inferred=False), None, stretch, before, (), never=True)


def _as_found(earlier: Sequence[Access], victim: Access) -> Access:
    """The access that failed, with what its thread found there before: whoever lets go of that takes it away."""
    looks = [one for one in earlier if one.thread == victim.thread and one.thing == victim.thing]
    return victim._replace(new=looks[-1].found) if looks and looks[-1].is_weak and not victim.writes else victim


def _between(accesses: Sequence[Access], first: Access | None, last: Access) -> tuple[Access, ...]:
    start = first.number if first is not None else 0
    return tuple(one for one in accesses if start < one.number < last.number and one.thread != last.thread)


def _cannot_succeed(access: Access) -> bool:
    """Whether an access finds nothing where it needs something."""
    sort, old = access.thing[0], access.old
    if access.does in ("reads", "deletes"):
        makes_it = access.does == "reads" and (access.holder_type in _WITH_DEFAULTS or access.is_of_memoised)
        return old.is_missing and sort in ("item", "attribute", "global") and not access.detail and not makes_it
    if access.does == "calls" and sort in ("item", "whole"):
        method, _, arguments = access.detail.partition("(")
        missed = old.is_missing or old.text in _EMPTY or (method == "remove" and access.in_vain)
        return method in _TAKES and "," not in arguments and missed
    return sort in ("file", "object") and access.reads and old.is_missing


def _is_made_up_for(failing: Observation, look: Access) -> bool:
    """Whether a thread that found nothing then stores there what it makes itself, as ``cached_property`` does."""
    own = (one for one in failing.accesses if one.thread == look.thread and one.thing == look.thing)
    then = next((one for one in own if one.number > look.number), None)
    return then is not None and misses(look, then)


def step_in_loop(failing: Observation, ending: Ending) -> Access | None:
    """The step of a loop that found its container changed, as an exception says; None if there is none."""
    for error in ending.exceptions:
        frame = error.innermost
        if frame is None or not error.text.endswith(_CHANGED_IN_LOOP):
            continue
        here = [one for one in failing.accesses if (one.place.file, one.place.line) == (frame.file, frame.line)]
        steps = [one for one in here if one.does == "iterates" and error.where in (one.thread, "main")]
        if steps:
            return steps[-1]
        going = [one for one in here if _goes_through(one) and one.place.function == frame.function]
        found = [step for step in (_last_step(failing, one) for one in going) if step is not None]
        own = [step for step in found if error.where in (step.thread, "main" if step.thread == "0" else "")]
        if own or found:
            return (own or found)[-1]
    return None


def _goes_through(access: Access) -> bool:
    """Whether a function of the library, such as ``min()`` or ``sorted()``, is given a whole container."""
    return access.thing[0] == "whole" and access.reads and not access.writes and access.detail.endswith("()")


def _last_step(failing: Observation, going: Access) -> Access | None:
    """The step at which such a function found its container changed, while it asked the program about the items.

    None if nobody has changed it meanwhile.
    """
    later = [one for one in failing.accesses if one.number > going.number]
    inside = [one for one in later if one.thread == going.thread and going.stack[0] in one.stack[1:]]
    if not inside:
        return None
    step = going._replace(does="iterates", detail="", number=inside[-1].number)
    changed = (one for one in later if one.number < step.number and one.thread != step.thread and one.writes)
    return step if any(one.touches(step) for one in changed) else None


def _directory_of(failing: Observation, victim: Access) -> Access | None:
    """The look at the working directory that belongs to a file that is not there, if another thread has changed that.

    Then it is the directory that is wrong.
    """
    if victim.thing[0] != "file":
        return None
    own = [one for one in failing.accesses if one.thread == victim.thread and one.number <= victim.number + 1]
    looks = [one for one in own if one.thing[0] == "process" and one.place == victim.place and one.reads]
    if not looks:
        return None
    look = looks[-1]
    moves = [one for one in failing.accesses if one.number < look.number and one.writes and one.thing == look.thing]
    return look if moves and moves[-1].thread != victim.thread else None


def _takes_away(access: Access) -> bool:
    """Whether it removes a thing, and does not make it."""
    return access.does == "deletes" or access.new.is_missing


def _found_none(access: Access) -> bool:
    """Whether a look found that a thing was not there, and that decided what its thread did."""
    if not checks(access):
        return False
    return access.old.text == "False" if access.does == "checks" else access.old.is_missing


def finds_none(access: Access) -> bool:
    """Whether an access found that nothing was there, or None."""
    return access.old.is_missing or access.old.text == "None"


def same_look(access: Access) -> tuple[str, str, int, str]:
    """What an access has in common with the same one in another run."""
    return access.thread, access.place.path, access.place.line, access.name
