"""Finds the preemptions most likely to matter, from what the threads touched in one run.

Most concurrency bugs are atomicity violations or order violations, and most involve only two threads and one variable
(Lu, Park, Seo and Zhou, "Learning from Mistakes", ASPLOS 2008). So preemptions are tried first where a thread is about
to touch an object that another thread touches, too, or has just done so. They are ranked by how likely an intervening
step of that thread is harmful:

0. between two accesses of one thread to the same object, between two sections under a lock that both access it, and
   between acquiring two locks that another thread acquires in the opposite order; between two accesses of the program's
   own code, if it uses packages, to an object that only this thread has touched, if others are like it or idle;
1. before a thread's first access, or its section under a lock, so that the other thread comes first; just after an
   access; between two accesses to an object that only this thread has touched, if other threads are idle;
2. before acquiring any lock; where a thread ends or waits, another one than by default; where a sleep or time-out can
   end early; and all of these with a third thread in the place of the second.

Within a rank, objects and places take turns; before a change comes first, and then the latest (:func:`_urgency`). The
program's own places take turns with those of the packages that it uses: of a web framework, these are thousands.

Objects that never change cannot conflict, and those only touched while holding a common lock conflict section by
section (Savage, Burrows, Nelson, Sobalvarro and Anderson, "Eraser", SOSP 1997).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Container, Hashable, Iterable, Iterator, Sequence
from itertools import zip_longest
from typing import NamedTuple, TypeAlias

from replay_dd.schedules.hunting.pools import threads_alike, touched_again
from replay_dd.schedules.model import Trigger
from replay_dd.schedules.observed.touches import MOST_OTHERS, Alternative, Touch, Touched
from replay_dd.schedules.runtime.channel import LOCK

# Which access comes before which, each a thread and the key of a place.
Order: TypeAlias = tuple[tuple[str, int], tuple[str, int]]
_Shared: TypeAlias = "dict[tuple[int, str], list[Touch]]"  # what threads share, with all the touches of it
# For touches of a thing by a thread, changing it or not: the locks held at all that conflict; None if nothing does.
_Guards: TypeAlias = "dict[tuple[tuple[int, str], str, bool], frozenset[int] | None]"
_MOST_ORDERED = 64  # threads, so that the orders of a thousand do not grow with the square of their number
_ALL_NOTED = 3  # visits of a place by a thread; of more, some are noted (``strategies/profile.py``)


class Preemption(NamedTuple):
    """A preemption, or another choice, that is worth trying.

    Attributes:
        trigger: the switch.
        global_time: yield points passed by all threads up to then.
        novelty: what it may bring about: mostly an :data:`Order`, otherwise what tells its kind of switch from others.
        rank: how promising it is, as above; 0 comes first.
    """

    trigger: Trigger
    global_time: int
    novelty: Hashable
    rank: int = 0


def likely_preemptions(
    touches: Sequence[Touch], alternatives: Sequence[Alternative] = (), own: Container[int] = ()
) -> Iterator[Preemption]:
    """Preemptions of a run, the most promising first; each at most once.

    Args:
        touches: the touches of the run, in chronological order.
        alternatives: where others could have run, in chronological order.
        own: the keys of the places in the program's own code, if it uses packages.
    """
    ranks: tuple[dict[object, list[Preemption]], ...] = ({}, {}, {})
    chosen = [
        (2, (one.thread, one.to), Preemption(trigger, one.global_time, trigger))
        for one in alternatives
        if one.forced
        for trigger in [Trigger(one.thread, one.time, one.to)]
    ]
    shared = _shared(touches)
    urgency = _urgency(touches, shared)
    all_found = [*_ranked(touches, shared), *_handed_on(touches, alternatives, shared, own), *chosen]
    for rank, group, found in sorted(all_found, key=lambda one: urgency(one[2])):
        # Within each rank, groups (the same object at the same place) take turns.
        ranks[rank].setdefault(group, []).append(found)
    given: set[Trigger] = set()
    own_times = {(touch.thread, touch.time + after) for touch in touches if touch.place in own for after in (1, 0)}
    for rank, groups in enumerate(ranks):
        of_own = [group for group in groups.values() if group[0].trigger[:2] in own_times]
        of_packages = [group for group in groups.values() if group[0].trigger[:2] not in own_times]
        for preemption in _round_robin([list(_round_robin(of_own)), list(_round_robin(of_packages))]):
            if preemption.trigger not in given:
                given.add(preemption.trigger)
                yield preemption._replace(rank=rank)


def _urgency(touches: Sequence[Touch], shared: _Shared) -> Callable[[Preemption], tuple[object, ...]]:
    """What comes first within a rank: just before a change, in the thread that was started first, as late as possible.

    What a thread knows has most often become wrong when it acts upon it. Of the places at which it may be overtaken,
    the first ones are those at which threads that came abreast have been overtaken already.
    """
    changing = {(touch.thread, touch.time) for touch in touches if touch.changes and touch.thing in shared}

    def of(found: Preemption) -> tuple[object, ...]:
        thread, time, _ = found.trigger
        started = [int(number) for number in thread.split(".")]
        return (thread, time) not in changing, started, -found.global_time

    return of


def conflict_points(touches: Sequence[Touch]) -> dict[str, tuple[int, ...]]:
    """For each thread, the thread times at which a preemption may matter, in ascending order.

    Args:
        touches: the touches of one run.
    """
    points: dict[str, set[int]] = {}
    for found in likely_preemptions(touches):
        points.setdefault(found.trigger.thread, set()).add(found.trigger.time)
    return {thread: tuple(sorted(times)) for thread, times in points.items()}


def conflicting_events(touches: Sequence[Touch]) -> dict[tuple[int, ...], dict[str, int]]:
    """Where an order of threads may matter: for each shared thing, its places, and the events of each thread there.

    Accesses that are always made under a common lock are left out: the order is that in which the lock is acquired.

    Args:
        touches: the touches of one run.
    """
    found: dict[tuple[int, ...], dict[str, int]] = {}
    for thing, touched in _shared(touches).items():
        if thing[1] == LOCK or not _guards(touched):
            places = tuple(sorted({touch.place for touch in touched}))
            threads = found.setdefault(places, {})
            for touch in touched:
                threads[touch.thread] = threads.get(touch.thread, 0) + 1
    return found


def shared_places(touches: Sequence[Touch], alternatives: Sequence[Alternative]) -> set[int]:
    """The places where threads take locks, touch what they share, or change what an idle thread may take over.

    Args:
        touches: the touches of one run.
        alternatives: where others could have run.
    """
    shared = _shared(touches)
    changed = {touch.thing for touch in touches if touch.changes} if _idle(touches, alternatives) else set()
    return {
        touch.place for touch in touches if touch.thing in shared or touch.thing in changed or touch.thing[1] == LOCK
    }


def is_sample(touches: Sequence[Touch]) -> bool:
    """Whether some accesses to shared things, or threads that may come next, are left out.

    Args:
        touches: the touches of one run.
    """
    shared = _shared(touches)
    visits: dict[tuple[str, int], set[int]] = {}
    for touch in touches:
        if touch.thing in shared:
            visits.setdefault((touch.thread, touch.place), set()).add(touch.time)
    threads = max((len({touch.thread for touch in touched}) for touched in shared.values()), default=0)
    return threads > MOST_OTHERS + 1 or any(len(times) > _ALL_NOTED for times in visits.values())


def orders_of(touches: Sequence[Touch]) -> set[Order]:
    """The orders of conflicting accesses that a run had: each access after the last one of each other thread.

    Of many threads that touch a thing, those that did so last count. (:func:`is_sample` tells of that.)

    Args:
        touches: the touches of the run, in chronological order.
    """
    orders: set[Order] = set()
    last: dict[tuple[int, str], dict[str, Touch]] = {}
    for touch in touches:
        if touch.thing[1] == LOCK:
            continue
        others = last.setdefault(touch.thing, {})
        for thread, other in others.items():
            if thread != touch.thread and (touch.changes or other.changes):
                orders.add(((thread, other.place), (touch.thread, touch.place)))
        others.pop(touch.thread, None)
        others[touch.thread] = touch
        if len(others) > _MOST_ORDERED:
            del others[next(iter(others))]
    return orders


def is_order(novelty: Hashable) -> bool:
    """Whether a novelty is an :data:`Order`."""
    return isinstance(novelty, tuple) and isinstance(novelty[0], tuple)


def trace_of(touches: Sequence[Touch]) -> int:
    """Tells runs apart in which some conflicting accesses, or sections under a lock, came in different orders.

    Two runs with the same trace are equivalent (Mazurkiewicz, "Trace Theory", 1986), as far as touches are known.

    Args:
        touches: the touches of the run, in chronological order.
    """
    shared = _shared(touches)
    sequences: dict[tuple[int, str], list[tuple[str, int]]] = {}
    for touch in touches:
        if touch.thing in shared:
            sequences.setdefault(touch.thing, []).append((touch.thread, touch.place))
    return hash(tuple(sorted((thing[1], *sequence) for thing, sequence in sequences.items())))


def threads_meet(touches: Sequence[Touch]) -> bool:
    """Whether a thread changes something that another one touches, locked or not.

    Args:
        touches: the touches of one run.
    """
    threads: dict[tuple[int, str], set[str]] = {}
    for touch in touches:
        threads.setdefault(touch.thing, set()).add(touch.thread)
    return any(touch.changes and len(threads[touch.thing]) > 1 for touch in touches)


def _ranked(touches: Sequence[Touch], shared: _Shared) -> Iterator[tuple[int, object, Preemption]]:
    """All preemptions with their ranks and groups, in chronological order."""
    of_thing = {thing: Touched(touched) for thing, touched in shared.items()}
    lock_orders = _lock_orders(touches)
    of_thread: dict[str, list[Touch]] = {}
    for touch in touches:
        if touch.thing in shared:
            of_thread.setdefault(touch.thread, []).append(touch)
    sections: dict[tuple[str, int], Touch] = {}  # where a thread took a lock last
    met: dict[tuple[str, tuple[int, str]], Touch] = {}  # its last access, or the start of the section with that
    guards_known: _Guards = {}
    for touch in touches:
        touched = of_thing.get(touch.thing)
        if touch.thing[1] == LOCK:
            sections[touch.thread, touch.thing[0]] = touch
        if touched is None:
            continue
        known = (touch.thread, touch.thing)
        rank = 0 if known in met else 1
        if touch.thing[1] == LOCK:
            yield _at_lock(touch, touched, lock_orders)
        elif guards := _guards_against(touch, touched.touches, guards_known):
            start = sections.get((touch.thread, min(guards)))
            if start is not None and met.get(known) is not start:
                met[known] = start
                yield from _before(touch, touched.others(touch), start, rank)
        else:
            met[known] = touch
            others = touched.others(touch)
            yield from _before(touch, others, touch, rank)
            yield 1, (touch.thing, touch.place, "after"), _just_after(touch, others[0].thread, of_thread)


def _handed_on(
    touches: Sequence[Touch], alternatives: Sequence[Alternative], shared: _Shared, own: Container[int]
) -> Iterator[tuple[int, object, Preemption]]:
    """One thread touches a thing again that only it has touched: another one, idle so far, may take over its work.

    So the threads of a pool share the work in other runs, and touch the same things there. In the program's own code
    below packages, also those may that are never idle, as they ask for work in turn: by that, they come to the same
    places.
    """
    again = list(touched_again(touches, shared))
    idle, able = _idle(touches, alternatives), _able_since(alternatives)
    for touch in again:
        for to in [one for one in idle if able[one] <= touch.global_time]:
            yield 1, (touch.thing, to), _taken_over(touch, to)
    in_own = [touch for touch in again if touch.place in own]
    like = threads_alike(touches, {touch.thread for touch in in_own}, able)
    given: set[object] = set()
    for touch in in_own:
        for to in [one for one in (*idle, *like[touch.thread]) if able[one] <= touch.global_time]:
            group = (touch.thing, touch.place, to)
            if group not in given:  # the first time leaves the others most of the work
                given.add(group)
                yield 0, group, _taken_over(touch, to)


def _able_since(alternatives: Sequence[Alternative]) -> dict[str, int]:
    """The global time since which threads could run."""
    able: dict[str, int] = {}
    for one in alternatives:
        able.setdefault(one.to, one.global_time)
    return able


def _taken_over(touch: Touch, to: str) -> Preemption:
    trigger = Trigger(touch.thread, touch.time, to)
    return Preemption(trigger, touch.global_time, (touch.thread, touch.place, to, "taken over"))


def _idle(touches: Sequence[Touch], alternatives: Sequence[Alternative]) -> list[str]:
    """Some threads that could have run, but touched nothing."""
    return sorted({one.to for one in alternatives} - {touch.thread for touch in touches})[:MOST_OTHERS]


def _before(touch: Touch, others: Sequence[Touch], start: Touch, rank: int) -> Iterator[tuple[int, object, Preemption]]:
    """Other threads that touch the same object come first, from where ``start`` is: the next to do so, or any."""
    for number, other in enumerate(others):
        trigger = Trigger(start.thread, start.time, other.thread)
        order = ((other.thread, other.place), (touch.thread, touch.place))
        group = (touch.thing, start.place, number)
        yield (2 if number else rank), group, Preemption(trigger, start.global_time, order)


def _just_after(touch: Touch, to: str, of_thread: dict[str, list[Touch]]) -> Preemption:
    """Another thread comes just after an access; what is new in it is where that stands then."""
    theirs = of_thread[to]
    number = bisect_left(theirs, touch.global_time, key=lambda other: other.global_time)
    place = theirs[number].place if number < len(theirs) else -1
    novelty = (touch.thread, touch.place, to, place)
    return Preemption(Trigger(touch.thread, touch.time + 1, to), touch.global_time + 1, novelty)


def _at_lock(
    touch: Touch, touched: Touched, lock_orders: dict[tuple[int, int], list[str]]
) -> tuple[int, object, Preemption]:
    others = [name for lock in touch.held for name in lock_orders.get((touch.thing[0], lock), ())]
    crossed = next((name for name in others if name != touch.thread), None)
    to = crossed or touched.others(touch)[0].thread
    trigger = Trigger(touch.thread, touch.time, to)
    found = Preemption(trigger, touch.global_time, (touch.thread, touch.place, to, LOCK))
    return 2 if crossed is None else 0, (touch.thing, touch.held), found


def _shared(touches: Sequence[Touch]) -> _Shared:
    """What several threads touch and one of them may change, with all the touches."""
    of_thing: dict[tuple[int, str], list[Touch]] = {}
    for touch in touches:
        of_thing.setdefault(touch.thing, []).append(touch)
    return {
        thing: touched
        for thing, touched in of_thing.items()
        if len({touch.thread for touch in touched}) > 1 and any(touch.changes for touch in touched)
    }


def _guards(touched: Sequence[Touch]) -> frozenset[int]:
    """The locks that are held at all of some touches."""
    return frozenset(touched[0].held).intersection(*(touch.held for touch in touched))


def _guards_against(touch: Touch, touched: Sequence[Touch], known: _Guards) -> frozenset[int]:
    """The locks that are held at a touch, and at all that conflict with it: there, no other thread comes between."""
    if not touch.held:
        return frozenset()
    like = touch.thing, touch.thread, touch.changes
    if like not in known:
        others = [other for other in touched if other.thread != touch.thread and (other.changes or touch.changes)]
        known[like] = _guards(others) if others else None
    guards = known[like]
    return frozenset(touch.held) if guards is None else guards.intersection(touch.held)


def _lock_orders(touches: Sequence[Touch]) -> dict[tuple[int, int], list[str]]:
    """For each pair (lock held, lock then acquired): the threads that do so."""
    found: dict[tuple[int, int], list[str]] = {}
    for touch in touches:
        if touch.thing[1] == LOCK:
            for held in touch.held:
                found.setdefault((held, touch.thing[0]), []).append(touch.thread)
    return found


def _round_robin(groups: Iterable[Sequence[Preemption]]) -> Iterator[Preemption]:
    for round_of in zip_longest(*groups):
        yield from (preemption for preemption in round_of if preemption is not None)
