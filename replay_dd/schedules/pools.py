"""Threads of a pool that could share work which one of them does alone."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence

from replay_dd.schedules.runtime.channel import LOCK
from replay_dd.schedules.touches import MOST_OTHERS, Touch


def touched_again(touches: Sequence[Touch], shared: Container[tuple[int, str]]) -> Iterator[Touch]:
    """Where a thread touches a thing once more that only it has touched, and that is changed.

    Args:
        touches: the touches of one run, in chronological order.
        shared: the things that several threads touch.
    """
    changed = {touch.thing for touch in touches if touch.changes}
    met: set[tuple[int, str]] = set()
    for touch in touches:
        if touch.thing[1] == LOCK or touch.thing in shared or touch.thing not in changed:
            continue
        if touch.thing in met:
            yield touch
        met.add(touch.thing)


def threads_alike(touches: Sequence[Touch], threads: Iterable[str], others: Iterable[str]) -> dict[str, list[str]]:
    """For each of these threads, the others that have come to the same places: those with the most of them, first.

    Args:
        touches: the touches of one run.
        threads: the threads.
        others: which others may be named.
    """
    places: dict[str, set[int]] = {}
    for touch in touches:
        places.setdefault(touch.thread, set()).add(touch.place)
    alike: dict[str, list[str]] = {}
    for thread in threads:
        common = {one: len(places[thread] & places[one]) for one in others if one != thread and one in places}
        best = sorted(filter(common.__getitem__, common), key=lambda one: (-common[one], one))
        alike[thread] = best[:MOST_OTHERS]
    return alike
