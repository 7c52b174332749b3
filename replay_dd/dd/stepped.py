"""Sets of every second, third, ... integer, without an interval for each.

Rules of this module:

* A stepped set behaves as the interval set of the same elements, and equals it. What counts, indexes, iterates or looks
  up elements works on positions and never lists them.
* Set algebra, comparison and hashing need real intervals; they are made at first use and kept.
"""

from __future__ import annotations

from collections.abc import Iterator

from replay_dd.dd.intervals import IntervalSet


class SteppedSet(IntervalSet):
    """Those elements of a range whose positions in it lie in an interval set.

    Args:
        numbers: an increasing range with a step of 2 or more.
        positions: positions in it; 0 is its first element.
    """

    __slots__ = ("_made_edges", "_numbers", "_positions")

    def __init__(self, numbers: range, positions: IntervalSet) -> None:
        self._numbers = numbers
        self._positions = positions
        self._made_edges: tuple[int, ...] | None = None
        self._hash = None
        self._ranks = None

    @property
    def _edges(self) -> tuple[int, ...]:  # type: ignore[override]  # read-only here: computed when first wanted
        if self._made_edges is None:
            self._made_edges = tuple(edge for number in self for edge in (number, number + 1))
        return self._made_edges

    @property
    def count(self) -> int:
        """How many integers the set holds."""
        return self._positions.count

    @property
    def first(self) -> int:
        """The smallest element. Raises ``ValueError`` for the empty set."""
        return self._numbers[self._positions.first]

    @property
    def last(self) -> int:
        """The largest element. Raises ``ValueError`` for the empty set."""
        return self._numbers[self._positions.last]

    def between(self, start_rank: int, stop_rank: int) -> IntervalSet:
        """The elements whose ranks (0 is the smallest element) lie in the half-open interval of ranks."""
        return SteppedSet(self._numbers, self._positions.between(start_rank, stop_rank))

    def element(self, rank: int) -> int:
        """The element of that rank; 0 is the smallest. Raises ``IndexError`` outside the set."""
        return self._numbers[self._positions.element(rank)]

    def __contains__(self, element: int) -> bool:
        return element in self._numbers and self._numbers.index(element) in self._positions

    def __iter__(self) -> Iterator[int]:
        for start, stop in self._positions.intervals:
            yield from self._numbers[start:stop]

    def __bool__(self) -> bool:
        return bool(self._positions)

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return (SteppedSet, (self._numbers, self._positions))

    def __repr__(self) -> str:
        shown = ", ".join(map(str, self.between(0, _SHOWN)))
        more = f", ... ({self.count} elements)" if self.count > _SHOWN else ""
        return f"IntervalSet({{{shown}{more}}})"


_SHOWN = 20
