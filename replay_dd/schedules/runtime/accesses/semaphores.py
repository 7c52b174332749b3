"""What a ``with`` does to a semaphore of the library: it takes a permit as it begins, and gives that back as it ends.

The library's own code does so, where nothing is observed. What a ``with`` does to a condition is told already: it takes
the condition's lock.
"""

from __future__ import annotations

from . import values
from .access import CALLS, OBJECT, Access

_SEMAPHORES = ("Semaphore", "BoundedSemaphore")


def is_semaphore(manager: object) -> bool:
    """Whether a context manager is a semaphore of the library, not of a class that the program derives from one."""
    kind = type(manager)
    return values.module_name(kind) == "threading" and values.type_name(kind) in _SEMAPHORES


def use_of(semaphore: object, name: str, *, ends: bool) -> Access:
    """What a ``with`` does to a semaphore as it begins, or as it ends.

    Args:
        semaphore: the context manager.
        name: as a person would call it.
        ends: whether the ``with`` ends.
    """
    access = Access(CALLS, OBJECT, semaphore, "", name)
    access.reads, access.writes = not ends, True
    access.detail = "release() at the end of with" if ends else "acquire()"
    access.old = values.state(semaphore)
    return access
