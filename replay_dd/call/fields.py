"""Transparent values: their fields cannot be left out, but what is in the fields can.

Rules of this module:

* Transparent are data classes, named tuples, classes of ``attrs``, ``pydantic`` and ``msgspec``, texts that are read
  like files, and objects whose attributes are just what their class is made from.
* Such a value is made anew by copying it: its class is not asked, and checks nothing.
"""

from __future__ import annotations

import copy
import dataclasses
import inspect
import io
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

_REST = "read()"
# What says that there is more to a copy than its attributes.
_DEFAULTS = ("__reduce_ex__", "__reduce__", "__getattribute__")
_OWN_WAYS = (
    "__getattr__",
    "__copy__",
    "__deepcopy__",
    "__setstate__",
    "__getnewargs__",
    "__getnewargs_ex__",
    "__next__",
)


def fields_of(value: Any) -> dict[str, Any] | None:
    """The fields of a transparent value, by name; None if it is not transparent."""
    if isinstance(value, type):
        return None
    kind: Any = type(value)
    if kind in (io.StringIO, io.BytesIO):
        return None if value.closed else {_REST: _rest(value)}
    names: Sequence[str] | None
    if dataclasses.is_dataclass(value):
        names = [field.name for field in dataclasses.fields(value)]
    elif isinstance(value, tuple):
        names = getattr(value, "_fields", None)
    elif hasattr(kind, "__attrs_attrs__"):
        names = [field.name for field in kind.__attrs_attrs__]
    else:
        names = _names_of_model(kind)
        if names is None and is_record(value):
            names = _names_of_record(kind)
    if names is None:
        return None
    return {name: getattr(value, name) for name in names if hasattr(value, name)}


def with_fields(value: Any, changed: Mapping[str, Any]) -> Any:
    """A transparent value with other values in some fields."""
    if isinstance(value, tuple):
        return value._replace(**changed)  # type: ignore[attr-defined]  # a named tuple
    made = copy.copy(value)
    if isinstance(made, io.StringIO | io.BytesIO):
        state: Any = made
        _, *newline, _place, attributes = state.__getstate__()
        state.__setstate__((changed[_REST], *newline, 0, attributes))
        return state
    for name, inside in changed.items():
        object.__setattr__(made, name, inside)
    return made


def is_record(value: Any) -> bool:
    """Whether the attributes of an object are just what its class is made from."""
    kind: Any = type(value)
    names = None if isinstance(value, type) else _names_of_record(kind)
    return names is not None and _has_only(value, names)


def file_source(value: Any) -> tuple[str, str | bytes] | None:
    """Class and content of a text that is read like a file, without what has been read; None for any other value."""
    if type(value) not in (io.StringIO, io.BytesIO) or value.closed:
        return None
    return f"io.{type(value).__name__}", _rest(value)


def _rest(value: Any) -> Any:
    return value.getvalue()[value.tell() :]


@lru_cache(maxsize=1024)
def _names_of_model(kind: Any) -> tuple[str, ...] | None:
    """The fields of a class of ``pydantic`` or ``msgspec``."""
    if isinstance(found := getattr(kind, "__pydantic_fields__", None), dict):
        return tuple(found)
    found = getattr(kind, "__struct_fields__", None)
    return found if isinstance(found, tuple) else None


@lru_cache(maxsize=1024)
def _names_of_record(kind: Any) -> tuple[str, ...] | None:
    """What a class written in Python is made from, if it is copied as objects are by default."""
    plain = all(getattr(kind, name) is getattr(object, name) for name in _DEFAULTS)
    if not plain or kind.__init__ is object.__init__ or any(hasattr(kind, name) for name in _OWN_WAYS):
        return None
    if any(base.__module__ == "builtins" for base in kind.__mro__[:-1]):
        return None
    try:
        parameters = list(inspect.signature(kind.__init__).parameters.values())[1:]
    except (TypeError, ValueError):
        return None
    if not parameters or any(one.kind in (one.VAR_POSITIONAL, one.VAR_KEYWORD) for one in parameters):
        return None
    return tuple(one.name for one in parameters)


def _has_only(value: Any, names: Sequence[str]) -> bool:
    """Whether an object has these attributes and no others; its own code is not run."""
    slots = (name for kind in type(value).__mro__ for name in _slots(kind))
    try:
        attributes = object.__getattribute__(value, "__dict__")
    except AttributeError:
        attributes = {}
    return {*attributes, *slots} == set(names) and all(name in attributes or hasattr(value, name) for name in names)


def _slots(kind: type) -> Sequence[str]:
    slots = kind.__dict__.get("__slots__", ())
    return [name for name in ([slots] if isinstance(slots, str) else slots) if name not in ("__dict__", "__weakref__")]
