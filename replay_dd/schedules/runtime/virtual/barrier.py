"""A virtual barrier: threads that come to some lines wait there until all of them have come as often.

Rules of this module:

* A thread comes to the lines when it enters them; what it calls from there, and the lines themselves, are one visit.
* A thread that has ended is not waited for; one that has not been started yet is.
"""

from __future__ import annotations

import sys

from .regions import Regions

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import CodeType

    from ..baton.scheduler import Scheduler
    from ..baton.thread import ManagedThread, Waitable


class VirtualBarrier:
    """Lets threads go on at some lines only together.

    Args:
        scheduler: who runs.
        before: the lines before which they wait; as for :class:`Regions`.
        threads: their names.
    """

    def __init__(
        self, scheduler: Scheduler, before: Sequence[tuple[str, str, int, int]], threads: Sequence[str]
    ) -> None:
        self._before = Regions(scheduler.places, before)
        self._visits = dict.fromkeys(threads, 0)
        self._inside: set[ManagedThread] = set()

    def ready_for(self, thread: ManagedThread) -> bool:
        own = self._visits[thread.name]
        return all(visits >= own for visits in self._visits.values())

    def explain(self) -> str:
        return "waits at a virtual barrier for other threads"

    def at_instruction(self, thread: ManagedThread, code: CodeType, position: int, is_line: bool) -> Waitable | None:
        """What a thread needs before it runs the instruction that it has reached; None if it may."""
        if thread.name not in self._visits:
            return None
        if self._before.has(code, position, is_line):
            if thread not in self._inside:
                self._inside.add(thread)
                self._visits[thread.name] += 1
            return self
        if thread in self._inside and self._before.innermost(sys._getframe(1)) is None:
            self._inside.discard(thread)
        return None

    def enter(self, thread: ManagedThread, needed: object) -> None:
        """A thread gets what it needed."""

    def at_operation(self, thread: ManagedThread, waiting: Waitable | None) -> Waitable | None:
        """What a thread needs for an operation that it is about to do: what it says."""
        return waiting

    def at_end(self, thread: ManagedThread) -> None:
        """A thread has ended."""
        self._visits.pop(thread.name, None)
