"""Sets of integers as sorted, disjoint, half-open intervals.

Rules of this module:

* A set is one strictly increasing tuple of *edges* of even length: start, stop, start, stop, ...
  A number belongs to the set exactly if an odd number of edges is less than or equal to it.
* Intervals that touch are one interval, so equal sets have equal edges, and hashing and comparing are tuple work.
* Nothing enumerates elements except iteration: ten thousand million deltas cost as much as ten.
* Binary operations walk the edges of the smaller set and copy the stretches between them as slices of the larger one.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, pairwise
from operator import sub


class IntervalSet:
    """An immutable, hashable set of integers that is stored as intervals.

    Build one with :meth:`range`, :meth:`of` or :meth:`from_intervals`; ``IntervalSet()`` is the empty set. Supports
    ``|``, ``-``, ``&``, ``^``, ``==``, ``<=``, ``<``, ``in``, ``bool()``, and iteration in increasing order.
    ``len()`` works up to ``sys.maxsize``; :attr:`count` always does.
    """

    __slots__ = ("_count", "_edges", "_hash", "_ranks")

    _edges: tuple[int, ...]
    _count: int | None
    _hash: int | None
    _ranks: list[int] | None

    def __init__(self) -> None:
        self._edges = ()
        self._count = 0
        self._hash = None
        self._ranks = None

    @staticmethod
    def _from_edges(edges: tuple[int, ...]) -> IntervalSet:
        made = _new(IntervalSet)
        made._edges = edges
        made._count = made._hash = made._ranks = None
        return made

    @staticmethod
    def range(start: int, stop: int) -> IntervalSet:
        """The integers from ``start`` up to, but not including, ``stop``; empty where ``stop <= start``."""
        return IntervalSet._from_edges((start, stop) if start < stop else ())

    @staticmethod
    def of(elements: Iterable[int]) -> IntervalSet:
        """The set of the given integers, in any order, repeated or not."""
        edges: list[int] = []
        for element in sorted(elements):
            if edges and element <= edges[-1]:
                if element == edges[-1]:
                    edges[-1] = element + 1
            else:
                edges += (element, element + 1)
        return IntervalSet._from_edges(tuple(edges))

    @staticmethod
    def from_intervals(intervals: Iterable[tuple[int, int]]) -> IntervalSet:
        """The union of half-open intervals ``(start, stop)``, in any order; empty ones are left out."""
        edges: list[int] = []
        for start, stop in sorted(intervals):
            if start >= stop:
                continue
            if edges and start <= edges[-1]:
                edges[-1] = max(edges[-1], stop)
            else:
                edges += (start, stop)
        return IntervalSet._from_edges(tuple(edges))

    @property
    def count(self) -> int:
        """How many integers the set holds."""
        count = self._count
        if count is None:
            edges = self._edges
            count = edges[1] - edges[0] if len(edges) == 2 else sum(edges[1::2]) - sum(edges[::2])
            self._count = count
        return count

    @property
    def intervals(self) -> tuple[tuple[int, int], ...]:
        """The intervals ``(start, stop)``, half-open, in order; no two of them touch."""
        return tuple(zip(self._edges[::2], self._edges[1::2], strict=True))

    @property
    def first(self) -> int:
        """The smallest element. Raises ``ValueError`` for the empty set."""
        if not self._edges:
            raise ValueError("the empty set has no first element")
        return self._edges[0]

    @property
    def last(self) -> int:
        """The largest element. Raises ``ValueError`` for the empty set."""
        if not self._edges:
            raise ValueError("the empty set has no last element")
        return self._edges[-1] - 1

    def take(self, amount: int) -> IntervalSet:
        """The ``amount`` smallest elements; all of them where there are no more."""
        return self.between(0, amount)

    def between(self, start_rank: int, stop_rank: int) -> IntervalSet:
        """The elements whose ranks (0 is the smallest element) lie in the half-open interval of ranks.

        Ranks beyond the end are cut off, as in slices of sequences; negative ranks count as 0.
        """
        edges = self._edges
        start_rank = max(start_rank, 0)
        if len(edges) == 2:
            low, high = edges
            return IntervalSet.range(low + start_rank, min(low + stop_rank, high))
        count = self.count
        stop_rank = min(stop_rank, count)
        if start_rank >= stop_rank:
            return EMPTY
        if start_rank == 0 and stop_rank == count:
            return self
        ranks = self._rank_table()
        at_start = bisect_right(ranks, start_rank)
        at_stop = bisect_left(ranks, stop_rank, at_start)
        before_start = ranks[at_start - 1] if at_start else 0
        before_stop = ranks[at_stop - 1] if at_stop else 0
        low = edges[2 * at_start] + start_rank - before_start
        high = edges[2 * at_stop] + stop_rank - before_stop
        return IntervalSet._from_edges((low, *edges[2 * at_start + 1 : 2 * at_stop + 1], high))

    def element(self, rank: int) -> int:
        """The element of that rank; 0 is the smallest. Raises ``IndexError`` outside the set."""
        if not 0 <= rank < self.count:
            raise IndexError(f"rank {rank} is outside a set of {self.count} elements")
        ranks = self._rank_table()
        at = bisect_right(ranks, rank)
        return self._edges[2 * at] + rank - (ranks[at - 1] if at else 0)

    def split(self, sizes: Iterable[int]) -> tuple[IntervalSet, ...]:
        """Cut the set, in order, into consecutive parts of the given sizes (and leave out what is beyond them)."""
        cuts = [0, *accumulate(sizes)]
        return tuple(self.between(start, stop) for start, stop in pairwise(cuts))

    def _rank_table(self) -> list[int]:
        """For each interval, how many elements there are up to its end."""
        if self._ranks is None:
            self._ranks = list(accumulate(map(sub, self._edges[1::2], self._edges[::2])))
        return self._ranks

    def __or__(self, other: IntervalSet) -> IntervalSet:
        large, small = self._edges, other._edges
        if len(large) < len(small):
            large, small = small, large
        if not small:
            return self if self._edges else other
        if large[-1] < small[0]:
            return IntervalSet._from_edges(large + small)
        if small[-1] < large[0]:
            return IntervalSet._from_edges(small + large)
        edges: list[int] = []
        done = 0
        for at in range(0, len(small), 2):
            start, stop = small[at], small[at + 1]
            low = bisect_left(large, start, done)
            edges += large[done:low]
            if not low & 1:
                edges.append(start)
            done = bisect_right(large, stop, low)
            if not done & 1:
                edges.append(stop)
        edges += large[done:]
        return IntervalSet._from_edges(tuple(edges))

    def __sub__(self, other: IntervalSet) -> IntervalSet:
        mine, theirs = self._edges, other._edges
        if not mine or not theirs or mine[-1] <= theirs[0] or theirs[-1] <= mine[0]:
            return self
        edges: list[int] = []
        done = 0
        # Intervals of the other set before this one's first element cannot take anything away.
        for at in range((bisect_right(theirs, mine[0]) - 1) // 2 * 2 if theirs[0] < mine[0] else 0, len(theirs), 2):
            start, stop = theirs[at], theirs[at + 1]
            if start >= mine[-1]:
                break
            low = bisect_left(mine, start, done)
            edges += mine[done:low]
            if low & 1:
                edges.append(start)
            done = bisect_right(mine, stop, low)
            if done & 1:
                edges.append(stop)
        edges += mine[done:]
        return IntervalSet._from_edges(tuple(edges))

    def __and__(self, other: IntervalSet) -> IntervalSet:
        large, small = self._edges, other._edges
        if len(large) < len(small):
            large, small = small, large
        edges: list[int] = []
        done = 0
        for at in range(0, len(small), 2):
            start, stop = small[at], small[at + 1]
            low = bisect_right(large, start, done)
            if low & 1:
                edges.append(start)
            done = bisect_left(large, stop, low)
            edges += large[low:done]
            if done & 1:
                edges.append(stop)
        return IntervalSet._from_edges(tuple(edges))

    def __xor__(self, other: IntervalSet) -> IntervalSet:
        return (self - other) | (other - self)

    def __le__(self, other: IntervalSet) -> bool:
        mine, theirs = self._edges, other._edges
        for at in range(0, len(mine), 2):
            low = bisect_right(theirs, mine[at])
            if not low & 1 or theirs[low] < mine[at + 1]:
                return False
        return True

    def __lt__(self, other: IntervalSet) -> bool:
        return self._edges != other._edges and IntervalSet.__le__(self, other)

    # Called by name: an operator would ask a subclass on its other side first, which asks back.
    def __ge__(self, other: IntervalSet) -> bool:
        return IntervalSet.__le__(other, self)

    def __gt__(self, other: IntervalSet) -> bool:
        return IntervalSet.__lt__(other, self)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, IntervalSet) and self._edges == other._edges

    def __hash__(self) -> int:
        value = self._hash
        if value is None:
            value = self._hash = hash(self._edges)
        return value

    def __contains__(self, element: int) -> bool:
        return bool(bisect_right(self._edges, element) & 1)

    def __iter__(self) -> Iterator[int]:
        edges = self._edges
        for at in range(0, len(edges), 2):
            yield from range(edges[at], edges[at + 1])

    def __bool__(self) -> bool:
        return bool(self._edges)

    def __len__(self) -> int:
        return self.count

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return (_unpickle, (self._edges,))

    def __repr__(self) -> str:
        shown = ", ".join(
            str(start) if stop == start + 1 else f"{start}..{stop - 1}" for start, stop in self.intervals[:_SHOWN]
        )
        more = f", ... ({self.count} elements)" if len(self._edges) > 2 * _SHOWN else ""
        return f"IntervalSet({{{shown}{more}}})"


_SHOWN = 20
_new = object.__new__


def _unpickle(edges: Sequence[int]) -> IntervalSet:
    return IntervalSet._from_edges(tuple(edges))


EMPTY = IntervalSet()
