"""Finds a lock of the program by the name that code would use for it, such as ``self._lock``.

Rules of this module:

* Nothing of the program runs: a variable is looked up in the frame, an attribute where it is stored.
"""

from __future__ import annotations

from ..compat import CONDITION_LOCK
from ..observing import attribute, is_a, local_value, variable
from ..stdlib.locks import Lock, RLock

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from types import FrameType
    from typing import Any


def lock_named(expression: str, frame: FrameType) -> Any:
    """The lock (or that of the condition) that an expression of names and dots means in a frame; None if none.

    Args:
        expression: such as ``self._lock`` or ``LOCK``.
        frame: where it is looked up.
    """
    first, *rest = expression.split(".")
    found = local_value(frame, first)
    if found is None:
        found = variable(frame, first)
    for name in rest:
        if found is None:
            return None
        found = attribute(found, name)
    if found is not None and not is_a(found, (Lock, RLock)):
        found = attribute(found, CONDITION_LOCK)
    return found if found is not None and is_a(found, (Lock, RLock)) else None
