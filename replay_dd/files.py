"""Writes files whole or not at all.

Rules of this module:

* A file is written under another name, brought to the disk, and then renamed: whoever looks sees the old one or the new
  one, also after the power went.
* Recordings hold environments and input, so they belong to the user alone (mode 0600); reports do not.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import stat
from pathlib import Path

from replay_dd.errors.user import OutputError

PRIVATE = 0o600
PUBLIC = 0o666  # less what the user's mask takes away
_PIECE_BYTES = 2**20


def write_whole(path: Path, data: bytes, *, mode: int = PUBLIC) -> None:
    """Write a file, whole or not at all; folders above it are made.

    Args:
        path: where.
        data: what.
        mode: who may read and write it.

    Raises:
        OutputError: it cannot be written.
    """
    unfinished = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with os.fdopen(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode), "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):
            unfinished.unlink(missing_ok=True)
        raise unwritable(path, error.strerror or str(error)) from error


def digest_of_regular(path: Path, most_bytes: int) -> str | None:
    """The SHA-256 hash of what is in a regular file, in hexadecimal digits.

    Never waits, and reads no more than the file has at first: a path in a log may lead to a pipe or a device, or to a
    file of the kernel's that blocks or has no end.

    Args:
        path: the file.
        most_bytes: the size up to which files are read.

    Returns:
        None if there is no such file, or if it is not regular, or larger.
    """
    digest = hashlib.sha256()
    try:
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC), "rb") as file:
            status = os.fstat(file.fileno())
            left = status.st_size
            if not stat.S_ISREG(status.st_mode) or left > most_bytes:
                return None
            while left and (piece := file.read(min(left, _PIECE_BYTES))):
                digest.update(piece)
                left -= len(piece)
    except (OSError, ValueError):  # the second for what cannot be a name
        return None
    return digest.hexdigest()


def check_writable(path: Path) -> None:
    """Tell before a run what :func:`write_whole` would tell after it; nothing is written.

    Raises:
        OutputError: the file could not be written.
    """
    if path.is_dir():
        raise unwritable(path, os.strerror(errno.EISDIR))
    folder = next(folder for folder in path.absolute().parents if os.path.lexists(folder))
    if not folder.is_dir():
        raise unwritable(path, os.strerror(errno.ENOTDIR))
    if not os.access(folder, os.W_OK | os.X_OK):
        raise unwritable(path, os.strerror(errno.EACCES))


def unwritable(path: Path, reason: str) -> OutputError:
    """The error for a file that cannot be written."""
    return OutputError(f"The file {path} cannot be written: {reason}.")
