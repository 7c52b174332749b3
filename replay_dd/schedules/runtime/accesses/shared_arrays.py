"""Arrays that ``ctypes`` keeps outside of Python's objects, such as those of ``multiprocessing.Array``.

Rules of this module:

* Only arrays whose items are found by code of the interpreter are looked at: a class of the program that finds them
  itself is seen in its own code.
* One that is synchronized takes a lock for each look and each store, so ``+=`` takes it twice.
"""

from __future__ import annotations

import gc
import sys

from . import values
from .values import MISSING, UNKNOWN

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from typing import Any


def array_kept(thing: Any) -> object:
    """The array of ``ctypes`` that holds the items of a thing; None of anything else.

    Args:
        thing: such an array, or a synchronized one around it.
    """
    if values.module_name(type(thing)) == "multiprocessing.sharedctypes":
        thing = (values.own_values(thing) or {}).get("_obj", thing)  # arrays themselves may be of classes made there
    base = _of_ctypes("Array")
    found = base is not None and values.in_class(type(thing), "__getitem__")[0] is base
    return thing if found else None


def element_kept(array: Any, key: object) -> tuple[int, object]:
    """(the index of an item counted from the front, its value) in an array that :func:`array_kept` has found.

    Args:
        array: the array.
        key: the index; a negative one counts from the end.
    """
    base: Any = _of_ctypes("Array")
    index: Any = key
    length = base.__len__(array)
    index = index + length if index < 0 else index
    if not 0 <= index < length:
        return index, MISSING
    kind = values.in_class(type(array), "_type_")[1]
    # Of a class that the program has derived, an item is an object of that class.
    plain = _of_ctypes("_SimpleCData") in values.mro(kind)[:2]
    return index, base.__getitem__(array, index) if plain else UNKNOWN


def array_iterated(iterator: object) -> object:
    """The array that a built-in iterator goes through by index; None of any other."""
    if values.module_name(type(iterator)) != "builtins" or values.type_name(type(iterator)) != "iterator":
        return None
    return next((found for found in map(array_kept, gc.get_referents(iterator)) if found is not None), None)


def _of_ctypes(name: str) -> type | None:
    return vars(sys.modules["_ctypes"]).get(name) if "_ctypes" in sys.modules else None
