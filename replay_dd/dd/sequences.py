"""Ordinary sequences as sets of deltas, and back.

Rules of this module:

* Delta ``i`` is the element at position ``i`` of the failing sequence; a configuration is built in the original order.
* A test sees the kind of thing its caller gave: a string for a string, bytes for bytes, a tuple for a tuple, a list for
  any other sequence. A range of integers, or an interval set, stays an interval set: it may be too large to be listed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from replay_dd.dd.intervals import EMPTY, IntervalSet
from replay_dd.errors.user import PassNotContainedError

Items = Sequence[Any] | IntervalSet
"""What the functions for scripts accept: a sequence, a ``range``, or an interval set."""


class Deltas:
    """The positions of a sequence, and how to build the sequence of some of them.

    Args:
        items: a string, bytes, a tuple, a list or another sequence; a ``range`` with step 1; or an interval set.
    """

    def __init__(self, items: Items) -> None:
        self._items: Items = _range_as_set(items) if isinstance(items, range) else items
        self.is_set = isinstance(self._items, IntervalSet)
        self.all = self._items if isinstance(self._items, IntervalSet) else IntervalSet.range(0, len(self._items))
        self.build: Callable[[IntervalSet], Any] = self._builder()

    def positions_of(self, contained: Items | None) -> IntervalSet:
        """The deltas that make up ``contained``: the leftmost occurrence of each of its elements, in order.

        ``None`` stands for nothing at all.

        Raises:
            PassNotContainedError: ``contained`` is no part of these items in this order.
        """
        if contained is None:
            return EMPTY
        if isinstance(self._items, IntervalSet):
            wanted = _range_as_set(contained) if isinstance(contained, range) else contained
            if not isinstance(wanted, IntervalSet):
                wanted = IntervalSet.of(wanted)
            if not wanted <= self._items:
                raise PassNotContainedError(f"{wanted!r} is not contained in {self._items!r}")
            return wanted
        found: list[int] = []
        position = 0
        for number, element in enumerate(contained):
            while position < len(self._items) and self._items[position] != element:
                position += 1
            if position == len(self._items):
                raise PassNotContainedError(
                    f"element {number} of the passing case, {element!r}, does not follow in the failing case"
                )
            found.append(position)
            position += 1
        return IntervalSet.of(found)

    def _builder(self) -> Callable[[IntervalSet], Any]:
        items = self._items
        if isinstance(items, IntervalSet):
            return lambda deltas: deltas
        if isinstance(items, str):
            return lambda deltas: "".join(items[start:stop] for start, stop in deltas.intervals)
        if isinstance(items, bytes | bytearray):
            return lambda deltas: b"".join(items[start:stop] for start, stop in deltas.intervals)
        if isinstance(items, tuple):
            return lambda deltas: tuple(items[position] for position in deltas)
        return lambda deltas: [items[position] for position in deltas]


def _range_as_set(items: range) -> IntervalSet:
    return IntervalSet.range(items.start, items.stop) if items.step == 1 else IntervalSet.of(items)
