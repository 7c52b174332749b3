"""Whether bytes are in flight between two TCP sockets of this machine.

The kernel keeps what a socket has sent until its peer has taken it, even after the sender was closed. If buffers are
small, that may take a while: a sender that found no room probes again after 0.2 seconds, and then less and less often
(RFC 9293, 3.8.6.1).
"""

from __future__ import annotations

import os

_fstat = os.fstat  # before the runtime puts its own in place
_TABLES = ("/proc/net/tcp", "/proc/net/tcp6")  # proc(5)
_LOCAL, _REMOTE, _QUEUES, _INODE = 1, 2, 4, 9
_MAPPED = "0000000000000000FFFF0000"  # an IPv4 address written as an IPv6 one


def are_in_flight(descriptors: list[int]) -> bool:
    """Whether bytes are in flight, over TCP on this machine, to one of these descriptors."""
    inodes = set()
    for descriptor in descriptors:
        try:
            inodes.add(str(_fstat(descriptor).st_ino))
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
            pass  # no such protocol version here
    return rows
