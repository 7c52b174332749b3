"""Values and calls as Python source.

Rules of this module:

* What is written can be run again wherever Python can say it: numbers such as ``nan``, arrays with their type, members
  of enumerations, classes by their names. Everything else is written as its ``repr``.
* A ``repr`` is code of the program, which may fail: then the value is written as an object of its type.
"""

from __future__ import annotations

import math
import sys
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from types import GenericAlias
from typing import Any

from replay_dd.call.containers import is_frame
from replay_dd.call.fields import fields_of, file_source, is_record

_DEEPEST = 60


def source_of(value: Any, depth: int = 0) -> str:
    """A value as Python source."""
    kind: Any = type(value)
    if kind is float and not math.isfinite(value):
        return f"float({str(value)!r})"
    if isinstance(value, Enum):
        return f"{_local(kind.__qualname__)}.{value.name}"
    if kind is not GenericAlias and (isinstance(value, type) or (callable(value) and hasattr(value, "__qualname__"))):
        return _local(str(value.__qualname__))
    if depth > _DEEPEST:
        return _repr(value)
    inner = depth + 1
    if file := file_source(value):
        return f"{file[0]}({file[1]!r})"
    if kind.__repr__ is object.__repr__ and is_record(value):
        return call_source(_local(kind.__qualname__), (), fields_of(value) or {})
    if kind is list:
        return f"[{', '.join(source_of(one, inner) for one in value)}]"
    if kind is tuple:
        return f"({', '.join(source_of(one, inner) for one in value)}{',' if len(value) == 1 else ''})"
    if kind is dict:
        return f"{{{', '.join(f'{source_of(key, inner)}: {source_of(one, inner)}' for key, one in value.items())}}}"
    if kind is deque:
        limit = "" if value.maxlen is None else f", maxlen={value.maxlen}"
        return f"deque({source_of(list(value), inner)}{limit})"
    if kind in (set, frozenset) and value:
        elements = f"{{{', '.join(sorted(source_of(one, inner) for one in value))}}}"
        return elements if kind is set else f"frozenset({elements})"
    numpy = sys.modules.get("numpy")
    if numpy is not None and kind is numpy.ndarray and not value.dtype.hasobject and value.dtype.names is None:
        return _array(value, inner)
    if is_frame(value):
        return _frame(value, inner) or _repr(value)
    return _repr(value)


def _array(value: Any, depth: int) -> str:
    dtype = repr(str(value.dtype))
    if not value.size:
        # Its nested lists would lose all axes after the empty one.
        return f"numpy.zeros({value.shape}, {dtype})"
    elements = value.astype(str) if value.dtype.kind in "mM" else value
    return f"numpy.array({source_of(elements.tolist(), depth)}, {dtype})"


def _frame(value: Any, depth: int) -> str:
    """A table or a column of ``pandas``; nothing if what this writes would not be the same."""
    pandas: Any = sys.modules["pandas"]
    of_columns = value.ndim > 1
    data: Any = {name: value[name].tolist() for name in value.columns} if of_columns else value.tolist()
    options: dict[str, Any] = {}
    if not value.index.equals(pandas.RangeIndex(value.shape[0])):
        options["index"] = value.index.tolist()
    if not of_columns:
        options |= {"dtype": str(value.dtype)} | ({} if value.name is None else {"name": value.name})
    try:
        made = type(value)(data, **options)
        types = {
            name: str(value[name].dtype)
            for name in (data if of_columns else ())
            if made[name].dtype != value[name].dtype
        }
        same = (made.astype(types) if types else made).equals(value)
    except Exception:  # such as columns of one name, or types that have no name
        return ""
    more = f".astype({source_of(types, depth)})" if types else ""
    return f"{call_source(f'pandas.{type(value).__name__}', [data], options)}{more}" if same else ""


def _repr(value: Any) -> str:
    try:
        text = repr(value)
    except Exception:
        return f"<{type(value).__qualname__} object>"
    return text if isinstance(text, str) else f"<{type(value).__qualname__} object>"


def name_of(function: Callable[..., Any]) -> str:
    """The name of a function, as a call would have it within its module."""
    name = getattr(function, "__qualname__", None) or getattr(function, "__name__", None)
    return _local(str(name)) if name else type(function).__qualname__


def _local(name: str) -> str:
    """A qualified name as it is where it was defined."""
    return name.rpartition("<locals>.")[2]


def call_source(name: str, positional: Iterable[Any], keywords: Mapping[str, Any]) -> str:
    """A call as Python source.

    Args:
        name: the function's.
        positional: arguments without names.
        keywords: arguments with names.
    """
    told = [source_of(value) for value in positional]
    told += [f"{key}={source_of(value)}" for key, value in keywords.items()]
    return f"{name}({', '.join(told)})"
