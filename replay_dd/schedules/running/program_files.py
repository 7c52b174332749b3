"""The source files of a program: their hashes in the log, and which have changed since."""

from __future__ import annotations

import functools
import os
from pathlib import Path

from replay_dd.files import digest_of_regular
from replay_dd.schedules.model import Program
from replay_dd.schedules.vouched_sources import HASH_DIGITS, LARGEST_SOURCE_BYTES


def file_hash(path: str) -> str:
    """The hash of a source file, as logs keep it; empty if it cannot be read."""
    try:
        status = os.stat(path)
        return _hash_of_version(path, status.st_mtime_ns, status.st_size, status.st_ino)
    except (OSError, ValueError):  # ValueError: not a valid file name
        return ""


@functools.lru_cache(maxsize=4096)
def _hash_of_version(path: str, *_version: int) -> str:
    """The hash of a file, cached for each version of it: a search needs it after every run."""
    return (digest_of_regular(Path(path), LARGEST_SOURCE_BYTES) or "")[:HASH_DIGITS]


def forget_files() -> None:
    """Clear the cache of file hashes at the end of a search.

    In a process that makes many searches, the few entries of each would be scattered among its large logs and keep
    their memory from being returned to the system.
    """
    _hash_of_version.cache_clear()


def changed_files(program: Program) -> list[str]:
    """The short names of counted files that have changed since the recording."""
    root = Path(program.directory)
    changed = []
    for short, recorded in program.files.items():
        path = program.paths.get(short, str(root / short))
        if recorded and file_hash(path) != recorded:
            changed.append(short)
    return sorted(changed)
