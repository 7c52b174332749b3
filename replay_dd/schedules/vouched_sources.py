"""The sources that a log vouches for: those that may be shown, or quoted in another log.

Rules of this module:

* A log says which files the program consists of, and their hashes. Whatever else it says about paths, only these files
  are opened, and their text is given away only if the hash agrees: a made-up log must not get at other files.
* They are regular files of a size that a source has, below the recorded folder, among installed packages, or at least
  named like a Python file.
* A file is read once: what was hashed is what is given away.
"""

from __future__ import annotations

import functools
import hashlib
import os
from pathlib import Path

from replay_dd.errors.user import LogError
from replay_dd.logfile import read_regular
from replay_dd.schedules.model import Place, Program

LARGEST_SOURCE_BYTES = 2**24
HASH_DIGITS = 32
_PACKAGES = ("site-packages", "dist-packages")
_SUFFIXES = (".py", ".pyw")


def vouched_text(program: Program, place: Place) -> str | None:
    """The text of the file of a place, if the program's log vouches for it and it has not changed."""
    return text_of_file(program, place.file)


def text_of_file(program: Program, file: str) -> str | None:
    """The text of a file with this short name, under the same conditions."""
    path = os.path.join(program.directory, program.paths.get(file, file))
    return _text(path, program.directory, program.files.get(file, ""))


def vouched_lines(program: Program, place: Place) -> tuple[str, ...]:
    """The lines of the same text; none if there is no such text."""
    path = os.path.join(program.directory, program.paths.get(place.file, place.file))
    return _lines(path, program.directory, program.files.get(place.file, ""))


@functools.lru_cache(maxsize=256)
def _lines(path: str, directory: str, recorded: str) -> tuple[str, ...]:
    return tuple((_text(path, directory, recorded) or "").splitlines())


def _text(path: str, directory: str, recorded: str) -> str | None:
    if len(recorded) != HASH_DIGITS or not _may_be_a_source(path, directory):
        return None
    try:
        data = read_regular(Path(path), LARGEST_SOURCE_BYTES)
    except LogError:
        return None
    if hashlib.sha256(data).hexdigest()[:HASH_DIGITS] != recorded:
        return None
    return data.decode("utf-8", "replace")


def _may_be_a_source(path: str, directory: str) -> bool:
    real, folder = os.path.realpath(path), os.path.realpath(directory)
    inside = os.path.commonpath([real, folder]) == folder
    return inside or real.endswith(_SUFFIXES) or any(f"/{name}/" in real for name in _PACKAGES)
