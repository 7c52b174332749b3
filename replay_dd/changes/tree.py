"""The files of one version of a program.

Rules of this module:

* A version is read where it lies and is never changed.
* What is no part of a program does not count: folders of version control, and what Python compiled.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from replay_dd.errors.user import VersionError
from replay_dd.experiment.journal import is_journal

LEFT_OUT = frozenset({".git", ".hg", ".svn", ".bzr", "__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache"})
"""The names of folders that are no part of a version."""
_WITHOUT_WRITING = 0o777 & ~0o022
_CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class Entry:
    """A file, or a symbolic link.

    Attributes:
        path: where it lies.
        mode: its permissions; 0 for a link.
        link: where the link points to; None for a file.
        size: in bytes.
    """

    path: Path
    mode: int
    link: str | None
    size: int

    def read(self) -> bytes:
        """The content of a file.

        Raises:
            VersionError: it cannot be read.
        """
        try:
            return self.path.read_bytes()
        except OSError as error:
            raise VersionError(f"The file {self.path} cannot be read: {error.strerror}.") from error

    def digest(self) -> bytes:
        """Equal for files with the same content.

        Raises:
            VersionError: it cannot be read.
        """
        try:
            with self.path.open("rb") as content:
                return hashlib.file_digest(content, "sha256").digest()
        except OSError as error:
            raise VersionError(f"The file {self.path} cannot be read: {error.strerror}.") from error

    def is_same(self, other: Entry) -> bool:
        """Whether both have the same content, whatever their permissions."""
        if self.link is not None or other.link is not None:
            return self.link == other.link
        return self.size == other.size and _are_equal(self.path, other.path)


Tree = Mapping[str, Entry]
"""Entries by their paths below the root, with ``/`` between the parts, in order."""


def read_tree(root: Path) -> Tree:
    """The files below a folder.

    Raises:
        VersionError: it cannot be read, or contains something else than folders, files and symbolic links.
    """
    return dict(sorted(_entries(root, "")))


def _entries(folder: Path, above: str) -> Iterator[tuple[str, Entry]]:
    try:
        found = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError as error:
        raise VersionError(f"The folder {folder} cannot be read: {error.strerror}.") from error
    for entry in found:
        name = above + entry.name
        status = entry.stat(follow_symlinks=False)
        if entry.is_symlink():
            yield name, Entry(Path(entry.path), 0, os.readlink(entry.path), 0)
        elif entry.is_dir():
            if entry.name not in LEFT_OUT:
                yield from _entries(Path(entry.path), f"{name}/")
        elif entry.is_file():
            if is_journal(Path(entry.path)):
                continue
            # Who may write a file is a matter of the system, not of the program.
            yield name, Entry(Path(entry.path), stat.S_IMODE(status.st_mode) & _WITHOUT_WRITING, None, status.st_size)
        else:
            raise VersionError(f"{entry.path} is neither a file, a folder, nor a symbolic link.", "Remove it.")


def _are_equal(one: Path, other: Path) -> bool:
    try:
        with one.open("rb") as left, other.open("rb") as right:
            while True:
                chunk = left.read(_CHUNK)
                if chunk != right.read(_CHUNK):
                    return False
                if not chunk:
                    return True
    except OSError as error:
        raise VersionError(f"The file {error.filename} cannot be read: {error.strerror}.") from error
