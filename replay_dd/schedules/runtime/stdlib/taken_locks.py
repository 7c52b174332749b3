"""Which locks threads have, as seen at their operations.

Rules of this module:

* Nothing is kept alive. A thread that waits for a condition for so long makes a lock, takes it and leaves it behind: a
  pool of threads does that for each task.
"""

from __future__ import annotations

import _weakref

from ..observing import is_a
from .locks import Lock, RLock, holder_of

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from ..baton.thread import ManagedThread


class TakenLocks:
    """The locks that threads were about to take, and still have."""

    def __init__(self) -> None:
        self._of: dict[str, list[_weakref.ref[object]]] = {}

    def at_operation(self, thread: ManagedThread) -> list[object]:
        """Those that a thread has at an operation; the one that it takes there counts at the next one."""
        known = self._of.get(thread.name, ())
        taken = [(one, lock) for one in known if (lock := one()) is not None and holder_of(lock) is thread]
        kept = [one for one, _ in taken]
        waiting = thread.waiting
        if is_a(waiting, (Lock, RLock)) and all(lock is not waiting for _, lock in taken):
            kept.append(_weakref.ref(waiting))
        self._of[thread.name] = kept
        return [lock for _, lock in taken]
