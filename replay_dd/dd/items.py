"""Ordinary collections as sets of deltas, and back.

Rules of this module:

* Delta ``i`` is the element at position ``i`` of the failing collection; a configuration is built in that order. For
  sets of integers (a ``range``, an interval set) the elements themselves are the deltas.
* A test sees the kind of thing its caller gave, never a live piece of it: changing its argument changes no other test.
* Order is never left to a hash: sets are taken in sorted order, dictionaries in the order of their keys' insertion.
* What cannot be handled is refused here, in words, before the first test.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import pairwise
from typing import Any, Generic, TypeVar

from replay_dd.dd.intervals import EMPTY, IntervalSet
from replay_dd.dd.slicing import Sliceable, name_of_kind, other_kind, sliceable
from replay_dd.dd.stepped import SteppedSet
from replay_dd.errors.user import ArgumentError, PassNotContainedError

T = TypeVar("T")
D = TypeVar("D")


class Items(ABC, Generic[T, D]):
    """A collection as deltas: which ones there are, and how to build the part of the collection that some of them are.

    Attributes:
        all: every delta.
    """

    all: IntervalSet

    @abstractmethod
    def build(self, deltas: IntervalSet) -> T:
        """What the test is called with for this configuration."""

    @abstractmethod
    def difference(self, deltas: IntervalSet) -> D:
        """How these deltas are shown to the caller."""

    @abstractmethod
    def _find(self, contained: Any) -> IntervalSet:
        """See :meth:`positions_of`; ``contained`` is not ``None``."""

    def positions_of(self, contained: Any) -> IntervalSet:
        """The deltas that make up a passing case; ``None`` stands for nothing at all.

        Raises:
            PassNotContainedError: it is no part of this collection.
            ArgumentError: it is of another kind.
        """
        return EMPTY if contained is None else self._find(contained)


class _Plain(Items[T, T]):
    """Items whose difference is of the same kind as they are."""

    def difference(self, deltas: IntervalSet) -> T:
        """The part of the collection that these deltas are."""
        return self.build(deltas)


class SequenceItems(_Plain[T]):
    """The positions of a sequence.

    Args:
        kind: the sequence.
    """

    def __init__(self, kind: Sliceable[T]) -> None:
        self._kind = kind
        self.all = IntervalSet.range(0, len(kind))

    def build(self, deltas: IntervalSet) -> T:
        """The elements at these positions."""
        items = self._kind.items
        return self._kind.join([items[start:stop] for start, stop in deltas.intervals])

    def _find(self, contained: Any) -> IntervalSet:
        """The leftmost occurrence of each of its elements, in order."""
        if not self._kind.same_kind(contained):
            raise other_kind(contained, self._kind.items)
        kind = sliceable(contained)
        wanted = kind.keys() if kind is not None else ()
        found: list[int] = []
        position = 0
        elements = self._kind.keys()
        for number, element in enumerate(wanted):
            while position < len(elements) and not _same(elements[position], element):
                position += 1
            if position == len(elements):
                raise PassNotContainedError(
                    f"element {number} of the passing case, {contained[number]!r}, does not follow in the failing case"
                )
            found.append(position)
            position += 1
        return IntervalSet.of(found)


class NumberItems(_Plain[IntervalSet]):
    """A set of integers, which are the deltas themselves; it may be too large to be listed.

    Args:
        numbers: the integers.
    """

    def __init__(self, numbers: IntervalSet) -> None:
        self.all = numbers

    def build(self, deltas: IntervalSet) -> IntervalSet:
        """These integers."""
        return deltas

    def _find(self, contained: Any) -> IntervalSet:
        wanted = _as_interval_set(contained, self.all)
        if not wanted <= self.all:
            raise PassNotContainedError(f"{wanted!r} is not contained in {self.all!r}")
        return wanted


class SteppedItems(_Plain[IntervalSet]):
    """A range with a step: its positions, so that contiguous parts of it cost as little as intervals.

    Args:
        numbers: the range, increasing.
    """

    def __init__(self, numbers: range) -> None:
        self._numbers = numbers
        self.all = IntervalSet.range(0, len(numbers))

    def build(self, deltas: IntervalSet) -> IntervalSet:
        """The numbers at these positions."""
        return SteppedSet(self._numbers, deltas)

    def _find(self, contained: Any) -> IntervalSet:
        numbers = self._numbers
        if isinstance(contained, range) and len(contained) and contained[0] in numbers and contained[-1] in numbers:
            first, last = sorted((numbers.index(contained[0]), numbers.index(contained[-1])))
            step, rest = divmod(abs(contained.step), numbers.step)
            if rest == 0:
                positions = range(first, last + 1, step)
                return IntervalSet.range(first, last + 1) if step == 1 else IntervalSet.of(positions)
        wanted = _as_interval_set(contained, numbers)
        outside = next((number for number in wanted if number not in numbers), None)
        if outside is not None:
            raise PassNotContainedError(f"{outside} is not in {numbers!r}")
        return IntervalSet.of(numbers.index(number) for number in wanted)


class SetItems(_Plain[AbstractSet[Any]]):
    """A set, in sorted order.

    Args:
        items: the set.

    Raises:
        ArgumentError: its elements have no order of their own.
    """

    def __init__(self, items: AbstractSet[Any]) -> None:
        self._items = items
        self._sorted = _sorted(items)
        self.all = IntervalSet.range(0, len(self._sorted))

    def build(self, deltas: IntervalSet) -> AbstractSet[Any]:
        """The elements at these positions of the sorted set."""
        chosen = (self._sorted[position] for position in deltas)
        return frozenset(chosen) if isinstance(self._items, frozenset) else set(chosen)

    def _find(self, contained: Any) -> IntervalSet:
        if not isinstance(contained, AbstractSet):
            raise other_kind(contained, self._items)
        missing = contained - self._items
        if missing:
            raise PassNotContainedError(f"the failing case lacks {_some(missing)} of the passing case")
        return IntervalSet.of(position for position, element in enumerate(self._sorted) if element in contained)


class DictItems(_Plain[dict[Any, Any]]):
    """A dictionary, in the order in which its keys were inserted.

    Args:
        items: the dictionary.
    """

    def __init__(self, items: Mapping[Any, Any]) -> None:
        self._items = items
        self._pairs = list(items.items())
        self.all = IntervalSet.range(0, len(self._pairs))

    def build(self, deltas: IntervalSet) -> dict[Any, Any]:
        """The pairs at these positions."""
        return dict(self._pairs[position] for position in deltas)

    def _find(self, contained: Any) -> IntervalSet:
        if not isinstance(contained, Mapping):
            raise other_kind(contained, self._items)
        other = [key for key, value in contained.items() if key not in self._items or self._items[key] != value]
        if other:
            raise PassNotContainedError(
                f"the failing case lacks {_some(other)} of the passing case, or has another value there"
            )
        return IntervalSet.of(position for position, (key, _) in enumerate(self._pairs) if key in contained)


def items_of(collection: Any) -> Items[Any, Any]:
    """The deltas of a collection.

    Args:
        collection: a string, bytes, a list, a tuple or another sequence; a numpy array; a set or a dictionary; a
            ``range`` or an interval set.

    Raises:
        ArgumentError: it is none of these, or a set that cannot be sorted.
    """
    if isinstance(collection, Items):
        return collection
    if isinstance(collection, IntervalSet):
        return NumberItems(collection)
    if isinstance(collection, range):
        increasing = collection if collection.step > 0 else collection[::-1]
        if increasing.step == 1:
            return NumberItems(IntervalSet.range(increasing.start, increasing.stop))
        return SteppedItems(increasing)
    if isinstance(collection, AbstractSet):
        return SetItems(collection)
    if isinstance(collection, Mapping):
        return DictItems(collection)
    kind = sliceable(collection)
    if kind is not None:
        return SequenceItems(kind)
    if isinstance(collection, Iterator):
        raise ArgumentError(
            f"{name_of_kind(collection)} can be read only once, and every test needs a part of it",
            hint="Give a list: list(...).",
        )
    raise ArgumentError(
        f"{name_of_kind(collection)} cannot be taken apart",
        hint="Give a string, bytes, a sequence, a numpy array, a set, a dictionary or a range; list(...) makes a list.",
    )


def _same(one: Any, other: Any) -> bool:
    return one is other or bool(one == other)


def _as_interval_set(contained: Any, numbers: range | IntervalSet) -> IntervalSet:
    if isinstance(contained, IntervalSet):
        return contained
    if isinstance(contained, range) and contained.step == 1:
        return IntervalSet.range(contained.start, contained.stop)
    if isinstance(contained, Sequence | AbstractSet) and all(isinstance(element, int) for element in contained):
        return IntervalSet.of(contained)
    raise other_kind(contained, numbers)


def _sorted(items: AbstractSet[Any]) -> list[Any]:
    try:
        made = sorted(items)
        # Sets, for instance, compare by containment: sorting them "works" and its result depends on their hashes.
        ordered = all(first < second for first, second in pairwise(made))
    except TypeError as error:
        raise ArgumentError(f"the elements of the set cannot be sorted: {error}", hint=_UNSORTED) from None
    if not ordered:
        raise ArgumentError("the elements of the set cannot be sorted: they have no total order", hint=_UNSORTED)
    return made


_UNSORTED = (
    "The order of the elements decides what is tested, so it must not depend on hashes. Give a list in an order of "
    "your own."
)


def _some(elements: Iterable[Any]) -> str:
    shown = sorted(map(repr, elements))
    return ", ".join(shown[:3]) + (f" and {len(shown) - 3} more" if len(shown) > 3 else "")
