"""What a call of a method does to its object, as far as the class of the object tells.

Rules of this module:

* Methods of the program are no accesses by themselves: what they touch shows in their own code.
* Modules, classes and what cannot change are not touched by calls of what they have.
* Of containers and of objects of the standard library, it is known which methods only look. All others may change them.
"""

from __future__ import annotations

import sys
from _collections import deque  # type: ignore[import-not-found]  # the program may not have loaded `collections`

from ..observing import in_class, is_a

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType
    from typing import Any

FILE = "/"  # what functions that ask about a file touch of its path
CONTENT = "[]"  # what methods, subscripts and containment touch of an object
_FUNCTION = type(lambda: None)
_MODULE = type(sys)
_UNCHANGING = (str, int, float, complex, bytes, tuple, frozenset, type(None), type, _MODULE, range, slice, _FUNCTION)
# What asks the system about a file: functions of modules with its path, and methods of paths. No event announces them.
ASKING_FUNCTIONS = frozenset(
    ["access", "exists", "getmtime", "getsize", "isdir", "isfile", "islink", "lexists", "lstat", "stat"]
)
ASKING_METHODS = frozenset(["exists", "is_dir", "is_file", "is_symlink", "lstat", "stat"])
CONTAINERS = (dict, list, set, deque, bytearray)
_SOME: tuple[Any, ...] = ([], {}, {}.items(), {}.values(), set(), deque())
ITERATORS = tuple(type(iter(one)) for one in _SOME)  # what goes through containers


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_LOOKS_INTO_CONTAINER = _names(
    "__contains__ __getitem__ __iter__ __len__ __reversed__ copy count difference get index intersection isdisjoint "
    "issubset issuperset items keys symmetric_difference union values"
)
_LOOKS = _names("__iter__ __len__ cancelled done empty full isSet is_alive is_set locked qsize running wait")


def effect_of(holder: object, method: str, is_counted: Callable[[CodeType], bool]) -> tuple[str, bool] | None:
    """What calling a method of an object does.

    Args:
        holder: the object.
        method: the name of the method.
        is_counted: whether code has yield points of its own.

    Returns:
        What of the object it touches, and whether it may change that; None if it does not touch it, or is code that
        tells this itself.
    """
    if is_a(holder, _UNCHANGING):
        return None
    function = in_class(type(holder), method)
    if function is None:
        return None if method[:2] == "__" else (method, False)
    if type(function) is _FUNCTION and is_counted(function.__code__):
        return None
    looks = _LOOKS_INTO_CONTAINER if is_a(holder, CONTAINERS) else _LOOKS
    return CONTENT, method not in looks
