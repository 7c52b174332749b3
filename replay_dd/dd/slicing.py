"""Kinds of sequence: how to cut one into slices, and how to put slices together again.

Rules of this module:

* A test sees the kind of sequence its caller gave: a string for a string, a tuple for a tuple, an array for an array; a
  list for any sequence of another kind.
* What is put together is new, except for a single slice of a numpy array: that is a view, and read-only.
* numpy is only looked for among the modules that the caller has imported already.
"""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from replay_dd.dd.intervals import IntervalSet
from replay_dd.errors.user import ArgumentError

if TYPE_CHECKING:
    import numpy

T = TypeVar("T")


class Sliceable(ABC, Generic[T]):
    """A kind of sequence: how to take slices of it and how to put them together again.

    Args:
        items: the sequence.
    """

    def __init__(self, items: Any) -> None:
        self.items = items

    def __len__(self) -> int:
        return len(self.items)

    @abstractmethod
    def same_kind(self, other: Any) -> bool:
        """Whether parts of the other collection could be parts of this one."""

    @abstractmethod
    def join(self, slices: Iterable[Any]) -> T:
        """One sequence of these slices, in order."""

    def keys(self) -> Sequence[Any]:
        """Something for each element; two elements are the same exactly if these are equal."""
        keys: Sequence[Any] = self.items
        return keys


class _Text(Sliceable[str]):
    def same_kind(self, other: Any) -> bool:
        return isinstance(other, str)

    def join(self, slices: Iterable[str]) -> str:
        return "".join(slices)


class _Bytes(Sliceable[bytes | bytearray]):
    def same_kind(self, other: Any) -> bool:
        return isinstance(other, bytes | bytearray)

    def join(self, slices: Iterable[bytes | bytearray]) -> bytes | bytearray:
        return bytearray().join(slices) if isinstance(self.items, bytearray) else b"".join(slices)


class _Sequence(Sliceable[Sequence[Any]]):
    """Tuples stay tuples; every other sequence is seen by the test as a list."""

    def __init__(self, items: Sequence[Any]) -> None:
        super().__init__(items if isinstance(items, list | tuple) else list(items))

    def same_kind(self, other: Any) -> bool:
        return type(sliceable(other)) is _Sequence

    def join(self, slices: Iterable[Sequence[Any]]) -> Sequence[Any]:
        elements = chain.from_iterable(slices)
        return tuple(elements) if isinstance(self.items, tuple) else list(elements)


class _Array(Sliceable["numpy.ndarray[Any, Any]"]):
    """An array along its first axis. One slice of it is a view, which is read-only, as it shows the caller's data."""

    def same_kind(self, other: Any) -> bool:
        if not _is_array(other):
            return False
        return bool(other.size == 0 or (other.dtype == self.items.dtype and other.shape[1:] == self.items.shape[1:]))

    def join(self, slices: Iterable[numpy.ndarray[Any, Any]]) -> numpy.ndarray[Any, Any]:
        import numpy

        parts = list(slices) or [self.items[:0]]
        made = parts[0][:] if len(parts) == 1 else numpy.concatenate(parts)
        made.flags.writeable = False
        return made

    def keys(self) -> Sequence[Any]:
        # Bytes are exact where == is not: they tell 0.0 from -0.0, and find a NaN again.
        array = self.items
        if array.dtype.hasobject:
            return [row if array.ndim == 1 else tuple(row.flat) for row in array]
        return [row.tobytes() for row in array]


def sliceable(items: Any) -> Sliceable[Any] | None:
    """The kind of this sequence; ``None`` where it is no sequence that can be cut into slices."""
    if isinstance(items, str):
        return _Text(items)
    if isinstance(items, bytes | bytearray):
        return _Bytes(items)
    if _is_array(items):
        return _Array(items) if items.ndim else None
    looks_like_one = hasattr(items, "__getitem__") and hasattr(items, "__len__") and not hasattr(items, "keys")
    if isinstance(items, range | IntervalSet) or not (isinstance(items, Sequence) or looks_like_one):
        return None
    return _Sequence(items)


def other_kind(contained: Any, items: Any) -> ArgumentError:
    """What to raise where a passing and a failing case cannot be compared."""
    return ArgumentError(
        f"the passing case is of type {type(contained).__name__} and the failing case of type {type(items).__name__}: "
        "they must be of one kind",
        hint="Convert one of them; None stands for a passing case without any elements.",
    )


def name_of_kind(thing: Any) -> str:
    """The type of a thing with its article, for messages."""
    name = type(thing).__name__
    return f"{'an' if name[0] in 'aeiouAEIOU' else 'a'} {name}"


def _is_array(items: Any) -> bool:
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(items, numpy.ndarray)
