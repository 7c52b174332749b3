"""Values of types that are written in C, taken apart as for pickling: dates, decimals, arrays, iterators.

Rules of this module:

* Only what the types themselves say in C is asked; a method of the program is never called.
* What cannot be taken apart cannot be compared: a lock, a generator, an open file.
"""

from __future__ import annotations

import types
import warnings
from typing import Any

_IN_C = (types.MethodDescriptorType, types.ClassMethodDescriptorType)
_PROTOCOL = 4
HEAP_TYPE, _IMMUTABLE_TYPE = 1 << 9, 1 << 8  # Py_TPFLAGS_HEAPTYPE, Py_TPFLAGS_IMMUTABLETYPE


def parts_of(value: Any) -> tuple[Any, ...] | None:
    """What a value is made of, and is equal for equal values; None if that cannot be told."""
    for kind in type(value).__mro__[:-1]:
        for name, arguments in (("__reduce_ex__", (_PROTOCOL,)), ("__reduce__", ())):
            reduce = kind.__dict__.get(name)
            if isinstance(reduce, _IN_C):
                return _taken_apart(reduce, value, arguments)
            if reduce is not None:
                return None
    return None


def _taken_apart(reduce: Any, value: Any, arguments: tuple[int, ...]) -> tuple[Any, ...] | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = reduce(value, *arguments)
    except Exception:
        return None
    if type(found) is str:
        return (found,)
    if type(found) is not tuple or len(found) < 2:
        return None
    parts: list[Any] = list(found[1:3])
    for items in found[3:5]:
        if items is not None:
            parts.append(list(items) if is_of_c(type(items)) else "?")
    return tuple(part for part in parts if part is not None)


def is_of_c(kind: type) -> bool:
    """Whether its values may hold what no attribute shows."""
    bases = kind.__mro__[:-1]
    if any(not base.__flags__ & HEAP_TYPE or base.__flags__ & _IMMUTABLE_TYPE for base in bases):
        return True
    return kind.__dictoffset__ == 0 and not any("__slots__" in base.__dict__ for base in bases)
