"""Bytes between two sockets of this machine: whether some are still on their way.

The system keeps what a socket has sent until the other one has taken it, also after the sender was closed. Where the
buffers are small that may take a while: a sender that has found no room asks again after 0.2 seconds, and then ever
more seldom (RFC 9293, 3.8.6.1).
"""

from __future__ import annotations

import os

_TABLES = ("/proc/net/tcp", "/proc/net/tcp6")  # proc(5)
_LOCAL, _REMOTE, _QUEUES, _INODE = 1, 2, 4, 9
_MAPPED = "0000000000000000FFFF0000"  # an address of version 4 in the place of one of version 6


def are_in_flight(descriptors: list[int]) -> bool:
    """Whether bytes are on their way, through TCP and on this machine, to one of these descriptors."""
    inodes = set()
    for descriptor in descriptors:
        try:
            inodes.add(str(os.fstat(descriptor).st_ino))
        except OSError:
            pass  # closed meanwhile
    sending, ends = set(), []
    for row in _rows():
        local, remote = row[_LOCAL].removeprefix(_MAPPED), row[_REMOTE].removeprefix(_MAPPED)
        if int(row[_QUEUES].partition(":")[0], 16):
            sending.add((local, remote))
        if row[_INODE] in inodes:
            ends.append((remote, local))
    return any(end in sending for end in ends)


def _rows() -> list[list[str]]:
    rows = []
    for table in _TABLES:
        try:
            with open(table, encoding="ascii") as file:
                rows += [line.split() for line in file.readlines()[1:]]
        except OSError:
            pass  # no such version of the protocol here
    return rows
