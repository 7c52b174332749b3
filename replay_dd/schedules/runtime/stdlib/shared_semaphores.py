"""Locks and semaphores of ``multiprocessing`` that other processes have, too.

Rules of this module:

* When another process gives one back, no schedule determines. So a thread that waits for one waits for something
  outside: it gives up the baton, and the log has the moment and the answer.
* A call that does not wait is an operation as well. So is looking whether one is at zero, as a queue does that asks
  whether it is full: the answers are in the log, and a replay gives them again.
* That one is free says nothing, as another process may be faster. Then the thread waits anew, in a wait of its own. A
  replay that is slower where the recorded run was not tries on.
"""

from __future__ import annotations

import sys

from ..accelerator.own_memory import use_own
from .lock_operations import deadline_after

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ..baton.moments import OutsideWait
    from ..io.descriptors import Descriptors

_BUSY, _TAKEN = 0, 1  # answers of an attempt


class SharedSemaphores:
    """Takes semaphores that other processes may have.

    Args:
        descriptors: who makes waits for things outside.
        recursive: the kind of those that a thread may take again.
    """

    def __init__(self, descriptors: Descriptors, recursive: int) -> None:
        self._descriptors = descriptors
        self._moments = descriptors.moments
        self._recursive = recursive

    def acquire(self, real: Any, block: bool, timeout: float | None) -> bool:
        """What ``acquire`` of a ``_multiprocessing.SemLock`` returns; the timeout is in virtual seconds."""
        if not self._descriptors.has_baton() or (real.kind == self._recursive and real._is_mine()):
            return bool(real.acquire(block, timeout))
        frame = sys._getframe(2)
        end = None if timeout is None or not block else deadline_after(max(timeout, 0))
        while True:
            wait = self._descriptors.make_other_wait(lambda: not real._is_at_zero(), "a lock of other processes")
            if not self._is_tried(wait, frame, block, end):
                return False
            taken = self._take(wait, real)
            self._moments.answered(wait, _TAKEN if taken else _BUSY)
            if taken or not block:
                return taken

    def _is_tried(self, wait: OutsideWait, frame: Any, block: bool, end: int | None) -> bool:
        """Wait until there is a reason to try; False if there was none, which is in the log then."""
        was_busy = wait.expected is not None and wait.expected.answer == _BUSY
        if block:
            if was_busy:
                before = use_own(True)
                wait.is_there = lambda: True  # it was free for a moment, and need not be so again
                use_own(before)
            timeout_s = None if end is None else (end - deadline_after(0)) / 1e9
            return self._descriptors.wait(frame, wait, timeout_s)
        self._descriptors.yield_point(frame)
        if was_busy:
            self._moments.answered(wait, _BUSY)
            return False
        return True

    def _take(self, wait: OutsideWait, real: Any) -> bool:
        """Take one if it is free; in a replay, wait for one that the recorded run took, and leave any other."""
        expected = wait.expected
        if expected is not None and expected.answer == _BUSY:
            return False
        if real.acquire(False):
            return True
        if expected is None or expected.answer != _TAKEN:
            return False
        before = use_own(True)
        wait.is_there = lambda: real.acquire(False)
        taken = wait.wait_really()
        use_own(before)
        return taken

    def look(self, read: Callable[[], int]) -> int:
        """The value of a semaphore, or whether it is at zero: that of the recorded run if the log knows."""
        if not self._descriptors.has_baton():
            return read()
        wait = self._descriptors.make_other_wait(lambda: True, "a look at a lock of other processes")
        self._descriptors.yield_point(sys._getframe(2))
        expected = wait.expected
        found = expected.answer if expected is not None and isinstance(expected.answer, int) else int(read())
        self._moments.answered(wait, found)
        return found
