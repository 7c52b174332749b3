"""What the log files of all circumstances have in common: a first line that names the format, and its errors.

The first line of every log is a JSON object with the keys ``format`` and ``version``. Its shape never changes, so any
replay-dd can tell what a file is, and whether it is too new to be read.
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
    """The header in a first line; None if there is none."""
    try:
        header = json.loads(line)
        name, version = header["format"], int(header["version"])
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
        return None
    return Header(name, version) if isinstance(name, str) else None


def check_header(line: bytes, path: Path, wanted_format: str, newest_version: int) -> None:
    """Check that a first line is that of a readable log.

    Raises:
        NotALogError: the file is not a log, or a log of another kind.
        LogVersionError: the log was written by a newer replay-dd.
    """
    header = parse_header(line)
    if header is None or header.format != wanted_format:
        if header is not None and header.format.startswith("replay-dd "):
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
        with path.open("rb") as file:
            header = parse_header(file.readline(_LONGEST_FIRST_LINE_BYTES))
    except OSError:
        return ""
    return "" if header is None else header.format
