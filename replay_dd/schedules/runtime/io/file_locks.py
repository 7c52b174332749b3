"""Locks on files: ``fcntl.flock`` and ``fcntl.lockf`` under the scheduler."""

from __future__ import annotations

import os
import sys

from .descriptors import Descriptors

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def adapt_file_locks(descriptors: Descriptors, module: Any) -> None:
    """Let ``fcntl.flock`` and ``fcntl.lockf`` give the baton away while another one has the lock."""
    real_flock, real_lockf = module.flock, module.lockf
    not_now, unlock = module.LOCK_NB, module.LOCK_UN

    def flock(fd: Any, operation: int, /) -> None:
        if operation & not_now or operation & unlock or not descriptors.has_baton():
            real_flock(fd, operation)
            return
        frame = sys._getframe(1)
        try:
            real_flock(fd, operation | not_now)
        except BlockingIOError:
            # In the system, too, who waits for a lock goes on doing so if another thread closes the file meanwhile.
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

        locked(frame, operation, lambda: real_flock(fd, operation | not_now), is_free)
        if not descriptors.has_baton():
            real_flock(fd, operation)

    def lockf(fd: Any, cmd: int, *rest: Any) -> Any:
        def is_free() -> bool:
            # Such locks belong to the process: to have it early is no harm to another of its threads.
            try:
                real_lockf(fd, cmd | not_now, *rest)
            except (BlockingIOError, PermissionError):
                return False
            except OSError:
                return True
            return True

        locked(sys._getframe(1), cmd, lambda: real_lockf(fd, cmd | not_now, *rest), is_free)
        if cmd & not_now or cmd & unlock or not descriptors.has_baton():
            return real_lockf(fd, cmd, *rest)
        return None

    def locked(frame: Any, operation: int, take: Callable[[], object], is_free: Callable[[], bool]) -> None:
        if operation & not_now or operation & unlock or not descriptors.has_baton():
            return
        while True:
            try:
                take()
            except (BlockingIOError, PermissionError):
                wait = descriptors.make_other_wait(is_free, "a lock on a file")
                descriptors.wait(frame, wait, None)
                descriptors.moments.answered(wait, None)
            else:
                return

    module.flock, module.lockf = flock, lockf
