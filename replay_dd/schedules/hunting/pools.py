"""Threads of a pool that could share work which one of them does alone."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence

from replay_dd.schedules.observed.touches import MOST_OTHERS, Touch
from replay_dd.schedules.runtime.channel import LOCK

_ENOUGH = MOST_OTHERS + 1  # one of them may be the thread itself


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
    # Most of a hundred threads come to the very same places, and are compared as one.
    groups: dict[frozenset[int], list[str]] = {}
    for one in sorted(one for one in others if one in places):
        groups.setdefault(frozenset(places[one]), []).append(one)
    best: dict[frozenset[int], list[str]] = {}
    alike: dict[str, list[str]] = {}
    for thread in threads:
        own = frozenset(places[thread])
        if own not in best:
            found = [
                (-common, one) for group in groups if (common := len(own & group)) for one in groups[group][:_ENOUGH]
            ]
            best[own] = [one for _, one in sorted(found)[:_ENOUGH]]
        alike[thread] = [one for one in best[own] if one != thread][:MOST_OTHERS]
    return alike
