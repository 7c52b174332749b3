"""The program that is traced: what the command line says of it, and how its process is started."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from replay_dd.errors.program import NotTraceableError
from replay_dd.errors.user import ProgramNotFoundError
from replay_dd.experiment.interpreters import is_interpreter

_START = Path(__file__).parent / "runtime" / "start.py"
_WITH_A_VALUE = "WX"
_FIXED_HASHES = "0"
NOT_A_SCRIPT = "Give a script or a module: `replay-dd trace -- python SCRIPT`, or `-- python -m MODULE`."


@dataclass
class Target:
    """A Python program.

    Attributes:
        interpreter: the interpreter with its options.
        program: the script, or ``-m`` and a module; and its arguments.
        standard_input: what it reads.
        directory: the working folder; each run has a fresh copy.
        environment: all environment variables.
        time_limit_s: seconds after which a run is killed.
    """

    interpreter: tuple[str, ...]
    program: tuple[str, ...]
    standard_input: bytes = b""
    directory: Path = field(default_factory=Path.cwd)
    environment: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    time_limit_s: float | None = None

    @property
    def name(self) -> str:
        """How the program is called in answers."""
        return self.program[1] if self.program[0] == "-m" else os.path.basename(self.program[0])

    @property
    def variables(self) -> dict[str, str]:
        """The environment of its process: the same order of sets and dictionaries each time."""
        return {"PYTHONHASHSEED": _FIXED_HASHES, **self.environment, "PYTHONDONTWRITEBYTECODE": "1"}

    def arguments(self, descriptor: int, folder: Path) -> tuple[str, ...]:
        """What is run: the interpreter, with what notes statements and follows traces in front of the program."""
        return (*self.interpreter, str(_START), str(descriptor), str(folder), *self.program)


def _is_python(path: str) -> bool:
    """Whether a file looks like a Python script."""
    if not os.path.isfile(path):
        return False
    try:
        with open(path, "rb") as file:
            first = file.readline(200)
    except OSError:
        return False
    return path.endswith((".py", ".pyw")) or (first.startswith(b"#!") and b"python" in first)


def target_of(command: Sequence[str], standard_input: bytes = b"", directory: Path | None = None) -> Target:
    """The program that a command runs.

    Args:
        command: an interpreter, its options, and a script or a module with its arguments.
        standard_input: what the program reads.
        directory: the working folder; by default ours.

    Raises:
        ProgramNotFoundError: there is no such script.
        NotTraceableError: it is no Python script or module.
    """
    if not is_interpreter(command[0]):
        if _is_python(command[0]):
            raise NotTraceableError(f"`{command[0]}` is not started by Python.", f"Write `python {command[0]}`.")
        raise NotTraceableError(f"`{command[0]}` is not a Python interpreter.", NOT_A_SCRIPT)
    directory = directory or Path.cwd()
    place = 1
    while place < len(command):
        word = command[place]
        if word == "-c" or word == "-" or (word.startswith("-") and not word.startswith("--") and "c" in word[1:]):
            raise NotTraceableError(f"`{command[0]} {word}` runs no file.", NOT_A_SCRIPT)
        if word == "-m" or not word.startswith("-"):
            break
        place += 2 if word[1:] in _WITH_A_VALUE else 1
    interpreter, program = tuple(command[:place]), tuple(command[place:])
    if not program or program == ("-m",):
        raise NotTraceableError(f"`{' '.join(command)}` names no script.", NOT_A_SCRIPT)
    if program[0] != "-m" and not (directory / program[0]).exists():
        raise ProgramNotFoundError(
            f"There is no script `{program[0]}` for `{command[0]}` to run.",
            "Check the spelling. Relative paths start at the working directory.",
        )
    return Target(interpreter, program, standard_input, directory)
