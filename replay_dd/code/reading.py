"""Reads the files and folders of a program.

Rules of this module:

* A file that is named is Python, whatever its name. In a folder, everything belongs to the program that neither is
  hidden nor was made by the interpreter.
* Paths stay as they are to each other: what was imported from the folder beside still is.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from replay_dd.code.source import Program, read_file, read_python
from replay_dd.errors.user import InputError
from replay_dd.experiment.journal import is_journal
from replay_dd.files import read_to_end

_MOST_FILES = 5_000


@dataclass(frozen=True, slots=True)
class Reading:
    """A program as it was named.

    Attributes:
        program: its files.
        name: what to call it.
        arguments: for each path that was named, where it is in the program; empty for a single file.
        folders: those of them that are folders.
    """

    program: Program
    name: str
    arguments: tuple[str, ...] = ()
    folders: frozenset[str] = frozenset()


def read_program(paths: Sequence[Path]) -> Reading:
    """Read a program.

    Args:
        paths: its files and folders.

    Raises:
        InputError: one of them cannot be read or does not parse, or they hold nothing.
    """
    if len(paths) == 1 and not paths[0].is_dir():
        name = paths[0].name
        return Reading(Program((read_python(name, _content(paths[0])),)), name)
    whole = [Path(os.path.abspath(path)) for path in paths]
    root = Path(os.path.commonpath([path.parent for path in whole]))
    files = {}
    for path in whole:
        if path.is_dir():
            for inside in _files_in(path):
                name = inside.relative_to(root).as_posix()
                files[name] = read_file(name, _content(inside))
                if len(files) > _MOST_FILES:
                    raise InputError(
                        f"There are more than {_MOST_FILES:,} files in {path}.",
                        "Name only what belongs to the program.",
                    )
        else:
            name = path.relative_to(root).as_posix()
            files[name] = read_python(name, _content(path))
    if not any(file.is_python for file in files.values()):
        raise InputError(f"There is no Python file in {paths[0]}.", "Name the folder that holds the program.")
    arguments = tuple(path.relative_to(root).as_posix() for path in whole)
    folders = frozenset(name for name, path in zip(arguments, whole, strict=True) if path.is_dir())
    return Reading(
        Program(tuple(files[name] for name in sorted(files))), paths[0].name or whole[0].name, arguments, folders
    )


def _files_in(folder: Path) -> Iterator[Path]:
    for parent, names, files in os.walk(folder):
        names[:] = sorted(name for name in names if name != "__pycache__" and not name.startswith("."))
        for name in sorted(files):
            path = Path(parent, name)
            if not name.startswith(".") and path.is_file() and not path.is_symlink() and not is_journal(path):
                yield path


def _content(path: Path) -> bytes:
    try:
        return read_to_end(path)
    except OSError as error:
        raise InputError(f"The program {path} cannot be read: {error.strerror}.") from error
