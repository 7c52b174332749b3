"""Results that `functools.lru_cache` keeps: it looks for one, and stores what the function gives if there is none.

Rules of this module:

* The cache is a dictionary of C that no attribute leads to; the collector knows it. Nothing of the program is called.
* The look is told at the call, the store when the call is over; see ``made_items.py``.
"""

from __future__ import annotations

import gc

from . import values
from .access import ITEM, READS, Access

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from typing import Any


def look_for_result(function: Any, own: object, arguments: list[Any]) -> Access | None:
    """The look of a memoised function for a result that it has; None of any other function.

    Args:
        function: what is called.
        own: the object whose method it is; MISSING if it is none.
        arguments: what it gets, by position.
    """
    if (values.module_name(type(function)), values.type_name(type(function))) != ("functools", "_lru_cache_wrapper"):
        return None
    attributes = values.own_values(function) or {}
    found = [one for one in gc.get_referents(function) if type(one) is dict and one is not attributes]
    if len(found) != 1:
        return None
    taken = arguments if own is values.MISSING or own is values.UNKNOWN else [own, *arguments]
    key = taken[0] if len(taken) == 1 and values.exactly(taken[0], int, str) else tuple(taken)
    shown = ", ".join([values.text_of(one) or values.class_name(type(one)) for one in taken])
    name = str(attributes.get("__qualname__", "result")).rpartition("<locals>.")[2]
    access = Access(READS, ITEM, found[0], values.key_text(key), f"{name}({shown})")
    access.old = values.UNKNOWN if values.item(found[0], key) is not values.MISSING else values.MISSING
    access.looked_up, access.fills = key, True
    return access
