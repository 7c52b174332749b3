"""Attributes that are found in the dictionary of all of an object: ``vars(thing).items()``, ``dict(vars(thing))``.

Rules of this module:

* What is found in the dictionary is told as what it is: the attributes, each as if it had been asked for by name.
* To ask for its items or values finds nothing yet; who goes through them finds one attribute after the other.
"""

from __future__ import annotations

import gc

from ..points.all_attributes import MOST
from . import values
from .access import WHOLE, Access

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from typing import Any

_FINDS_NOTHING = ("items(", "keys(", "values(", "len(")
_NONE: dict[str, Any] = {}
_VIEWS = (type(_NONE.items()), type(_NONE.values()))
_WITH_VALUES = tuple(type(iter(one)) for one in (_NONE.items(), _NONE.values()))


def next_attribute(iterator: Any, thing: object) -> str | None:
    """The attribute that an iterator comes to next; None if it does not give what attributes are, or is at its end.

    Args:
        iterator: of a dictionary.
        thing: the object whose attributes are in that; None if it is no such dictionary.
    """
    if thing is None or not values.exactly(iterator, *_WITH_VALUES):
        return None
    names = [*(values.own_values(thing) or {})]
    left = iterator.__length_hint__()
    name = names[-left] if 0 < left <= len(names) else None
    return name if type(name) is str else None


def attributes_found(access: Access, thing: object) -> list[str]:
    """The attributes that a look at a dictionary finds; empty if it is told as a look at the dictionary.

    Args:
        access: to a container.
        thing: the object whose attributes are in that; None if it is no such dictionary.
    """
    looks = access.sort == WHOLE and access.reads and not access.writes and not access.detail.startswith(_FINDS_NOTHING)
    if thing is None or not looks:
        return []
    names = [name for name in values.own_values(thing) or {} if type(name) is str]
    return names if len(names) <= MOST else []


def viewed(view: object) -> object:
    """The dictionary whose items or values the interpreter's own view shows; anything else as it is."""
    if not values.exactly(view, *_VIEWS):
        return view
    return next((one for one in gc.get_referents(view) if values.is_a(one, dict)), view)
