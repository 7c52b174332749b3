"""Which recordings were made here: the hashes of all that this user's replay-dd has written.

Rules of this module:

* A recording names a command, and whoever replays it runs that command. One that was made here says what was run here
  before; one that is not known may say anything, also if it was made here and changed since.
* The list is the user's (``$XDG_STATE_HOME/replay-dd/known-logs``, by default below ``~/.local/state``). Nothing in a
  recording can vouch for it: what is in a file, whoever writes the file can write.
* A list that cannot be read or written makes recordings unknown, never known, and no command fails for it.
* The list does not grow beyond a limit: then its older half goes.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import stat
from pathlib import Path

MOST_BYTES = 2**22
"""Some 65,000 recordings."""


def digest_of(data: bytes) -> str:
    """What a recording is known by."""
    return hashlib.sha256(data).hexdigest()


def remember(digest: str) -> None:
    """Note that a recording was made here.

    Args:
        digest: of all its bytes; see :func:`digest_of`.
    """
    with contextlib.suppress(OSError, RuntimeError):
        path = _list()
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "r+b", buffering=0) as file:
            if not _is_ours(descriptor):
                return
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            line = f"{digest}\n".encode()
            if file.seek(0, os.SEEK_END) + len(line) > MOST_BYTES:
                _halve(descriptor, len(line))
            file.seek(0, os.SEEK_END)
            file.write(line)


def is_known(digest: str) -> bool:
    """Whether a recording with this digest was made here."""
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC
    with contextlib.suppress(OSError, RuntimeError), os.fdopen(os.open(_list(), flags), "rb") as file:
        return _is_ours(file.fileno()) and f"\n{digest}\n".encode() in b"\n" + file.read(2 * MOST_BYTES)
    return False


def _list() -> Path:
    """Raises a RuntimeError where the user has no home."""
    state = os.environ.get("XDG_STATE_HOME", "")
    # The specification has relative paths ignored.
    return (Path(state) if os.path.isabs(state) else Path.home() / ".local" / "state") / "replay-dd" / "known-logs"


def _is_ours(descriptor: int) -> bool:
    """Whether nobody else can have written to the list."""
    status = os.fstat(descriptor)
    writable_by_others = status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    return stat.S_ISREG(status.st_mode) and status.st_uid == os.geteuid() and not writable_by_others


def _halve(descriptor: int, line_bytes: int) -> None:
    """Keep the newer half: in place, so that those who wait for the lock do not write to a file that is gone."""
    keep = MOST_BYTES // 2 // line_bytes * line_bytes
    size = os.fstat(descriptor).st_size
    newest = os.pread(descriptor, keep, max(0, size - keep))
    os.pwrite(descriptor, newest, 0)
    os.ftruncate(descriptor, len(newest))
