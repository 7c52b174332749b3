"""How a set of deltas is cut into parts.

Rules of this module:

* A *splitter* is a function ``(deltas, n) -> parts``: it cuts a set into about ``n`` parts. The parts are not empty, do
  not overlap, and hold every delta. Splitters that a caller wrote are checked for that; those of this module are not.
* ``n`` lies between 2 and the number of deltas. There is one exception: an algorithm that has reached the number of
  deltas and still got a part of more than one delta asks once more with twice that number, and then cuts single deltas.
* The four rules of the literature differ only in where the larger parts lie, and that changes every log. None of them
  is best; each reproduces its own source.
* Parts are made when they are looked at: a cut into a billion parts costs nothing until then.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import overload

from replay_dd.dd.intervals import EMPTY, IntervalSet
from replay_dd.errors.user import NotAPartitionError

Splitter = Callable[[IntervalSet, int], Sequence[IntervalSet]]
"""A function that cuts a set of deltas into about ``n`` parts."""


class Groups:
    """A splitter that never cuts a group of deltas, so that a search ends when one group is left.

    The groups are kept in the order of their first deltas, and shared out among the parts by their number.

    Args:
        group_of: to which group a delta belongs; equal for those of one group.
        complete: adds what a configuration needs, as far as that is known, from another one that contains it.
        reduce: takes from a configuration what needs something of the other one that it does not have.
        mend: the nearest configuration between two others that can be tested, as far as that is known.
    """

    def __init__(
        self,
        group_of: Callable[[int], Hashable],
        complete: Callable[[IntervalSet, IntervalSet], IntervalSet] = lambda asked, within: asked,
        reduce: Callable[[IntervalSet, IntervalSet], IntervalSet] = lambda asked, within: asked,
        mend: Callable[[IntervalSet, IntervalSet, IntervalSet], IntervalSet] = lambda asked, low, high: asked,
    ) -> None:
        self._group_of = group_of
        self.complete = complete
        self.reduce = reduce
        self.mend = mend
        self._last: tuple[IntervalSet, tuple[IntervalSet, ...]] = (EMPTY, ())

    def groups(self, deltas: IntervalSet) -> tuple[IntervalSet, ...]:
        """The groups of some deltas, each as far as it belongs to them."""
        known, found = self._last
        if known != deltas:
            members: dict[Hashable, list[int]] = {}
            for delta in deltas:
                members.setdefault(self._group_of(delta), []).append(delta)
            found = tuple(IntervalSet.of(group) for group in members.values())
            self._last = deltas, found
        return found

    def most_parts(self, deltas: IntervalSet) -> int:
        """How many groups some deltas belong to."""
        return len(self.groups(deltas))

    def __call__(self, deltas: IntervalSet, n: int) -> Sequence[IntervalSet]:
        """Share out the groups among ``n`` parts."""
        found = self.groups(deltas)
        shares = split_floor(IntervalSet.range(0, len(found)), min(n, len(found)))
        return [_union(found[position] for position in share) for share in shares]


def fitting(split: Splitter, asked: IntervalSet, low: IntervalSet, high: IntervalSet) -> IntervalSet:
    """What to test in the place of a configuration between two others, so that nothing is missing that it needs.

    That is the configuration with all that it needs; if this is everything, without what needs more; if this is
    nothing, or it is not known what is needed, the configuration itself, or the nearest one that can be tested.
    """
    if not isinstance(split, Groups):
        return asked
    more = split.complete(asked, high)
    if more != high:
        return split.mend(more, low, high)
    less = split.reduce(asked, high) | low
    return split.mend(asked if less == low else less, low, high)


def most_parts(split: Splitter, deltas: IntervalSet) -> int:
    """Into how many parts a splitter cuts some deltas at most: single ones, unless it is one of groups."""
    return split.most_parts(deltas) if isinstance(split, Groups) else deltas.count


class EvenParts(Sequence[IntervalSet]):
    """Consecutive parts of about the same size, each made when it is asked for.

    Args:
        deltas: the set that is cut.
        amount: how many parts there are.
        start_of: the rank at which part ``i`` starts, for ``i`` from 0 to ``amount``.
    """

    __slots__ = ("_amount", "_deltas", "_start_of")

    def __init__(self, deltas: IntervalSet, amount: int, start_of: Callable[[int], int]) -> None:
        self._deltas = deltas
        self._amount = amount
        self._start_of = start_of

    def __len__(self) -> int:
        return self._amount

    @overload
    def __getitem__(self, index: int) -> IntervalSet: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[IntervalSet]: ...
    def __getitem__(self, index: int | slice) -> IntervalSet | Sequence[IntervalSet]:
        if isinstance(index, slice):
            return [self[at] for at in range(*index.indices(self._amount))]
        if not -self._amount <= index < self._amount:
            raise IndexError(index)
        index %= self._amount
        return self._deltas.between(self._start_of(index), self._start_of(index + 1))


def split_floor(deltas: IntervalSet, n: int) -> Sequence[IntervalSet]:
    """Small parts first: each part takes the rest divided by the parts left, rounded down (5 -> 2, 3).

    Source: DD.py 1.2 (2001), and the tables of the ESEC/FSE 1999 and ISSTA 2000 papers.
    """
    n = min(n, deltas.count)
    size, longer = divmod(deltas.count, n)
    first_longer = n - longer
    return EvenParts(deltas, n, lambda i: i * size + max(0, i - first_longer))


def split_front(deltas: IntervalSet, n: int) -> Sequence[IntervalSet]:
    """Large parts first: the first ``len % n`` parts are one longer (7 into 3 -> 3, 2, 2).

    Source: the Debugging Book, ``split()``.
    """
    n = min(n, deltas.count)
    size, longer = divmod(deltas.count, n)
    return EvenParts(deltas, n, lambda i: i * size + min(i, longer))


def split_round(deltas: IntervalSet, n: int) -> Sequence[IntervalSet]:
    """Each part takes the rest divided by the parts left, rounded to the nearest, halves upwards (5 -> 3, 2).

    Source: split.py 2.2 of "Why Programs Fail" (2004).
    """
    n = min(n, deltas.count)
    size, longer = divmod(deltas.count, n)
    # Rounding to the nearest gives longer parts for as long as at least half of the parts left must be longer, or
    # shorter ones for as long as fewer than half must be; from then on longer and shorter parts alternate.
    if 2 * longer >= n:
        leading, leading_is_longer = 2 * longer - n + 1, 1
        alternating_is_longer = 0
    else:
        leading, leading_is_longer = n - 2 * longer, 0
        alternating_is_longer = 1

    def start_of(i: int) -> int:
        head = min(i, leading)
        tail = i - head
        return i * size + head * leading_is_longer + (tail + alternating_is_longer) // 2

    return EvenParts(deltas, n, start_of)


def split_slices(deltas: IntervalSet, n: int) -> Sequence[IntervalSet]:
    """Slices of the fixed length ``len // n``, the last one shorter: there can be more than ``n`` of them.

    Source: the Debugging Book, ``ddmin()``.
    """
    count = deltas.count
    size = count // min(n, count)
    return EvenParts(deltas, -(-count // size), lambda i: i * size)


SPLIT_RULES: Mapping[str, Splitter] = {
    "floor": split_floor,
    "round": split_round,
    "front": split_front,
    "slices": split_slices,
}
"""The split rules of the literature by name."""


def splitter_named(split: str | Splitter) -> Splitter:
    """The splitter itself, or the rule of that name. Raises ``ValueError`` where there is no such rule."""
    if callable(split):
        return split
    if split not in SPLIT_RULES:
        raise ValueError(f"unknown split rule {split!r}: choose one of {', '.join(SPLIT_RULES)}, or pass a function")
    return SPLIT_RULES[split]


def split_by_sizes(sizes: Mapping[tuple[int, int], Sequence[int]], otherwise: str | Splitter = "front") -> Splitter:
    """A splitter whose sizes are data: ``sizes[number of deltas, n]`` lists the sizes of the parts, in order.

    Args:
        sizes: the sizes that are known. A log whose cuts follow no formula is reproduced in this way
            (AADEBUG 2000, figure 5).
        otherwise: the rule for every other pair.
    """
    other = splitter_named(otherwise)

    def split(deltas: IntervalSet, n: int) -> Sequence[IntervalSet]:
        given = sizes.get((deltas.count, n))
        return other(deltas, n) if given is None else deltas.split(given)

    return split


def split_by_groups(groups: Iterable[Iterable[int]], otherwise: str | Splitter = "floor") -> Splitter:
    """A splitter that keeps groups whole until each part is one group, and only then cuts inside them.

    Args:
        groups: sets (or lists) of deltas that belong together (one commit, one file, one function); they do not
            overlap. Deltas in no group are groups of their own.
        otherwise: the rule by which groups are shared out among parts, and by which single groups are cut.

    Source: "grouping related changes", ESEC/FSE 1999, section 6.
    """
    sets = (group if isinstance(group, IntervalSet) else IntervalSet.of(group) for group in groups)
    ordered = tuple(sorted((group for group in sets if group), key=lambda group: group.first))
    grouped = IntervalSet.from_intervals(interval for group in ordered for interval in group.intervals)
    if grouped.count != sum(group.count for group in ordered):
        raise NotAPartitionError("two groups hold the same delta", hint="Put each delta into one group only.")
    rule = splitter_named(otherwise)

    def split(deltas: IntervalSet, n: int) -> Sequence[IntervalSet]:
        present = [part for group in ordered if (part := group & deltas)]
        loose = deltas - grouped
        if loose:
            present += [IntervalSet.range(element, element + 1) for element in loose]
            present.sort(key=lambda part: part.first)
        amount = len(present)
        if n <= amount:
            shares = rule(IntervalSet.range(0, amount), n)
            return [_union(present[position] for position in share) for share in shares]
        if n < 2 * amount and n <= deltas.count:
            return present
        # Rounded up, so that asking for as many parts as there are deltas does cut every group into single deltas.
        share_each = -(-n // amount)
        return [part for group in present for part in rule(group, min(share_each, group.count))]

    return split


def partition(split: Splitter, deltas: IntervalSet, n: int) -> Sequence[IntervalSet]:
    """Cut ``deltas`` into about ``n`` parts with ``split``, and check the parts.

    Raises:
        NotAPartitionError: a part is empty, or the parts overlap, lose or invent deltas.
    """
    if n > 2 * deltas.count:
        return split_floor(deltas, deltas.count)
    parts = split(deltas, n)
    if isinstance(parts, EvenParts):
        return parts
    if not all(parts) or sum(part.count for part in parts) != deltas.count or _union(parts) != deltas:
        raise NotAPartitionError(f"the split function did not cut {deltas.count} deltas into {n} proper parts")
    return parts


def finer(granularity: int, count: int) -> int:
    """The next granularity: twice as many parts, at most one for each delta.

    Beyond that, a caller's splitter that still keeps deltas together is asked once for twice as many parts as there are
    deltas; after that :func:`partition` gives single deltas.
    """
    if granularity < count:
        return min(2 * granularity, count)
    return 2 * count if granularity < 2 * count else 2 * count + 1


def coarser(granularity: int, count: int) -> int:
    """The granularity after one part was removed and ``count`` deltas are left: one less, and never less than 2."""
    return max(min(granularity - 1, count), 2)


def _union(parts: Iterable[IntervalSet]) -> IntervalSet:
    return IntervalSet.from_intervals(interval for part in parts for interval in part.intervals)
