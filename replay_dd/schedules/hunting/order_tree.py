"""Which orders of events were run, so that none is run twice and it is known when there are no others.

Rules of this module:

* A run of the strategy ``uniform`` is a path: at each draw, one of some threads. The same draws make the same run.
* The next path is drawn as the strategy draws, among those that no run had.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from replay_dd.schedules.runtime.splitmix import Generator

# At each draw, who was drawn, and from whom.
Drawn: TypeAlias = Sequence[tuple[str, Sequence[str]]]


@dataclass
class _Node:
    candidates: tuple[str, ...]
    done: set[str] = field(default_factory=set)  # there is nothing new behind these


class OrderTree:
    """The orders of some events.

    Args:
        events: how many each thread has, about.

    Attributes:
        orders: how many were run.
        exhausted: whether these are all.
    """

    def __init__(self, events: Mapping[str, int]) -> None:
        self._events = dict(events)
        self._nodes: dict[tuple[str, ...], _Node] = {}
        self._given: set[tuple[str, ...]] = set()  # beginnings of runs that are not finished
        self.orders = 0
        self.exhausted = False

    def next(self, random: Generator) -> tuple[str, ...] | None:
        """The first draws of an order that was not run; None if there is none."""
        if self.exhausted:
            return None
        path: tuple[str, ...] = ()
        left = dict(self._events)
        while (node := self._nodes.get(path)) is not None:
            new = [one for one in node.candidates if one not in node.done]
            new = [one for one in new if (*path, one) not in self._given] or new
            chosen = _drawn(new, left, random)
            left[chosen] = left.get(chosen, 0) - 1
            path = (*path, chosen)
        self._given.add(path)
        return path

    def take(self, first: tuple[str, ...], drawn: Drawn) -> None:
        """Take a run.

        Args:
            first: what it was to begin with.
            drawn: its draws.
        """
        self._given.discard(first)
        path = tuple(chosen for chosen, _ in drawn)
        for number, (_, candidates) in enumerate(drawn):
            self._nodes.setdefault(path[:number], _Node(tuple(candidates)))
        for number in range(len(path) - 1, -1, -1):
            node = self._nodes[path[:number]]
            if number == len(path) - 1:
                self.orders += path[number] not in node.done
            node.done.add(path[number])
            if not node.done.issuperset(node.candidates):
                return
        self.orders = max(1, self.orders)
        self.exhausted = True


def _drawn(threads: Sequence[str], left: Mapping[str, int], random: Generator) -> str:
    weights = [max(1, left.get(one, 0)) for one in threads]
    drawn = random.below(sum(weights))
    for one, weight in zip(threads, weights, strict=True):
        drawn -= weight
        if drawn < 0:
            return one
    raise AssertionError("the weights add up")
