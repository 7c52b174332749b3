"""Finds locks that threads take in orders which make a circle, and the schedule that would close it.

The graph of locks taken while others are held, and its circles over different threads, are those of Goodlock (Havelund,
"Using Runtime Analysis to Guide Model Checking of Java Programs", SPIN 2000).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from replay_dd.schedules.model import Trigger
from replay_dd.schedules.observed.touches import Touch
from replay_dd.schedules.runtime.channel import LOCK

_MOST_THREADS = 5  # in a circle
_MOST_CYCLES = 16


class _Edge(NamedTuple):
    """A thread took a lock while it held another one."""

    held: int
    taken: int
    touch: Touch


def lock_cycles(touches: Sequence[Touch]) -> Iterator[tuple[Trigger, ...]]:
    """For each circle, the switches that stop each thread in it but the last just before its second lock.

    Args:
        touches: the touches of one run, in chronological order.
    """
    edges: dict[tuple[int, int, str], _Edge] = {}
    for touch in touches:
        if touch.thing[1] == LOCK:
            for held in touch.held:
                edges.setdefault((held, touch.thing[0], touch.thread), _Edge(held, touch.thing[0], touch))
    following: dict[int, list[_Edge]] = {}
    for edge in edges.values():
        following.setdefault(edge.held, []).append(edge)
    found = 0
    for first in edges.values():
        for cycle in _closed([first], following):
            if min(cycle, key=lambda edge: edge.touch.global_time) is first:
                steps = pairwise(cycle)
                yield tuple(Trigger(a.touch.thread, a.touch.time, b.touch.thread) for a, b in steps)
                found += 1
            if found >= _MOST_CYCLES:
                return


def _closed(path: list[_Edge], following: dict[int, list[_Edge]]) -> Iterator[list[_Edge]]:
    """All circles that begin with a path: each edge by another thread, each lock once, no lock held by two of them.

    Args:
        path: its edges.
        following: for each lock, the edges of threads that hold it.
    """
    if path[-1].taken == path[0].held:
        if len(path) > 1:
            yield path
        return
    if len(path) == _MOST_THREADS:
        return
    held = {lock for edge in path for lock in edge.touch.held}
    threads = {edge.touch.thread for edge in path}
    for edge in following.get(path[-1].taken, ()):
        if edge.touch.thread not in threads and held.isdisjoint(edge.touch.held):
            yield from _closed([*path, edge], following)
