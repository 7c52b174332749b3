"""Writes files whole or not at all, and reads what may be something else.

Rules of this module:

* A file is written under another name, brought to the disk, and then renamed: whoever looks sees the old one or the new
  one, also after the power went.
* What stands there and is not a regular file is left alone: nobody wants a file in the place of ``/dev/null``.
* A program may remove the folder that we are in. Then it is made again: what was recorded must not be lost.
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
try:
    _STARTED_IN = Path.cwd()
except OSError:  # it was removed before we started
    _STARTED_IN = Path("/")


def write_whole(path: Path, data: bytes, *, mode: int = PUBLIC) -> None:
    """Write a file, whole or not at all; folders above it are made.

    Args:
        path: where.
        data: what.
        mode: who may read and write it.

    Raises:
        OutputError: it cannot be written.
    """
    path = as_started(path)
    unfinished = _unfinished(path)
    try:
        _check_kind(path)
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


def read_to_end(path: Path) -> bytes:
    """What is in a file, or comes through a pipe or from a terminal; no other device is read, for it may have no end.

    Raises:
        OSError: it cannot be read, or is a device.
    """
    with path.open("rb") as file:
        status = os.fstat(file.fileno())
        ends = file.isatty() or status.st_rdev == os.stat(os.devnull).st_rdev
        if stat.S_ISBLK(status.st_mode) or (stat.S_ISCHR(status.st_mode) and not ends):
            raise OSError(errno.ENODEV, "it is a device, which may have no end")
        return file.read()


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
    path = as_started(path)
    try:
        _check_kind(path)
        folder = next(folder for folder in path.absolute().parents if os.path.lexists(folder))
        if not folder.is_dir():
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
        if not os.access(folder, os.W_OK | os.X_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        for name in (*path.absolute().relative_to(folder).parts[:-1], _unfinished(path).name):
            with contextlib.suppress(FileNotFoundError):
                os.lstat(folder / name)  # names can be too long
    except OSError as error:
        raise unwritable(path, error.strerror or str(error)) from error


def as_started(path: Path) -> Path:
    """A path as it was meant when we were started, even if the folder that we are in has been removed since."""
    try:
        os.getcwd()
    except OSError:
        return _STARTED_IN / path
    return path


def _unfinished(path: Path) -> Path:
    return path.with_name(f".{path.name}.{os.getpid()}.part")


def _check_kind(path: Path) -> None:
    """Raises an OSError where a file that we write must not take the place of what is there."""
    try:
        mode = os.stat(path).st_mode
    except (FileNotFoundError, NotADirectoryError):
        return
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, "it is not a regular file")


def unwritable(path: Path, reason: str) -> OutputError:
    """The error for a file that cannot be written."""
    return OutputError(f"The file {path} cannot be written: {reason}.")
