"""What the system tells of descriptors, asked so that the numbers in it move no object of the program.

Rules of this module:

* The interpreter makes an object for a number unless it is small. Whether that of a user, a group or a device is small
  depends on who runs the program, and where. So the whole answer is made, and dropped, in the runtime's memory.
* What is returned is a single number, which the program's turn may drop.
"""

from __future__ import annotations

import os
import stat

from ..accelerator.own_memory import use_own

CLOSED = -1
_fstat = os.fstat  # before the runtime puts its own in place: the program has asked nothing


def inode_of(descriptor: int) -> int:
    """The inode of an open file; CLOSED if there is none."""
    before = use_own(True)
    try:
        return _fstat(descriptor).st_ino
    except (OSError, OverflowError):  # the call itself will tell of a number that cannot be one
        return CLOSED
    finally:
        use_own(before)


def kind_of(descriptor: int) -> int:
    """The kind of an open file, such as ``stat.S_IFIFO``; CLOSED if there is none."""
    before = use_own(True)
    try:
        return stat.S_IFMT(_fstat(descriptor).st_mode)
    except OSError:
        return CLOSED
    finally:
        use_own(before)


def is_one_of(descriptor: int, files: set[tuple[int, int]]) -> bool:
    """Whether an open file is one of these, given as (device, inode)."""
    before = use_own(True)
    try:
        status = _fstat(descriptor)
        return (status.st_dev, status.st_ino) in files
    except OSError:
        return False
    finally:
        status = None  # type: ignore[assignment]  # dropped here, and not by the caller
        use_own(before)
