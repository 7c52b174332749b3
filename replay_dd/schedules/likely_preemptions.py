"""Finds the preemptions most likely to matter, from what the threads touched in one run.

Most concurrency bugs are atomicity violations or order violations, and most involve only two threads and one variable
(Lu, Park, Seo and Zhou, "Learning from Mistakes", ASPLOS 2008). So preemptions are tried first where a thread is about
to touch an object that another thread touches, too, ranked by how likely an intervening step of that thread is harmful:

0. between two accesses of one thread to the same object, and between acquiring two locks that another thread acquires
   in the opposite order;
1. before a thread's first access, so that the other thread comes first;
2. before acquiring a second lock.

Objects that never change, or are only touched while holding a common lock, cannot conflict (Savage, Burrows, Nelson,
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
    """A thread is about to touch something that other threads may see.

    Attributes:
        thread: which thread.
        time: its thread time.
        global_time: yield points passed by all threads.
        place: the number of the place within the run.
        thing: the identity of the object (-1 if unknown) and which part of it.
        changes: whether the access may change it.
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
        touches: the touches of one run under the default schedule, in chronological order.
    """
    shared = _shared(touches)
    lock_orders = _lock_orders(touches)
    # Within each rank, groups (the same object at the same place) take turns.
    ranks: tuple[dict[object, list[Trigger]], ...] = ({}, {}, {})
    seen: set[tuple[str, tuple[int, str]]] = set()
    for touch in touches:
        touched = shared.get(touch.thing)
        if touched is None:
            continue
        to = _next_thread(touch, touched)
        if touch.thing[1] == _LOCK:
            if not touch.held:
                continue
            others = [name for lock in touch.held for name in lock_orders.get((touch.thing[0], lock), ())]
            other = next((name for name in others if name != touch.thread), None)
            rank, to, group = 2 if other is None else 0, other or to, (touch.thing, touch.held)
        else:
            again = (touch.thread, touch.thing) in seen
            seen.add((touch.thread, touch.thing))
            rank, group = 0 if again else 1, (touch.thing, (touch.place,))
        ranks[rank].setdefault(group, []).append(Trigger(touch.thread, touch.time, to))
    given: set[Trigger] = set()
    for groups in ranks:
        for trigger in _round_robin(groups.values()):
            if trigger not in given:
                given.add(trigger)
                yield trigger


def threads_meet(touches: Sequence[Touch]) -> bool:
    """Whether a thread changes something that another one touches, locked or not.

    Args:
        touches: the touches of one run.
    """
    threads: dict[tuple[int, str], set[str]] = {}
    for touch in touches:
        threads.setdefault(touch.thing, set()).add(touch.thread)
    return any(touch.changes and len(threads[touch.thing]) > 1 for touch in touches)


def _shared(touches: Sequence[Touch]) -> dict[tuple[int, str], list[Touch]]:
    """The objects that threads can conflict on, with all their touches."""
    of_thing: dict[tuple[int, str], list[Touch]] = {}
    for touch in touches:
        of_thing.setdefault(touch.thing, []).append(touch)
    return {thing: touched for thing, touched in of_thing.items() if _can_conflict(touched)}


def _lock_orders(touches: Sequence[Touch]) -> dict[tuple[int, int], list[str]]:
    """For each pair (lock held, lock then acquired): the threads that do so."""
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


def _next_thread(touch: Touch, touched: Sequence[Touch]) -> str:
    """Another thread that touches the same object: the next to do so, or else the first."""
    others = [other for other in touched if other.thread != touch.thread]
    return next((other for other in others if other.global_time > touch.global_time), others[0]).thread


def _round_robin(groups: Iterable[Sequence[Trigger]]) -> Iterator[Trigger]:
    for round_of in zip_longest(*groups):
        yield from (trigger for trigger in round_of if trigger is not None)
