"""Locks on files: ``fcntl.flock`` and ``fcntl.lockf`` under the scheduler.

Rules of this module:

* Another process may hold a lock, and no schedule determines when. So the log notes of each attempt whether it got the
  lock. A replay makes no attempt where the recorded one failed, and repeats one that succeeded until it does.
"""

from __future__ import annotations

import errno
import os
import sys

from .descriptors import Descriptors
from .pieces import WOULD_BLOCK, recorded_amount

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_GOT_IT = 0


def adapt_file_locks(descriptors: Descriptors, module: Any) -> None:
    """Let ``fcntl.flock`` and ``fcntl.lockf`` give up the baton while someone else holds the lock."""
    real_flock, real_lockf = module.flock, module.lockf
    not_now, unlock = module.LOCK_NB, module.LOCK_UN

    def flock(fd: Any, operation: int, /) -> None:
        if operation & unlock or not descriptors.has_baton():
            real_flock(fd, operation)
            return
        frame = sys._getframe(1)
        if got_it(lambda: real_flock(fd, operation | not_now), frame):
            return
        if operation & not_now:
            raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))
        # In the kernel, too, a waiter keeps waiting if another thread closes the file meanwhile.
        own = os.dup(fd if isinstance(fd, int) else fd.fileno())
        try:
            wait_and_take(frame, own, operation)
        finally:
            os.close(own)

    def wait_and_take(frame: Any, fd: int, operation: int) -> None:
        def is_free() -> bool:
            try:
                real_flock(fd, operation | not_now)
            except BlockingIOError:
                return False
            except OSError:
                return True
            real_flock(fd, unlock)
            return True

        wait_for(frame, lambda: real_flock(fd, operation | not_now), is_free)
        if not descriptors.has_baton():
            real_flock(fd, operation)

    def lockf(fd: Any, cmd: int, *rest: Any) -> Any:
        def take() -> object:
            return real_lockf(fd, cmd | not_now, *rest)

        def is_free() -> bool:
            # Such locks belong to the process: taking one early does not affect its other threads.
            try:
                take()
            except (BlockingIOError, PermissionError):
                return False
            except OSError:
                return True
            return True

        if cmd & unlock or not descriptors.has_baton():
            return real_lockf(fd, cmd, *rest)
        frame = sys._getframe(1)
        if not got_it(take, frame):
            if cmd & not_now:
                raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))
            wait_for(frame, take, is_free)
            if not descriptors.has_baton():
                return real_lockf(fd, cmd, *rest)
        return None

    def got_it(take: Callable[[], object], frame: Any) -> bool:
        """Make one attempt, or none where the recorded one failed; whether it got the lock.

        Raises:
            OSError: the lock cannot be had at all.
        """
        taken = False

        def attempt() -> bool:
            nonlocal taken
            try:
                taken = taken or take() is None
            except (BlockingIOError, PermissionError):
                return False
            except OSError:
                return True  # the attempt below raises it
            return True

        wait = descriptors.make_other_wait(attempt, "a lock on a file")
        if recorded_amount(wait) == WOULD_BLOCK:
            descriptors.yield_point(frame)  # as the system would tell of the call
        else:
            try:
                taken = take() is None
            except (BlockingIOError, PermissionError):
                if wait.expected is not None:
                    wait.wait_really()
        descriptors.moments.answered(wait, _GOT_IT if taken else WOULD_BLOCK)
        return taken

    def wait_for(frame: Any, take: Callable[[], object], is_free: Callable[[], bool]) -> None:
        while descriptors.has_baton():
            wait = descriptors.make_other_wait(is_free, "a lock on a file")
            descriptors.wait(frame, wait, None)
            descriptors.moments.answered(wait, None)
            if got_it(take, frame):
                return

    # As functions of C, they must not turn into methods where a class has them.
    module.flock, module.lockf = staticmethod(flock), staticmethod(lockf)
