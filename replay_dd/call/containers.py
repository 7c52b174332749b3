"""Values as containers: what can be left out of them, and what is inside.

Rules of this module:

* What is left of a value is of the value's type: a subclass of ``dict`` stays one, with its other attributes.
* Strings, bytes and arrays have parts and nothing inside. An array, or a table of ``pandas``, has as many levels of
  parts as axes, and what is left of an array is a view where that is one slice.
* Of transparent values, see :mod:`replay_dd.call.fields`, the fields cannot be left out, but what is in the fields can.
  Objects of other classes are taken as they are.
* Nothing depends on the order of a hash.
* Values are never changed: what is left is new, and shares what is inside with the old value.
"""

from __future__ import annotations

import copy
import sys
from abc import ABC, abstractmethod
from array import array
from collections import UserDict, UserList, deque
from collections.abc import Iterator, Mapping, Sequence
from enum import Enum
from itertools import chain
from typing import TYPE_CHECKING, Any

from replay_dd.call.fields import fields_of
from replay_dd.dd import IntervalSet

if TYPE_CHECKING:
    import numpy


class Container(ABC):
    """A value that has parts.

    Args:
        value: the value.

    Attributes:
        size: how many parts it has.
    """

    size: int

    def __init__(self, value: Any) -> None:
        self.value = value
        self.size = len(value)

    @abstractmethod
    def keep(self, parts: IntervalSet) -> Any:
        """What is left of the value if only these parts are kept, by number."""

    def inside(self) -> Sequence[Any]:
        """The values inside, one for each part; empty if there is nothing to look into."""
        return ()

    def with_inside(self, values: Sequence[Any]) -> Any:
        """The value with other values inside."""
        raise NotImplementedError  # only asked of those that have something inside

    def words(self, part: int) -> str:
        """Where a part is, as it would be written after the value's name."""
        return f"[{part}]"


class _Text(Container):
    def keep(self, parts: IntervalSet) -> Any:
        return _alike(self.value, type(self.value[:0])().join(self.value[a:b] for a, b in parts.intervals))


class _Listed(Container):
    """A list, a tuple, a deque, or an array of the standard library."""

    def keep(self, parts: IntervalSet) -> Any:
        elements = self.inside()
        return self.with_inside(list(chain.from_iterable(elements[a:b] for a, b in parts.intervals)))

    def inside(self) -> Sequence[Any]:
        return self.value if isinstance(self.value, list | tuple) else list(self.value)

    def with_inside(self, values: Sequence[Any]) -> Any:
        kind = type(self.value)
        if isinstance(self.value, tuple):
            return values if kind is tuple and type(values) is tuple else kind(values)
        if kind is list:
            return list(values)
        made = copy.copy(self.value)
        if isinstance(made, deque):
            made.clear()
        else:
            del made[:]
        made.extend(values)
        return made


class _Set(Container):
    def __init__(self, value: Any) -> None:
        super().__init__(value)
        self._elements = _sorted(value)

    def keep(self, parts: IntervalSet) -> Any:
        chosen = chain.from_iterable(self._elements[a:b] for a, b in parts.intervals)
        return _alike(self.value, frozenset(chosen) if isinstance(self.value, frozenset) else set(chosen))

    def words(self, part: int) -> str:
        return f"{{{_shown(self._elements[part])}}}"


class _Mapping(Container):
    def __init__(self, value: Any) -> None:
        super().__init__(value)
        self._keys = list(value)

    def keep(self, parts: IntervalSet) -> Any:
        kept = list(chain.from_iterable(self._keys[a:b] for a, b in parts.intervals))
        return self._made({key: self.value[key] for key in kept})

    def inside(self) -> Sequence[Any]:
        return [self.value[key] for key in self._keys]

    def with_inside(self, values: Sequence[Any]) -> Any:
        return self._made(dict(zip(self._keys, values, strict=True)))

    def _made(self, pairs: dict[Any, Any]) -> Any:
        if type(self.value) is dict:
            return pairs
        made = copy.copy(self.value)
        made.clear()
        made.update(pairs)
        return made

    def words(self, part: int) -> str:
        return f"[{_shown(self._keys[part])}]"


