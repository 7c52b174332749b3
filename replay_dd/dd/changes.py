"""The difference of two cases of which neither contains the other, as deltas.

Rules of this module:

* A delta changes one element of the case before: it replaces it, removes it, or inserts one beside it. Any set of
  deltas can be applied, in any combination; all of them together give the case after.
* Between two neighbouring stretches that the cases have in common, elements are paired in order as replacements; what
  one side has more of is removed or inserted.
* A mixture is put together from slices of the two cases, a few for each interval of deltas, however many deltas apply.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar, overload

from replay_dd.dd.alignment import align
from replay_dd.dd.intervals import IntervalSet
from replay_dd.dd.items import Items
from replay_dd.dd.slicing import Sliceable, other_kind, sliceable
from replay_dd.errors.user import ArgumentError

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class Sliced(Protocol[T_co]):
    """A sequence whose slices are of type ``T``: strings, bytes, lists, tuples, numpy arrays."""

    def __len__(self) -> int: ...
    def __getitem__(self, index: slice, /) -> T_co: ...


@dataclass(frozen=True, slots=True)
class Change(Generic[T]):
    """One delta: an element of the case before that is replaced or removed, or one that is inserted.

    Attributes:
        position: where, in the case before. An insertion comes before the element at that position.
        removed: the element that goes, as a slice; empty for an insertion.
        inserted: the element that comes, as a slice; empty for a removal.
    """

    position: int
    removed: T
    inserted: T


class Changes(Items[T, "tuple[Change[T], ...]"]):
    """What leads from one case to another, one delta for each changed element; made by :func:`deltas_between`.

    Its length is the number of deltas. An index gives a :class:`Change`, and :meth:`apply` a mixture of the two cases.

    Attributes:
        before: the case without any of the changes; usually the one that passes.
        after: the case with all of them.
        all: all deltas.
    """

    def __init__(self, before: T, after: T, left: Sliceable[T], right: Sliceable[T]) -> None:
        self.before = before
        self.after = after
        self._left = left
        self._right = right
        self._spans = _spans(left, right)
        self.all = IntervalSet.range(0, len(self._spans))

    def apply(self, deltas: IntervalSet) -> T:
        """The case before with these changes made to it.

        Raises:
            IndexError: there are no such deltas.
        """
        left, right, spans = self._left.items, self._right.items, self._spans
        pieces = []
        done = 0
        for start, stop in deltas.intervals:
            if not 0 <= start < stop <= len(spans):
                raise IndexError(f"deltas {start} to {stop - 1} are not among {len(spans)}")
            # Where all deltas of an interval apply, the case between the first and the last is the case after.
            pieces.append(left[done : spans[start][0]])
            pieces.append(right[spans[start][2] : spans[stop - 1][3]])
            done = spans[stop - 1][1]
        pieces.append(left[done:])
        return self._left.join(piece for piece in pieces if len(piece))

    def build(self, deltas: IntervalSet) -> T:
        """The same as :meth:`apply`."""
        return self.apply(deltas)

    def difference(self, deltas: IntervalSet) -> tuple[Change[T], ...]:
        """These changes."""
        return tuple(self[position] for position in deltas)

    def _find(self, contained: Any) -> IntervalSet:
        raise ArgumentError(
            "a passing case was given beside the changes that lead away from it",
            hint="Give the changes alone: dd(test, deltas_between(passing, failing)).",
        )

    def __len__(self) -> int:
        return len(self._spans)

    def __getitem__(self, number: int) -> Change[T]:
        left, left_end, right, right_end = self._spans[number]
        removed, inserted = self._left.items[left:left_end], self._right.items[right:right_end]
        return Change(left, self._left.join([removed]), self._left.join([inserted]))

    def __iter__(self) -> Iterator[Change[T]]:
        return (self[number] for number in range(len(self)))

    def __repr__(self) -> str:
        return f"<{len(self)} changes from {len(self._left)} to {len(self._right)} elements>"


@overload
def deltas_between(before: Sliced[T], after: Sliced[T]) -> Changes[T]: ...
@overload
def deltas_between(before: Sequence[Any], after: Sequence[Any]) -> Changes[list[Any]]: ...
def deltas_between(before: Any, after: Any) -> Changes[Any]:
    """The difference of two cases as deltas, where neither case contains the other.

    The result stands in the place of a collection in every function for scripts: ``dd(test, deltas_between(a, b))``
    searches among the mixtures of ``a`` and ``b``. The test is called with such a mixture, of the kind of ``before``.

    Args:
        before: a sequence (string, bytes, list, tuple, numpy array, ...); usually the case that passes.
        after: another one of the same kind.

    Returns:
        The changes, in order. They are as few as possible where the two differ in few places, and always the same ones
        for the same two sequences. Two sequences of a hundred thousand elements take a second or two at worst.

    Raises:
        ArgumentError: the two are not sequences, or not of one kind.

    Source: see :mod:`replay_dd.dd.alignment`.
    """
    left, right = sliceable(before), sliceable(after)
    for kind, case in ((left, before), (right, after)):
        if kind is None:
            advice = "sorted(...)" if isinstance(case, AbstractSet) else "list(...)"
            if isinstance(case, Mapping):
                advice = "list(settings.items())"
            raise ArgumentError(
                f"only sequences can be aligned, and {type(case).__name__} is not one",
                hint=f"Make a list of each of them: {advice}.",
            )
    assert left is not None
    assert right is not None
    if not left.same_kind(after):
        raise other_kind(before, after)
    return Changes(before, after, left, right)


def _spans(left: Sliceable[Any], right: Sliceable[Any]) -> list[tuple[int, int, int, int]]:
    """For each delta, which slice of one case it puts in the place of which slice of the other."""
    spans = []
    at_left = at_right = 0
    matches = [tuple(match) for match in align(_tokens(left), _tokens(right))]
    for start, other_start, length in [*matches, (len(left), len(right), 0)]:
        paired = min(start - at_left, other_start - at_right)
        for _ in range(paired):
            spans.append((at_left, at_left + 1, at_right, at_right + 1))
            at_left, at_right = at_left + 1, at_right + 1
        spans += [(position, position + 1, at_right, at_right) for position in range(at_left, start)]
        spans += [(start, start, position, position + 1) for position in range(at_right, other_start)]
        at_left, at_right = start + length, other_start + length
    return spans


def _tokens(kind: Sliceable[Any]) -> Sequence[Any]:
    """The elements as something that can be hashed, with their types: 1 and True are equal, and not the same."""
    keys = kind.keys()
    if isinstance(keys, str | bytes | bytearray):
        return keys
    tokens: list[Any] = []
    for key in keys:
        try:
            hash(key)
            tokens.append((type(key), key))
        except TypeError:
            tokens.append((type(key), repr(key)))
    return tokens
