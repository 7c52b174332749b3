"""What the log files of all circumstances have in common: a first line that names the format, and its errors.

Rules of this module:

* The first line of every log is a JSON object with the keys ``format`` and ``version``. Its shape never changes, so any
  replay-dd can tell what a file is, and whether it is too new to be read.
* Only regular files are read, up to a size: a device or a pipe could go on for ever, or never begin.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import stat
from pathlib import Path
from typing import IO, Annotated, NamedTuple

from replay_dd.errors.user import LogError, LogVersionError, NotALogError
from replay_dd.json_codec import from_plain
from replay_dd.json_text import parse_object
from replay_dd.schema import LARGEST_INTEGER, numbers

LARGEST_LOG_BYTES = 2**30
"""Some five million thread switches."""

_LONGEST_FIRST_LINE_BYTES = 4096
_VERSION = Annotated[int, numbers(1, LARGEST_INTEGER)]
_KIND = re.compile(r"replay-dd [a-z ]{1,40}")
_A_COPY = "Copy it into a regular file first, and give that."


def hold(file: IO[bytes]) -> None:
    """Show others that a log is being written, until it is closed or its process ends."""
    with contextlib.suppress(OSError):  # not every file system knows locks
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def is_held(path: Path) -> bool:
    """Whether somebody is writing a log."""
    with contextlib.suppress(OSError), path.open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def read_regular(path: Path, most_bytes: int = LARGEST_LOG_BYTES, *, first: int = -1) -> bytes:
    """What is in a regular file.

    Args:
        path: the file.
        most_bytes: the size up to which files are read.
        first: read only so many bytes; all of them where it is negative.

    Raises:
        LogError: it cannot be opened, is not a regular file, or is too large.
    """
    try:
        # Without waiting for the other end of a pipe.
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC), "rb") as file:
            status = os.fstat(file.fileno())
            if stat.S_ISDIR(status.st_mode):
                raise LogError(f"The file {path} cannot be read: it is a folder.")
            if not stat.S_ISREG(status.st_mode):
                raise LogError(f"The file {path} cannot be read: it is not a regular file.", _A_COPY)
            if status.st_size > most_bytes:
                raise LogError(
                    f"The file {path} has {status.st_size:,} bytes; files of more than {most_bytes:,} are not read.",
                    "Check that it is the file that you mean; if it is, record a shorter run.",
                )
            return file.read(status.st_size if first < 0 else min(first, status.st_size))
    except (OSError, ValueError) as error:  # the second for what cannot be a name
        why = error.strerror if isinstance(error, OSError) else str(error)
        raise LogError(f"The file {path} cannot be read: {why}.") from error


class Header(NamedTuple):
    """The first line of a log."""

    format: str
    version: int


def parse_header(line: bytes) -> Header | None:
    """The header in a first line; None if there is none."""
    try:
        header = parse_object(line)
        return Header(from_plain(str, header.get("format")), from_plain(_VERSION, header.get("version")))
    except ValueError:
        return None


def check_header(line: bytes, path: Path, wanted_format: str, newest_version: int) -> None:
    """Check that a first line is that of a readable log.

    Raises:
        NotALogError: the file is not a log, or a log of another kind.
        LogVersionError: the log was written by a newer replay-dd.
    """
    header = parse_header(line)
    if header is None or header.format != wanted_format:
        if header is not None and _KIND.fullmatch(header.format):
            raise NotALogError(
                f"The file {path} is a {header.format}; this needs a {wanted_format}.",
                "Give a log of that kind, or use a command for this one: see `replay-dd --help`.",
            )
        raise NotALogError(f"The file {path} is not a replay-dd log.")
    if header.version > newest_version:
        raise LogVersionError(
            f"The log {path} has format version {header.version}; this replay-dd reads versions up to {newest_version}."
        )


def format_of(path: Path) -> str:
    """The format that the first line of a file names; empty if it is not a log or cannot be read."""
    try:
        start = read_regular(path, first=_LONGEST_FIRST_LINE_BYTES)
    except LogError:
        return ""
    header = parse_header(start.partition(b"\n")[0])
    return "" if header is None else header.format
