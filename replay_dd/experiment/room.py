"""Whether there is room for the files of a run: one that a full disk has cut short tells nothing about the program.

Rules of this module:

* What a run writes itself, such as its output, it loses silently, or fails for. So its disk is looked at afterwards.
* That a disk is full is one message, whoever noticed it: this process, or the runtime in the program.
"""

from __future__ import annotations

import errno
import os
import tempfile
from pathlib import Path

from replay_dd.errors.machine import NoRoomError

NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""The disk is full, what this user may use of it, or what one file may have (``ulimit -f``)."""


def check_room(path: Path) -> None:
    """Check that the disk of a file of a run is not full.

    Raises:
        NoRoomError: not a byte more can be written there.
    """
    disk = os.statvfs(path)
    free = disk.f_bfree if os.geteuid() == 0 else disk.f_bavail  # a part of it is the administrator's
    if disk.f_blocks and not free:  # some file systems do not count
        raise no_room()


def no_room() -> NoRoomError:
    """The error for a run whose files had no room."""
    return NoRoomError(f"There is no room for the files of a run in {temporary_directory()}.")


def temporary_directory() -> str:
    """Where temporary files are.

    Raises:
        NoRoomError: there is no such directory that could be written to.
    """
    try:
        return tempfile.gettempdir()
    except FileNotFoundError as error:
        raise NoRoomError("There is no folder that temporary files could be written to.") from error
