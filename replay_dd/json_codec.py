"""Frozen dataclasses to JSON and back, checked on the way in.

Rules of this module:

* Fields that have their default value are left out, so that a line is short and new fields can be added.
* Reading checks every value against the annotation of its field; what does not fit is a ``ValueError`` that names the
  field. Unknown fields are ignored: a later minor version may add some.
"""

from __future__ import annotations

import dataclasses
import enum
import functools
import types
import typing
from collections.abc import Mapping
from typing import Any


def to_plain(value: Any) -> Any:
    """What :mod:`json` can write."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        written = {}
        for item in dataclasses.fields(value):
            current = getattr(value, item.name)
            if current != _default(item):
                written[item.name] = to_plain(current)
        return written
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, tuple):
        return [to_plain(item) for item in value]
    if isinstance(value, Mapping):
        return {name: to_plain(item) for name, item in value.items()}
    return value


def from_plain(wanted: Any, value: Any, where: str = "") -> Any:
    """A value of the wanted type, out of what :mod:`json` read.

    Args:
        wanted: a dataclass, an enumeration, ``str``, ``int``, ``bool``, ``tuple[X, ...]``, ``tuple[X, Y]``,
            ``Mapping[str, X]``, or one of these or None.
        value: what was read.
        where: the name of the field, for errors.

    Raises:
        ValueError: the value is not of that type.
    """
    origin, arguments = typing.get_origin(wanted), typing.get_args(wanted)
    if origin in (typing.Union, types.UnionType):
        if value is None and type(None) in arguments:
            return None
        return from_plain(next(item for item in arguments if item is not type(None)), value, where)
    if origin is tuple:
        if not isinstance(value, list):
            raise _unfit(where, value)
        if arguments[-1] is Ellipsis:
            return tuple(from_plain(arguments[0], item, where) for item in value)
        if len(value) != len(arguments):
            raise _unfit(where, value)
        return tuple(from_plain(kind, item, where) for kind, item in zip(arguments, value, strict=True))
    if origin is not None and issubclass(origin, Mapping):
        if not isinstance(value, dict):
            raise _unfit(where, value)
        return {name: from_plain(arguments[1], item, f"{where}.{name}") for name, item in value.items()}
    if dataclasses.is_dataclass(wanted) and isinstance(wanted, type):
        return _dataclass_from(wanted, value, where)
    if isinstance(wanted, type) and issubclass(wanted, enum.Enum):
        try:
            return wanted(value)
        except ValueError:
            raise _unfit(where, value) from None
    if type(value) is not wanted:
        raise _unfit(where, value)
    return value


def _dataclass_from(wanted: Any, value: Any, where: str) -> Any:
    if not isinstance(value, dict):
        raise _unfit(where or wanted.__name__, value)
    hints = _hints(wanted)
    given = {}
    for item in dataclasses.fields(wanted):
        if item.name in value:
            given[item.name] = from_plain(hints[item.name], value[item.name], item.name)
        elif _default(item) is dataclasses.MISSING:
            raise ValueError(f"`{item.name}` is missing")
    return wanted(**given)


@functools.cache
def _hints(wanted: type) -> dict[str, Any]:
    return typing.get_type_hints(wanted)


def _default(item: dataclasses.Field[Any]) -> Any:
    if item.default_factory is not dataclasses.MISSING:
        return item.default_factory()
    return item.default


def _unfit(where: str, value: object) -> ValueError:
    shown = repr(value)
    return ValueError(f"`{where}` cannot be {shown[:60]}")
