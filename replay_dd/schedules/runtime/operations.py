"""File, socket and process operations as yield points.

The interpreter announces them as audit events, whoever calls them. Each event that stands in the table below is a
yield point of the counted code that caused it, at every granularity.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .scheduler import Scheduler

EVENTS = frozenset(
    {
        *("open", "os.remove", "os.rename", "os.mkdir", "os.rmdir", "os.link", "os.symlink", "os.truncate", "os.listdir"),
        *("os.scandir", "os.chmod", "os.utime", "fcntl.flock", "fcntl.lockf", "sqlite3.connect", "subprocess.Popen"),
        *("socket.connect", "socket.bind", "socket.sendto", "socket.sendmsg", "socket.getaddrinfo"),
    }
)


def watch_files(scheduler: Scheduler) -> None:
    """Make each audit event of the table a yield point."""

    def audit(event: str, arguments: tuple[object, ...]) -> None:
        if event in EVENTS and scheduler.counting and not scheduler.current.atomic:
            scheduler.operation(sys._getframe().f_back)

    sys.addaudithook(audit)
