"""Locks made before the runtime was loaded, by modules that a ``.pth`` file of the environment imports.

Locks of the import system are not among them: they live only as long as one import.
"""

from __future__ import annotations

import gc
import sys

from ..observing import attributes_of
from . import locks

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from typing import Any


def replace_early_locks(lock_type: Any, rlock_type: Any) -> None:
    """Replace the interpreter's free locks in modules, objects, lists and bound methods by ours.

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
        places.append(attributes_of(module))
    for place in places:
        names = place if type(place) is dict else attributes_of(place)
        if names:
            for name, value in list(names.items()):
                new = stand_in(value)
                if new is not value:
                    names[name] = new
        elif type(place) is list:
            for index, value in enumerate(place):
                new = stand_in(value)
                if new is not value:
                    place[index] = new
