"""Child processes: waiting for one gives up the baton until it has ended."""

from __future__ import annotations

import os
import sys

from ..io.descriptors import Descriptors

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_waitid = os.waitid
_LOOK = os.WEXITED | os.WNOWAIT | os.WNOHANG


def children_run() -> bool:
    """Whether a child process is still running."""
    try:
        if _waitid(os.P_ALL, 0, _LOOK) is None:
            return True
        return any(_waitid(os.P_PID, child, _LOOK) is None for child in _children())
    except OSError:
        return False


def _children() -> list[int]:
    """Those that nobody has waited for yet; none if the system does not list them."""
    found = []
    for task in os.listdir("/proc/self/task"):
        try:
            with open(f"/proc/self/task/{task}/children") as file:
                found += [int(child) for child in file.read().split()]
        except FileNotFoundError:
            if os.path.isdir(f"/proc/self/task/{task}"):
                raise
            # A thread has just ended: its children now belong to another one, which may have been read already.
            return _children()
    return found


def replacements(descriptors: Descriptors) -> dict[str, Any]:
    """The functions of ``os`` and ``posix`` that wait for child processes."""

    def managed(real: Callable[..., Any], which: Callable[..., tuple[int, int, int]], name: str) -> Any:
        def wait_for_child(*arguments: Any) -> Any:
            if not descriptors.has_baton():
                return real(*arguments)
            id_type, number, options = which(*arguments)

            def has_ended() -> bool:
                try:
                    return _waitid(id_type, number, _LOOK) is not None
                except OSError:
                    return True  # there is no such child: the call itself will tell

            wait = descriptors.make_other_wait(has_ended, "a child process to end")
            frame = sys._getframe(1)
            expected = wait.expected
            if options & os.WNOHANG:
                descriptors.yield_point(frame)
                if expected is not None and expected.answer == 0:
                    descriptors.moments.answered(wait, 0)
                    return None if name == "waitid" else (0, 0) if name == "waitpid" else real(*arguments)
                if expected is not None:
                    wait.wait_really()
            else:
                descriptors.wait(frame, wait, None)
            result = real(*arguments)
            descriptors.moments.answered(wait, 1 if result and (name == "waitid" or result[0]) else 0)
            return result

        wait_for_child.__name__ = name
        return wait_for_child

    kinds: dict[str, Callable[..., tuple[int, int, int]]] = {
        "waitpid": lambda pid, options: (*_id_of(pid), options),
        "wait": lambda: (*_id_of(-1), 0),
        "wait3": lambda options: (*_id_of(-1), options),
        "wait4": lambda pid, options: (*_id_of(pid), options),
        "waitid": lambda idtype, id, options: (idtype, id, options),
    }
    return {name: managed(getattr(os, name), which, name) for name, which in kinds.items()}


def _id_of(pid: int) -> tuple[int, int]:
    if pid > 0:
        return os.P_PID, pid
    if pid == -1:
        return os.P_ALL, 0
    return os.P_PGID, -pid if pid else os.getpgrp()
