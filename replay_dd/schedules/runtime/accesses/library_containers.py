"""Containers that the standard library writes in Python: what is in them is in a built-in one that they hold.

Rules of this module:

* Nothing is observed in the library's own code. So what the program does to them is told as if they were built in.
* What one of ``collections`` holds stands for it, as classes that are derived from it use that directly.
* One that knows its elements only weakly stands for itself; an element that is gone is not in it.
* The environment is in a dictionary too, as bytes.
"""

from __future__ import annotations

from ..observing import local_value
from . import values
from .values import MISSING

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from typing import Any

_HOLDING = (("collections", "UserDict"), ("collections", "UserList"))
_CHAIN = ("collections", "ChainMap")
_VALUES_WEAK, _KEYS_WEAK = ("weakref", "WeakValueDictionary"), ("weakref", "WeakKeyDictionary")
_WEAK = (_VALUES_WEAK, _KEYS_WEAK, ("_weakrefset", "WeakSet"))
_ENVIRONMENT = ("os", "_Environ")
_LIBRARY = ("weakref", "_weakrefset", "collections", "collections.abc", "os")  # where they are iterated


def held(thing: object, key: object = MISSING) -> tuple[object, str, object] | None:
    """(what has the container that stands for this one, the name of its attribute, that container); None for others.

    Args:
        thing: anything.
        key: of a chain of mappings, the first one that has this key stands for it; the first one of all if none has.
    """
    if _is_one_of(thing, *_HOLDING):
        data = _own(thing, "data")
        return (thing, "data", data) if values.is_a(data, dict, list) else None
    if _is_one_of(thing, _CHAIN):
        maps = _own(thing, "maps")
        plain = [one for one in maps if values.is_a(one, dict)] if type(maps) is list else []
        found = [one for one in plain if key is not MISSING and values.item(one, key) is not MISSING]
        return (thing, "", (found or plain)[0]) if plain else None
    return None


def inside(thing: object) -> Any:
    """The built-in container inside of one that stands for itself; None of anything else."""
    if (values.module_name(type(thing)), values.type_name(type(thing))) == _ENVIRONMENT:
        data = _own(thing, "_data")
    else:
        data = _own(thing, "data") if _is_one_of(thing, *_WEAK) else None
    return data if values.is_a(data, dict, set) else None


def found_in(thing: object, key: object) -> object:
    """What a container that stands for itself has under a key; of a set, the element itself; MISSING if nothing."""
    data = inside(thing)
    if values.is_a(data, set):
        return key if any(values.referent(one) is key for one in set.__iter__(data)) else MISSING
    if _is_one_of(thing, _KEYS_WEAK):
        pairs = dict.items(data)
        return next((value for one, value in pairs if values.referent(one) is key), MISSING)
    if _is_one_of(thing, _VALUES_WEAK):
        return values.referent(values.item(data, key))
    return values.item({_text(name): _text(value) for name, value in dict.items(data)}, key)


def is_weak_mapping(thing: object) -> bool:
    """Whether it is a mapping whose values are gone once nobody else refers to them."""
    return _is_one_of(thing, _VALUES_WEAK)


def iterated_in(frame: Any) -> object:
    """The container through which a generator of the library goes; MISSING if it is none of these.

    Args:
        frame: of the generator.
    """
    if frame is None or frame.f_globals.get("__name__") not in _LIBRARY:
        return MISSING
    own = local_value(frame, "self")
    of_view = values.attribute(own, "_mapping")[2]
    return own if of_view is MISSING else of_view


def _own(thing: object, name: str) -> object:
    return (values.own_values(thing) or {}).get(name, MISSING)


def _is_one_of(thing: object, *kinds: tuple[str, str]) -> bool:
    return any((values.module_name(base), values.type_name(base)) in kinds for base in values.mro(type(thing)))


def _text(value: object) -> object:
    return value.decode("utf-8", "surrogateescape") if type(value) is bytes else value
