"""What a ``with`` does to a semaphore of the library: it takes a permit as it begins, and gives that back as it ends.

The library's own code does so, where nothing is observed. What a ``with`` does to a condition is told already: it takes
the condition's lock.

Rules of this module:

* Where an exception leaves the ``with``, no instruction is a yield point; but to give the permit back, the library
  takes a lock of the semaphore.
"""

from __future__ import annotations

from ..compat import NAMES
from ..observing import local_value
from . import values
from .access import CALLS, OBJECT, Access
from .made_items import position_of

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from types import FrameType

_SEMAPHORES = ("Semaphore", "BoundedSemaphore")


def is_semaphore(manager: object) -> bool:
    """Whether a context manager is a semaphore of the library, not of a class that the program derives from one."""
    kind = type(manager)
    return values.module_name(kind) == "threading" and values.type_name(kind) in _SEMAPHORES


def left_by_exception(frame: FrameType | None, user_frame: FrameType, lock: object) -> object:
    """The semaphore to which a ``with`` that an exception leaves is about to give its permit back; None if none is.

    Args:
        frame: what has just taken a lock.
        user_frame: the code of the program that this was done for.
        lock: the lock.
    """
    code = user_frame.f_code
    if NAMES[code.co_code[position_of(user_frame)]] != "WITH_EXCEPT_START":
        return None
    while frame is not None and frame is not user_frame:
        semaphore = local_value(frame, "self")
        if frame.f_code.co_name == "__exit__" and is_semaphore(semaphore):
            condition = (values.own_values(semaphore) or {}).get("_cond")
            return semaphore if values.attribute(condition, "_lock")[2] is lock else None
        frame = frame.f_back
    return None


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
