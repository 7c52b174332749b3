"""What a process has started, and how to end it with all of that."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from pathlib import Path

_LONGEST_HALT_S = 1.0  # a process that waits for a disk stands still only afterwards


def children_of(process: int) -> list[int]:
    """The processes that a process has started; those that were found by then if it ends meanwhile."""
    found: list[int] = []
    with contextlib.suppress(OSError):
        for task in Path(f"/proc/{process}/task").iterdir():
            found += map(int, (task / "children").read_text().split())
    return found


def kill_tree(process: subprocess.Popen[bytes]) -> None:
    """Kill a process, the processes that it has started, theirs, and what is left of the groups of all these."""
    found: list[int] = []
    waiting = [process.pid] if process.poll() is None else []
    while waiting:
        one = waiting.pop()
        found.append(one)
        # A process that stands still starts no other one after it was asked for those it has.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(one, signal.SIGSTOP)
        patience = time.monotonic() + _LONGEST_HALT_S
        while _runs(one) and time.monotonic() < patience:
            time.sleep(0.0005)
        waiting += children_of(one)
    for one in found:
        for kill in (os.killpg, os.kill):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                kill(one, signal.SIGKILL)


def _runs(process: int) -> bool:
    """Whether a process neither stands still nor has ended."""
    try:
        stat = Path(f"/proc/{process}/stat").read_bytes()
    except OSError:
        return False
    return stat.rpartition(b")")[2].split()[0] not in (b"T", b"t", b"Z", b"X")


def own_children() -> set[int]:
    """Our child processes; none where the system does not tell them."""
    tasks = Path("/proc/self/task")
    while tasks.is_dir():
        found: set[int] = set()
        for name in os.listdir(tasks):
            try:
                found.update(map(int, (tasks / name / "children").read_text().split()))
            except FileNotFoundError:
                if (tasks / name).is_dir():  # a kernel without these files
                    return set()
                # A thread has just ended: its children now belong to another one, which may have been read already.
                break
        else:
            return found
    return set()


def kill_own_children(spared: set[int]) -> None:
    """Kill all children except ``spared``, including descendants that are then reparented to us."""
    while children := own_children() - spared:
        for pid in children:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, 0)
