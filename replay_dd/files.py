"""Writes files whole or not at all.

Rules of this module:

* A file is written under another name, brought to the disk, and then renamed: whoever looks sees the old one or the new
  one, also after the power went.
* Recordings hold environments and input, so they belong to the user alone (mode 0600); reports do not.
"""

from __future__ import annotations

import contextlib
import errno
import os
from pathlib import Path

from replay_dd.errors.user import OutputError

PRIVATE = 0o600
PUBLIC = 0o666  # less what the user's mask takes away


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
