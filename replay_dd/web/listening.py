"""Which process listens at a port, as /proc tells it.

Source: proc(5), "/proc/net/tcp"; the state of a socket that listens is TCP_LISTEN, 0A.
"""

from __future__ import annotations

import contextlib
import os

from replay_dd.experiment.process_tree import children_of

_LISTENS = "0A"


def listens(process: int, port: int) -> bool | None:
    """Whether a process, or one that it has started, listens at a port; None if that cannot be told.

    Args:
        process: its number; if it leads a group, all of that counts.
        port: a TCP port of this machine.
    """
    sockets = _listening_at(port)
    if not sockets:
        return None
    waiting = [process, *(other for other in _processes() if _group_of(other) == process)]
    seen = set()
    while waiting:
        one = waiting.pop()
        if one not in seen:
            seen.add(one)
            waiting += children_of(one)
            if not sockets.isdisjoint(_sockets_of(one)):
                return True
    return False


def _listening_at(port: int) -> set[str]:
    """The sockets that listen at a port, by their inodes."""
    found = set()
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        with contextlib.suppress(OSError), open(table) as file:
            next(file, None)
            for line in file:
                fields = line.split()
                if fields[3] == _LISTENS and int(fields[1].rpartition(":")[2], 16) == port:
                    found.add(f"socket:[{fields[9]}]")
    return found


def _sockets_of(process: int) -> set[str]:
    found = set()
    with contextlib.suppress(OSError):
        for entry in os.scandir(f"/proc/{process}/fd"):
            with contextlib.suppress(OSError):
                found.add(os.readlink(entry.path))
    return found


def _processes() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def _group_of(process: int) -> int:
    try:
        return os.getpgid(process)
    except OSError:
        return -1
