"""Where one preemption is likely to matter: from what the threads touched in one run.

Most concurrency bugs are an atomicity violation or a wrong order of two accesses to the same thing, and most need no
more than two threads and one thing (Lu, Park, Seo and Zhou, "Learning from Mistakes", ASPLOS 2008). So a preemption is
worth trying first where a thread is about to touch what another one touches, too; the sooner the likelier it is that
the other one's step in between is harmful:

0. between two accesses of the same thread to the same thing, and between taking two locks that another thread takes in
   the other order;
1. before the first access of a thread, so that the other thread comes first;
2. before taking a second lock.

What is never changed, and what is always touched with the same lock held, cannot conflict (Savage, Burrows, Nelson,
Sobalvarro and Anderson, "Eraser", SOSP 1997).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from replay_dd.schedules.model import Trigger

_LOCK = "lock"


@dataclass(frozen=True)
class Touch:
    """A thread is about to touch something that others may see.

    Attributes:
        thread: which thread.
        time: its thread time.
        global_time: yield points passed by all threads.
        place: the number of the place in the run.
        thing: identity of an object, -1 where it is not known, and what of it.
        changes: whether it may be changed.
        held: the locks that the thread holds.
    """

    thread: str
    time: int
    global_time: int
    place: int
    thing: tuple[int, str]
    changes: bool
    held: tuple[int, ...] = ()


def likely_preemptions(touches: Sequence[Touch]) -> Iterator[Trigger]:
    """Single preemptions of the default schedule, the most promising first; each at most once.

    Args:
        touches: of one run under the default schedule, in the order of time.
    """
    shared = _shared(touches)
    crossings = _crossings(touches)
    # For each rank: what belongs together (the same thing at the same place) takes turns with the rest.
    ranks: tuple[dict[object, list[Trigger]], ...] = ({}, {}, {})
    seen: set[tuple[str, tuple[int, str]]] = set()
    for touch in touches:
        touched = shared.get(touch.thing)
        if touched is None:
            continue
        to = _whom(touch, touched)
        if touch.thing[1] == _LOCK:
            if not touch.held:
                continue
            others = [name for lock in touch.held for name in crossings.get((touch.thing[0], lock), ())]
            other = next((name for name in others if name != touch.thread), None)
            rank, to, group = 2 if other is None else 0, other or to, (touch.thing, touch.held)
        else:
            again = (touch.thread, touch.thing) in seen
            seen.add((touch.thread, touch.thing))
            rank, group = 0 if again else 1, (touch.thing, (touch.place,))
        ranks[rank].setdefault(group, []).append(Trigger(touch.thread, touch.time, to))
    given: set[Trigger] = set()
    for groups in ranks:
        for trigger in _in_turn(groups.values()):
            if trigger not in given:
                given.add(trigger)
                yield trigger


def threads_meet(touches: Sequence[Touch]) -> bool:
    """Whether a thread changes something that another one touches, with a lock or without one.

    Args:
        touches: of one run.
    """
    threads: dict[tuple[int, str], set[str]] = {}
    for touch in touches:
        threads.setdefault(touch.thing, set()).add(touch.thread)
    return any(touch.changes and len(threads[touch.thing]) > 1 for touch in touches)


def _shared(touches: Sequence[Touch]) -> dict[tuple[int, str], list[Touch]]:
    """The things that threads can disturb each other at, with all their touches."""
    of_thing: dict[tuple[int, str], list[Touch]] = {}
    for touch in touches:
        of_thing.setdefault(touch.thing, []).append(touch)
    return {thing: touched for thing, touched in of_thing.items() if _can_conflict(touched)}


def _crossings(touches: Sequence[Touch]) -> dict[tuple[int, int], list[str]]:
    """For each (lock held, lock taken then): the threads that do so."""
    found: dict[tuple[int, int], list[str]] = {}
    for touch in touches:
        if touch.thing[1] == _LOCK:
            for held in touch.held:
                found.setdefault((held, touch.thing[0]), []).append(touch.thread)
    return found


def _can_conflict(touched: Sequence[Touch]) -> bool:
    if len({touch.thread for touch in touched}) < 2 or not any(touch.changes for touch in touched):
        return False
    if touched[0].thing[1] == _LOCK:
        return True
    return not frozenset(touched[0].held).intersection(*(touch.held for touch in touched))


def _whom(touch: Touch, touched: Sequence[Touch]) -> str:
    """Another thread that touches the same thing: the next one that does so later, else the first one."""
    others = [other for other in touched if other.thread != touch.thread]
    return next((other for other in others if other.global_time > touch.global_time), others[0]).thread


def _in_turn(groups: Iterable[Sequence[Trigger]]) -> Iterator[Trigger]:
    for round_of in zip_longest(*groups):
        yield from (trigger for trigger in round_of if trigger is not None)
