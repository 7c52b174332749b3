"""What the command after the ``--`` is: its script, and its standard input."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

from replay_dd.errors.user import ProgramNotFoundError, UsageError
from replay_dd.experiment.interpreters import is_interpreter
from replay_dd.files import read_to_end

# Options of the interpreter (`python --help`): those given instead of a script, and those that take a value.
_INSTEAD_OF_A_SCRIPT = "cm"
_WITH_A_VALUE = "WX"
_LONG_WITH_A_VALUE = "--check-hash-based-pycs"


def check_script(command: tuple[str, ...], folder: Path | None = None, *, place: str | None = None) -> None:
    """Check that the script given to a Python interpreter exists.

    Without this check, the interpreter's complaint (exit status 2) would count as a failure of the program.

    Args:
        command: what will run.
        folder: where it will run; None for the working directory.
        place: stands for the input in the command: a script with this in its path is, or lies in, the input.

    Raises:
        ProgramNotFoundError: it does not exist.
    """
    script = _script_of(command)
    if script is None or (place is not None and place in script):
        return
    if not os.path.exists(os.path.join(folder or "", script)):
        raise ProgramNotFoundError(
            f"There is no script `{script}` for `{command[0]}` to run.",
            "Check the spelling. Relative paths start at the working directory.",
        )


def _script_of(command: tuple[str, ...]) -> str | None:
    """The script that an interpreter would run; None if the command is something else."""
    if not is_interpreter(command[0]):
        return None
    arguments = iter(command[1:])
    for argument in arguments:
        if argument == "--":
            return next(arguments, None)
        if argument == _LONG_WITH_A_VALUE:
            next(arguments, None)
        elif not argument.startswith("-"):
            return argument
        elif not argument.startswith("--"):
            for place, letter in enumerate(argument[1:], 2):
                if letter in _INSTEAD_OF_A_SCRIPT:
                    return None
                if letter in _WITH_A_VALUE:
                    if place == len(argument):
                        next(arguments, None)
                    break
            if argument == "-":
                return None
    return None


def standard_input(source: str | None) -> bytes:
    """What a program reads: a file, our own input for `-`, or what our own is redirected from.

    Raises:
        UsageError: it cannot be read.
    """
    try:
        if source == "-":
            return sys.stdin.buffer.read()
        if source is not None:
            return read_to_end(Path(source))
        # `< FILE` is meant for the program. A pipe is read only on request: it may never end.
        if sys.stdin is not None and stat.S_ISREG(os.fstat(sys.stdin.fileno()).st_mode):
            return sys.stdin.buffer.read()
    except (OSError, ValueError) as error:
        if source is not None:
            why = error.strerror if isinstance(error, OSError) else error
            raise UsageError(f"The standard input {source} cannot be read: {why}.") from error
    return b""
