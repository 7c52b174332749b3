"""Values that ``ctypes`` keeps outside of Python's objects, such as those of ``multiprocessing.Value``.

Their attribute ``value`` is computed by code of the interpreter. That of a synchronized one takes a lock for each look
and each store, so ``+=`` takes it twice.
"""

from __future__ import annotations

import sys

from . import values

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from typing import Any

NAME = "value"


def value_kept(thing: Any) -> tuple[object, object] | None:
    """(the value of ``ctypes`` that holds it, what it is) for what has one; None for anything else.

    Args:
        thing: whose attribute ``value`` is asked for.
    """
    if values.module_name(type(thing)) == "multiprocessing.sharedctypes":
        thing = (values.own_values(thing) or {}).get("_obj")
    base = vars(sys.modules["_ctypes"]).get("_SimpleCData") if "_ctypes" in sys.modules else None
    owner, descriptor = values.in_class(type(thing), NAME)
    return None if base is None or owner is not base else (thing, descriptor.__get__(thing))
