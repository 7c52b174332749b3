"""Notifications that wake every thread that waits, not just one.

Rules of this module:

* ``Condition.notify()`` wakes as many threads as its default says. While a thread stands in the lines, that is all of
  them; whoever names a number gets what it names.
* Nobody is held back.
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

_ONE, _ALL = (1,), (sys.maxsize,)


class VirtualNotifyAll:
    """Lets ``notify()`` do in some lines what ``notify_all()`` does.

    Args:
        scheduler: who runs.
        at: the lines; as for :class:`Regions`.
    """

    def __init__(self, scheduler: Scheduler, at: Sequence[tuple[str, str, int, int]]) -> None:
        self._at = Regions(scheduler.places, at)
        self._wakes = _ONE

    def at_instruction(self, thread: ManagedThread, code: CodeType, position: int, is_line: bool) -> Waitable | None:
        """What a thread needs before it runs the instruction that it has reached: nothing."""
        wakes = _ALL if self._at.has(code, position, is_line) else _ONE
        if wakes is not self._wakes:
            self._wakes = wakes
            # Whoever can be notified has loaded it.
            sys.modules["threading"].Condition.notify.__defaults__ = wakes
        return None

    def enter(self, thread: ManagedThread, needed: object) -> None:
        """A thread gets what it needed."""

    def at_operation(self, thread: ManagedThread, waiting: Waitable | None) -> Waitable | None:
        """What a thread needs for an operation that it is about to do: what it says."""
        return waiting

    def at_end(self, thread: ManagedThread) -> None:
        """A thread has ended."""
