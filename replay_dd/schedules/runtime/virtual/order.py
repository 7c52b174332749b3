"""A virtual order: a thread that comes to one place waits until another one has passed a second place.

Rules of this module:

* The second place is passed as soon as a thread that was inside of its lines leaves them, waits there, or ends. From
  then on nobody waits for it any more. If it has to be passed several times, a wait there does not count.
* The thread that waits does so before the first instruction of its lines. It does not wait for itself.
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


class VirtualOrder:
    """Lets what is in some lines happen only after something in other lines has.

    Args:
        scheduler: who runs.
        later: the lines before which a thread waits; as for :class:`Regions`.
        earlier: the lines that have to be passed first.
        times: how often.
    """

    def __init__(
        self,
        scheduler: Scheduler,
        later: Sequence[tuple[str, str, int, int]],
        earlier: Sequence[tuple[str, str, int, int]],
        times: int,
    ) -> None:
        self._later = Regions(scheduler.places, later)
        self._earlier = Regions(scheduler.places, earlier)
        self._inside: set[ManagedThread] = set()
        self._left, self._waits_count = times, times == 1

    @property
    def _happened(self) -> bool:
        return self._left <= 0

    def ready_for(self, thread: ManagedThread) -> bool:
        return self._happened

    def explain(self) -> str:
        return "waits for a virtual order: another thread has to pass a place first"

    def at_instruction(self, thread: ManagedThread, code: CodeType, position: int, is_line: bool) -> Waitable | None:
        """What a thread needs before it runs the instruction that it has reached; None if it may."""
        if self._happened:
            return None
        if self._earlier.has(code, position, is_line):
            self._inside.add(thread)
            return None
        if thread in self._inside:
            self._look(thread)
        return self if not self._happened and self._later.has(code, position, is_line) else None

    def enter(self, thread: ManagedThread, needed: object) -> None:
        """A thread gets what it needed."""

    def at_operation(self, thread: ManagedThread, waiting: Waitable | None) -> Waitable | None:
        """What a thread needs for an operation that it is about to do: what it says."""
        if thread in self._inside and not self._happened:
            if self._waits_count and waiting is not None and not waiting.ready_for(thread):
                self._left = 0
            else:
                self._look(thread)
        return waiting

    def at_end(self, thread: ManagedThread) -> None:
        """A thread has ended."""
        if thread in self._inside:
            self._passed(thread)

    def _look(self, thread: ManagedThread) -> None:
        if self._earlier.innermost(sys._getframe(1)) is None:
            self._passed(thread)

    def _passed(self, thread: ManagedThread) -> None:
        self._inside.discard(thread)
        self._left -= 1