class _Array(Container):
    """An array along one axis."""

    def __init__(self, value: numpy.ndarray[Any, Any], axis: int) -> None:
        self.value = value
        self.size = value.shape[axis]
        self._axis = axis

    def keep(self, parts: IntervalSet) -> Any:
        before = (slice(None),) * self._axis
        slices = [self.value[(*before, slice(a, b))] for a, b in parts.intervals]
        if len(slices) == 1:
            return slices[0]
        if not slices:
            return self.value[(*before, slice(0, 0))]
        return sys.modules["numpy"].concatenate(slices, axis=self._axis)

    def words(self, part: int) -> str:
        return f"[{':, ' * self._axis}{part}]"


class _Frame(Container):
    """Rows or columns of what ``pandas`` has."""

    def __init__(self, value: Any, axis: int) -> None:
        self.value = value
        self.size = value.shape[axis]
        self._axis = axis

    def keep(self, parts: IntervalSet) -> Any:
        kept = list(parts)
        return self.value.iloc[:, kept] if self._axis else self.value.iloc[kept]

    def words(self, part: int) -> str:
        return f".iloc[{':, ' * self._axis}{part}]"


def container_of(value: Any, level: int = 0) -> Container | None:
    """The value as a container; None if nothing can be left out of it.

    Args:
        value: any value.
        level: for what has axes, the axis.
    """
    if isinstance(value, Enum | type):
        return None
    if _is_array(value):
        return _Array(value, level) if level < value.ndim else None
    if is_frame(value):
        return _Frame(value, level) if level < value.ndim else None
    for kind, container in _KINDS:
        if isinstance(value, kind):
            # A subclass that cannot be made anew, or not be emptied, is taken as it is.
            return container(value) if type(value) in _PLAIN or _can_be_emptied(container(value)) else None
    return None


def is_text(value: Any) -> bool:
    """Whether it is text or bytes."""
    return isinstance(value, str | bytes | bytearray)


def is_array(value: Any) -> bool:
    """Whether it is an array of ``numpy``."""
    return _is_array(value)


def is_frame(value: Any) -> bool:
    """Whether it is a table or a column of ``pandas``."""
    pandas = sys.modules.get("pandas")
    return pandas is not None and type(value) in (getattr(pandas, "DataFrame", 0), getattr(pandas, "Series", 0))


def has_axes(value: Any) -> bool:
    """Whether its levels are axes."""
    return _is_array(value) or is_frame(value)


def is_sequence(value: Any) -> bool:
    """Whether its parts have places, and it is no text."""
    return isinstance(value, (list, tuple, deque, array, UserList)) or has_axes(value)


def strings_in(value: Any, depth: int = 20) -> Iterator[str]:
    """The strings in a value, and bytes as strings."""
    if isinstance(value, str):
        yield str(value)
    elif isinstance(value, bytes | bytearray):
        yield value.decode("utf-8", "replace")
    elif is_frame(value):
        yield from map(str, value.columns if value.ndim > 1 else [value.name])
    elif depth:
        inside: Any = fields_of(value)
        if inside is not None:
            inside = inside.values()
        elif isinstance(value, Mapping):
            inside = chain(value, value.values())
        elif isinstance(value, list | tuple | set | frozenset | deque):
            inside = value
        for one in inside or ():
            yield from strings_in(one, depth - 1)


_KINDS: tuple[tuple[Any, type[Container]], ...] = (
    ((str, bytes, bytearray), _Text),
    ((list, tuple, deque, array, UserList), _Listed),
    ((set, frozenset), _Set),
    ((dict, UserDict), _Mapping),
)
_PLAIN = (str, bytes, bytearray, list, tuple, set, frozenset, dict, deque, array)


def _is_array(value: Any) -> bool:
    numpy = sys.modules.get("numpy")
    # Other subclasses, such as masked arrays, are more than their elements.
    return numpy is not None and type(value) in (numpy.ndarray, numpy.memmap)


def _can_be_emptied(container: Container) -> bool:
    try:
        made = container.keep(IntervalSet())
        return type(made) is type(container.value) and not len(made)
    except Exception:  # its class is the program's, and may do anything
        return False


def _alike(value: Any, made: Any) -> Any:
    return made if type(value) is type(made) else type(value)(made)


def _sorted(values: Any) -> list[Any]:
    by_text = sorted(values, key=lambda one: (type(one).__name__, repr(one)))
    try:
        made = sorted(by_text)
    except TypeError:
        return by_text
    # Sets, for instance, compare by containment: sorting them "works" and means nothing.
    return by_text if any(isinstance(one, set | frozenset) for one in made) else made


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
