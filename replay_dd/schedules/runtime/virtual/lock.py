"""A virtual lock: regions of the program that only one thread at a time is inside.

Rules of this module:

* A thread takes the lock at the first yield point that it reaches in a region, before the instruction there runs, and
  gives it back at the first one outside, before anybody else is chosen. So taking it is a wait like any other, and no
  yield points are added: thread times stay what they are.
* The lock is re-entrant, and stays taken while its holder waits for something else.
* A lock of the program can stand in its place. It is then really taken, as ``with`` around the region would do, and
  whoever waits for it, the program or a region, waits for the same lock. A condition that waits gives it back.
* A region may itself take that lock further inside. What would be a thread that locks itself out is then one that has
  the lock already: the repair would move the inner ``with`` outwards. Nor does a region under that lock take it again.
"""

from __future__ import annotations

import sys

from ..channel import NOTE
from ..stdlib.lock_operations import take
from ..stdlib.locks import Lock
from .expression import lock_named
from .regions import Regions

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import CodeType
    from typing import Any

    from ..baton.scheduler import Scheduler
    from ..baton.thread import ManagedThread, Waitable

NOT_TAKEN = "so it was not taken there"  # ends the note that tells that the lock of the program was not found


class Turnstile:
    """A lock that the program does not have; what it needs to be waited for."""

    def __init__(self) -> None:
        self.holder: ManagedThread | None = None

    def ready_for(self, thread: ManagedThread) -> bool:
        return self.holder is None or self.holder is thread

    def explain(self) -> str:
        who = "another thread" if self.holder is None else f"thread {self.holder.name}"
        return f"waits for the virtual lock, which {who} has"


class VirtualLock:
    """Keeps regions of the program atomic.

    Args:
        scheduler: who runs.
        regions: as for :class:`Regions`.
        taking: the lock of the program to take, as the code in the regions would name it; empty for one of its own.
    """

    def __init__(self, scheduler: Scheduler, regions: Sequence[tuple[str, str, int, int]], taking: str) -> None:
        self._scheduler = scheduler
        self._regions = Regions(scheduler.places, regions)
        self._taking = taking
        self._turnstile = Turnstile()
        self._held: dict[ManagedThread, list[Any]] = {}
        self._lent: set[ManagedThread] = set()  # who took the lock of the program once more, inside
        self._told = False

    def at_instruction(self, thread: ManagedThread, code: CodeType, position: int, is_line: bool) -> Waitable | None:
        """What a thread needs before it runs the instruction that it has reached; None if it may."""
        enters = self._regions.has(code, position, is_line)
        if thread in self._held:
            if not enters:
                self._look(thread)
            self._take_back(thread)
        wanted = self._wanted(code) if enters else None
        if type(wanted) is Lock and wanted._holder is thread:
            return None  # the region stands under that lock: nobody has to wait for itself
        return None if wanted is None or wanted in self._held.get(thread, ()) else wanted

    def enter(self, thread: ManagedThread, needed: Any) -> None:
        """A thread gets what it needed, which is free."""
        if type(needed) is Turnstile:
            needed.holder = thread
        elif type(needed) is Lock:
            needed._holder, needed._taken = thread, thread.place
        else:
            take(needed, 1)
        self._held.setdefault(thread, []).append(needed)

    def at_operation(self, thread: ManagedThread, waiting: Waitable | None) -> Waitable | None:
        """What a thread needs for an operation that it is about to do: what it says, unless it has that already."""
        if thread not in self._held:
            return waiting
        self._look(thread)
        if type(waiting) is Lock and waiting in self._held.get(thread, ()):
            if waiting._holder is thread and thread not in self._lent:
                self._lent.add(thread)  # until it gives it back
                return None
        elif not (type(waiting) is Lock and waiting._made is not None and waiting._made[2] == "Condition.wait"):
            self._take_back(thread)
        return waiting

    def at_end(self, thread: ManagedThread) -> None:
        """A thread has ended."""
        self._leave(thread)

    def _wanted(self, code: CodeType) -> Any:
        """The lock that guards the region in which the running thread stands; None if it cannot be found."""
        if not self._taking:
            return self._turnstile
        frame = sys._getframe(1)
        while frame.f_code is not code and frame.f_back is not None:
            frame = frame.f_back
        found = lock_named(self._taking, frame)
        if found is None and not self._told:
            self._told = True
            place = f"{self._scheduler.places.short(code.co_filename)}:{frame.f_lineno}"
            self._scheduler.send(NOTE, "virtual", f"`{self._taking}` is no lock at {place}, {NOT_TAKEN}")
        return found

    def _look(self, thread: ManagedThread) -> None:
        if self._regions.innermost(sys._getframe(1)) is None:
            self._leave(thread)

    def _take_back(self, thread: ManagedThread) -> None:
        """The lock stays with a thread that has just given back what it took of it inside."""
        if thread in self._lent:
            for lock in self._held[thread]:
                if type(lock) is Lock and lock._holder is None:
                    lock._holder = thread
                    self._lent.discard(thread)

    def _leave(self, thread: ManagedThread) -> None:
        lent = thread in self._lent
        for lock in reversed(self._held.pop(thread, [])):
            if type(lock) is Turnstile:
                lock.holder = None
            elif type(lock) is Lock:
                if lock._holder is thread and not lent:
                    lock._holder = lock._taken = None
            elif lock._holder is thread:
                lock._count -= 1
                if lock._count == 0:
                    lock._holder = lock._taken = None
        self._lent.discard(thread)
