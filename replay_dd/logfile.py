"""What the log files of all circumstances have in common: a first line that names the format, and errors.

The first line of every log is a JSON object with the keys ``format`` and ``version``. It never changes its shape, so
that any replay-dd can tell what a file is, and whether it is too new to be read.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

from replay_dd.errors.user import LogVersionError, NotALogError

_LONGEST_FIRST_LINE_BYTES = 4096


class Header(NamedTuple):
    """The first line of a log."""

    format: str
    version: int


def parse_header(line: bytes) -> Header | None:
    """The header that a first line holds; None where it holds none."""
    try:
        header = json.loads(line)
        name, version = header["format"], int(header["version"])
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
        return None
    return Header(name, version) if isinstance(name, str) else None


def check_header(line: bytes, path: Path, wanted_format: str, newest_version: int) -> None:
    """Check that a first line is one of a log that can be read.

    Raises:
        NotALogError: it is no log, or one of another kind.
        LogVersionError: the log is newer.
    """
    header = parse_header(line)
    if header is None or header.format != wanted_format:
        if header is not None and header.format.startswith("replay-dd "):
            raise NotALogError(
                f"The file {path} is a {header.format}, and a {wanted_format} is needed here.",
                "Give the other kind of log, or use the command that is made for this kind.",
            )
        raise NotALogError(f"The file {path} is no log of replay-dd.")
    if header.version > newest_version:
        raise LogVersionError(
            f"The log {path} has version {header.version}; this replay-dd reads versions up to {newest_version}."
        )


def format_of(path: Path) -> str:
    """What the first line of a file calls its format; empty where it is no log or cannot be read."""
    try:
        with path.open("rb") as file:
            header = parse_header(file.readline(_LONGEST_FIRST_LINE_BYTES))
    except OSError:
        return ""
    return "" if header is None else header.format
