"""The program of a session: what is kept of it, and whether it is still the same."""

from __future__ import annotations

import contextlib
import os
from dataclasses import replace
from pathlib import Path

from replay_dd.errors.program import ProgramChangedError
from replay_dd.errors.user import ProgramNotFoundError
from replay_dd.events.model import GuiProgram, Session
from replay_dd.events.surroundings import surroundings
from replay_dd.experiment.process import find_program
from replay_dd.files import digest_of_regular

# What a program's behaviour usually depends on. The rest of the environment is not written down: it may hold secrets.
_KEPT_VARIABLES = ("PATH", "LANG", "LANGUAGE", "TZ", "VIRTUAL_ENV")
_KEPT_PREFIXES = ("LC_", "PYTHON")
_HASH_DIGITS = 32
_LARGEST_FILE_BYTES = 2**30


def describe_gui_program(
    command: tuple[str, ...], directory: Path | None = None, *, here: bool = False, home: Path | None = None
) -> GuiProgram:
    """The program that a command names, as it stands here and now.

    Args:
        command: the program and its arguments.
        directory: its working folder; None for the current one.
        here: let it work in that folder itself instead of copies.
        home: a folder to copy as its HOME; None for an empty one.

    Raises:
        ProgramNotFoundError: there is no such program.
    """
    folder = directory or Path.cwd()
    if _executable(command[0], folder, os.environ.get("PATH")) is None:
        raise ProgramNotFoundError(f"There is no program `{command[0]}`.")
    kept = {
        name: value
        for name, value in sorted(os.environ.items())
        if name in _KEPT_VARIABLES or name.startswith(_KEPT_PREFIXES)
    }
    files = _files(command, folder, os.environ.get("PATH"))
    template = "" if home is None else str(home.resolve())
    return GuiProgram(command, str(folder), kept, files, here, template, surroundings())


def in_folders(session: Session, *, here: bool, home: Path | None) -> Session:
    """The session with other folders for its program than the recorded ones, if any are given."""
    program = session.program
    if here:
        program = replace(program, here=True)
    if home is not None:
        program = replace(program, home=str(home.resolve()))
    return replace(session, program=program)


def check_program(session: Session) -> None:
    """Check that the program of a session is the one that was recorded.

    Raises:
        ProgramChangedError: a file of it was changed.
    """
    program = session.program
    now = _files(program.command, Path(program.directory), program.environment.get("PATH"))
    changed = [name for name, digest in program.files.items() if now.get(name) != digest]
    if changed:
        raise ProgramChangedError(f"The program was changed since the session was recorded: {', '.join(changed[:3])}.")


def _files(command: tuple[str, ...], folder: Path, path: str | None) -> dict[str, str]:
    found = {}
    for number, argument in enumerate(command):
        file = _executable(argument, folder, path) if number == 0 else folder / argument
        digest = None if file is None else digest_of_regular(file, _LARGEST_FILE_BYTES)
        if digest is not None:
            found[argument] = digest[:_HASH_DIGITS]
    return found


def _executable(name: str, folder: Path, path: str | None) -> Path | None:
    if os.sep in name:
        with contextlib.suppress(OSError):  # the name is too long
            return folder / name if (folder / name).is_file() else None
        return None
    found = find_program(name, path)
    return None if found is None else Path(found)
