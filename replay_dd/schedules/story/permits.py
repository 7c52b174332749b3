"""A semaphore that gets a permit back which nobody has taken: then more threads come in than should.

Rules of this module:

* All permits are there, and one more comes back: a ``BoundedSemaphore`` raises an error then. The first call that is
  seen finds them all. A semaphore that begins without any sends signals, and is left alone.
* To blame is a thread that had asked for permits, and has given more back than it got. One that never asked may give
  back what another one has taken for it.
* A wait gets its permit, as far as is known: not ``acquire(False)`` of none, nor a time-out that ran out when none was
  there.
* Of two releases for one permit, that one is too much which no other call makes alone. If one line of a helper makes
  both, the lines that call it tell them apart.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import takewhile

from replay_dd.schedules.observed.observation import Access, Observation
from replay_dd.schedules.story.conflict import Conflict, Edge
from replay_dd.schedules.story.kinds import EXTRA_PERMIT
from replay_dd.schedules.story.words import at_place

INFERRED = "that no permit was taken for this: the calls of each thread are counted"
_SEMAPHORES = ("Semaphore", "BoundedSemaphore")
_MOST_GUESTS = 3  # threads that then come in, as told


def find_extra_permit(failing: Observation) -> Conflict | None:
    """The conflict of a thread that gives back what it has not taken; None if none is seen, or not which one did.

    Args:
        failing: all that the failing run accessed.
    """
    for used in _by_semaphore(failing):
        there = used[0].old.text
        if not there.isdecimal() or there == "0":
            continue
        refused = {one.number for one in used if _asks(one) and not _gets(one, used, failing)}
        threads = dict.fromkeys(one.thread for one in used)
        extra = [one for thread in threads for one in _not_taken(used, thread, refused)]
        full = [one for one in used if _releases(one) and one.old.text.isdecimal() and int(one.old.text) >= int(there)]
        if full and len({(one.place.path, one.place.line) for one in extra}) == 1:
            return _conflict(min(extra, key=lambda one: one.number), used, refused)
    return None


def is_let_in(conflict: Conflict, by: Conflict, failing: Observation) -> bool:
    """Whether what threads do to each other is done with permits of a semaphore that has one too many, or to it.

    Args:
        conflict: what the threads did.
        by: the extra permit.
        failing: all that the failing run accessed.
    """
    accesses = conflict.accesses
    return bool(accesses) and all(_has_permit(one, by, failing) for one in accesses)


def _has_permit(access: Access, by: Conflict, failing: Observation) -> bool:
    thing = by.before[-1].thing
    if access.thing == thing:
        return True
    own = [one for one in failing.accesses if one.thread == access.thread and one.number < access.number]
    own = [one for one in own if one.thing == thing and (_releases(one) or _asks(one))]
    return bool(own) and _asks(own[-1])


def in_words(conflict: Conflict) -> str:
    """What happened, in a sentence or two.

    Args:
        conflict: of a thread that gives back what it has not taken.
    """
    *own, extra = conflict.before
    others = [one for one in conflict.stretch if _asks(one)]
    comes_in = f" Thread {others[0].thread} gets in by that ({_at(others[0])})." if others else ""
    before = [one for one in own if _releases(one)]
    why = (
        f"a second time ({_at(extra, before[-1])}), as it has done so already ({_at(before[-1], extra)})"
        if before
        else f"({_at(extra)}) although it got no permit ({_at(own[-1])})"
    )
    too_many = "there is one permit more than there should be."
    return f"Thread {conflict.thread} releases {extra.name} {why}: {too_many}{comes_in}"


def help_of_extra_permit(conflict: Conflict) -> str:
    """What would help.

    Args:
        conflict: of a thread that gives back what it has not taken.
    """
    *own, extra = conflict.before
    before = [one for one in own if _releases(one)]
    bounded = "" if extra.holder_type == "BoundedSemaphore" else "; a BoundedSemaphore raises an error there"
    if before:
        if conflict.left_out is not None:
            kept = before[-1] if conflict.left_out is extra else extra
            out, where = _at(conflict.left_out, kept), _at(kept, conflict.left_out)
            return f"leave out the `release()` at {out}, as other calls give their permit back only at {where}{bounded}"
        one, other = _at(before[-1], extra), _at(extra, before[-1])
        return (
            f"release {extra.name} once for each permit: either at {one} or at {other}, not on one way through "
            f"both{bounded}"
        )
    return (
        f"release {extra.name} ({_at(extra)}) only if `acquire()` ({_at(own[-1])}) got a permit: ask for it before the "
        f"`try:` whose `finally:` releases it{bounded}"
    )


def _conflict(extra: Access, used: Sequence[Access], refused: Collection[int]) -> Conflict:
    own = [one for one in used if one.thread == extra.thread and one.number <= extra.number]
    began = next(number for number in reversed(range(len(own))) if _asks(own[number]))
    later = [one for one in used if one.thread != extra.thread and one.number > extra.number and _asks(one)]
    waiting = [one for one in used if one.thread != extra.thread and own[began].number < one.number < extra.number]
    guests = tuple((later or [one for one in waiting if _asks(one) and one.old.text == "0"])[:_MOST_GUESTS])
    left = Edge(own[began], guests, inferred=False)
    fault = Conflict(extra.thread, left, None, None, guests, tuple(own[began:]), (), fault=EXTRA_PERMIT)
    return fault._replace(left_out=_left_out(own[began:], used, refused))


def _left_out(own: Sequence[Access], used: Sequence[Access], refused: Collection[int]) -> Access | None:
    """Which of two releases for one permit is too much; None if the other calls do not show that."""
    *before, extra = [one for one in own if _releases(one)]
    if not before:
        return None
    depth = _parting(extra, before[-1])
    alone = {_lines(released[0], depth) for released in _releases_of_calls(used, refused) if len(released) == 1}
    superfluous = [one for one in (before[-1], extra) if _lines(one, depth) not in alone and not _is_with(one)]
    return superfluous[0] if len(superfluous) == 1 else None


def _releases_of_calls(used: Sequence[Access], refused: Collection[int]) -> list[list[Access]]:
    """For each permit that a thread took, what it gave back until it asked again."""
    found: list[list[Access]] = []
    present: dict[str, list[Access]] = {}
    for one in used:
        if _asks(one):
            present[one.thread] = []
            if one.number not in refused:
                found.append(present[one.thread])
        elif _releases(one):
            present.setdefault(one.thread, []).append(one)
    return found


def _parting(one: Access, other: Access) -> int:
    """How many calls up from both accesses they come from different lines; 0 if they are made by different lines."""
    lines = zip(_lines(one, len(one.stack)), _lines(other, len(other.stack)), strict=False)
    return next((depth for depth, (mine, theirs) in enumerate(lines) if mine != theirs), 0)


def _lines(access: Access, depth: int) -> tuple[tuple[str, int], ...]:
    """The line of an access, and those of that many calls that led to it."""
    return (access.place.path, access.place.line), *((one.path, one.line) for one in access.stack[1 : depth + 1])


def _not_taken(used: Sequence[Access], thread: str, refused: Collection[int]) -> Iterator[Access]:
    """Where a thread gives back what it has not taken, although it had asked for a permit before."""
    has, asked = 0, False
    for one in used:
        if one.thread != thread:
            continue
        if _asks(one):
            has, asked = has + (one.number not in refused), True
        elif _releases(one) and has:
            has -= 1
        elif _releases(one) and asked:
            yield one


def _by_semaphore(failing: Observation) -> list[list[Access]]:
    found: dict[tuple[str, int, str], list[Access]] = {}
    for one in failing.accesses:
        if one.does == "calls" and one.holder_type in _SEMAPHORES and one.thing[0] == "object":
            found.setdefault(one.thing, []).append(one)
    return list(found.values())


def _gets(asks: Access, used: Sequence[Access], failing: Observation) -> bool:
    if asks.old.text != "0":
        return True
    return asks.detail not in ("acquire(False)", "acquire(0)") and not _ran_out(asks, used, failing)


def _ran_out(asks: Access, used: Sequence[Access], failing: Observation) -> bool:
    """Whether the time-out of a wait ran out, and there was no permit then."""
    given_up = [one.number for one in _until_it_goes_on(asks, failing) if one.does == "gives up"]
    if not given_up:
        return False
    last = [one for one in used if one.number < given_up[-1]][-1]
    if not last.old.text.isdecimal():
        return False
    there = int(last.old.text)
    there = there + _given(last) if _releases(last) else max(0, there - 1)
    return there <= sum(one.thread != asks.thread for one in _served(last.number, given_up[-1], used, failing))


def _served(first: int, last: int, used: Sequence[Access], failing: Observation) -> Iterator[Access]:
    """The waits that are seen to end with a permit between two accesses: their threads go on."""
    latest = {one.thread: one for one in used if one.number <= first}
    for asks in latest.values():
        if not _asks(asks) or asks.old.text != "0":
            continue
        waited = _until_it_goes_on(asks, failing)
        end = waited[-1].number if waited else asks.number
        goes_on = (one.number for one in failing.accesses if one.thread == asks.thread and one.number > end)
        if first < next(goes_on, last) < last and not any(one.does == "gives up" for one in waited):
            yield asks


def _until_it_goes_on(asks: Access, failing: Observation) -> list[Access]:
    """What a thread does in the library from when it asks for a permit until its own code goes on."""
    own = (one for one in failing.accesses if one.thread == asks.thread and one.number > asks.number)
    return list(takewhile(lambda one: one.thing[0] == "lock", own))


def _given(releases: Access) -> int:
    """How many permits a call gives back."""
    said = releases.detail.partition("(")[2].partition(")")[0]
    return int(said) if said.isdecimal() else 1


def _asks(access: Access) -> bool:
    return access.detail.startswith("acquire(")


def _releases(access: Access) -> bool:
    return access.detail.startswith("release(")


def _is_with(access: Access) -> bool:
    return access.detail.endswith("of with")


def _at(access: Access, other: Access | None = None) -> str:
    """Where an access is; where one line makes both, such as in a helper, the line that leads to this one only."""
    depth = 0 if other is None else _parting(access, other)
    end = ", where `with` ends" if _is_with(access) and not depth else ""
    return f"{at_place(access.stack[depth] if depth else access.place)}{end}"
