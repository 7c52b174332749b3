"""Locks that were made before the runtime came: by modules that a ``.pth`` file of the environment imports.

Locks of the import system are none of these: they live as long as one import.
"""

from __future__ import annotations

import gc
import sys

from . import locks

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from typing import Any


def replace_early_locks(lock_type: Any, rlock_type: Any) -> None:
    """Put locks of ours wherever a module, an object, a list or a bound method has a free one of the interpreter's.

    Args:
        lock_type: the interpreter's own type of locks.
        rlock_type: and of reentrant ones.
    """
    replaced: dict[int, tuple[object, object]] = {}
    method_type = type(len)

    def stand_in(value: Any) -> Any:
        """What stands in for a value; the value itself where nothing does."""
        kind = type(value)
        if kind is method_type and type(value.__self__) in (lock_type, rlock_type):
            owner = stand_in(value.__self__)
            return value if owner is value.__self__ else getattr(owner, value.__name__)
        if kind is lock_type and not value.locked():
            return replaced.setdefault(id(value), (value, locks.allocate_lock()))[1]
        if kind is rlock_type and "unlocked" in repr(value):
            return replaced.setdefault(id(value), (value, locks.RLock()))[1]
        return value

    # Without threading only modules have locks, and there is no need to look at every object.
    places = gc.get_objects() if "threading" in sys.modules else []
    for module in list(sys.modules.values()):
        places.append(getattr(module, "__dict__", {}))
    for place in places:
        names = place if type(place) is dict else _dictionary_of(place)
        if names is not None:
            for name, value in list(names.items()):
                new = stand_in(value)
                if new is not value:
                    names[name] = new
        elif type(place) is list:
            for index, value in enumerate(place):
                new = stand_in(value)
                if new is not value:
                    place[index] = new


def _dictionary_of(thing: Any) -> dict[Any, Any] | None:
    """The attributes of an instance of a class in Python, without asking anything of it that could answer back."""
    kind = type(thing)
    if kind.__flags__ & (1 << 9) == 0 or isinstance(thing, type):  # Py_TPFLAGS_HEAPTYPE
        return None
    try:
        names = object.__getattribute__(thing, "__dict__")
    except (AttributeError, TypeError):
        return None
    return names if type(names) is dict else None
