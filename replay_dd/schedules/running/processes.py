"""One log is one process: which of the Python processes that a command started is under control.

Rules of this module:

* Every Python process of a run leaves a file with its command line in the run's folder, under its number: the order in
  which they started. See ``runtime/site/sitecustomize.py``.
* If the program says which process is meant (a number, or the name of its script or module), only that one is under
  control, and the others run as they would without us.
* Otherwise each is, and tells on a channel of its own. The only one that starts threads is chosen; if none does, the
  last one. The choice is then kept with the program, so that all runs are made under the same circumstances.
"""

from __future__ import annotations

import shlex
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

from replay_dd.errors.program import SeveralProcessesError
from replay_dd.experiment.room import no_room
from replay_dd.schedules.model import Program
from replay_dd.schedules.runtime import channel

_LONGEST_TEXT = 120
_OPTIONS_WITH_A_VALUE = ("-W", "-X")


class PythonProcess(NamedTuple):
    """A Python process of a run.

    Attributes:
        number: the how-many-th it was to start, from 1.
        arguments: its command line.
        records: what it told; nothing if it was not under control.
    """

    number: int
    arguments: tuple[str, ...]
    records: list[tuple[Any, ...]]

    @property
    def threads(self) -> int:
        """How many threads it had; 0 if it was not under control."""
        ends = [len(record[3]) for record in self.records if record[0] == channel.END]
        names = {record[1] for record in self.records if record[0] in (channel.THREAD, channel.SWITCH)}
        return max([len(names), *ends])

    @property
    def name(self) -> str:
        """The name of its script or module."""
        return name_of(self.arguments)

    def __str__(self) -> str:
        text = shlex.join(self.arguments)
        return f"{self.number}: {text[:_LONGEST_TEXT]}{'...' if len(text) > _LONGEST_TEXT else ''}"


def name_of(arguments: tuple[str, ...]) -> str:
    """The name of the script or module that an interpreter runs; ``-c`` for a program on the command line."""
    rest = iter(arguments[1:])
    for argument in rest:
        if argument in ("-m", "-c"):
            return next(rest, "") if argument == "-m" else "-c"
        if argument in _OPTIONS_WITH_A_VALUE:
            next(rest, None)
        elif not argument.startswith("-"):
            return Path(argument).name
    return ""


def processes_in(folder: Path, told: str) -> list[PythonProcess]:
    """The Python processes of a run, in the order in which they started.

    Args:
        folder: the folder of the run.
        told: the name of the first process's channel.

    Raises:
        NoRoomError: there was none for all that one of them told.
    """
    found = []
    number = 1
    while (path := folder / f"process-{number}").exists():
        arguments = tuple(path.read_bytes().decode(errors="surrogateescape").split("\0"))
        own = folder / (told if number == 1 else f"{told}-{number}")
        exists = own.exists()
        if exists and channel.is_cut_off(str(own)):
            raise no_room()
        found.append(PythonProcess(number, arguments, channel.read_records(str(own)) if exists else []))
        number += 1
    return found


def choose(program: Program, processes: list[PythonProcess]) -> PythonProcess | None:
    """The process that the log is about; None if none was under control.

    Raises:
        SeveralProcessesError: several start threads, and the program does not say which one is meant.
    """
    controlled = [process for process in processes if process.records]
    with_threads = [process for process in controlled if process.threads > 1]
    if len(with_threads) > 1:
        listed = "; ".join(map(str, with_threads))
        raise SeveralProcessesError(
            f"The command `{shlex.join(program.command)}` started {len(with_threads)} Python processes that start "
            f"threads, and one log is one process: {listed}."
        )
    candidates = with_threads or controlled
    return candidates[-1] if candidates else None


def how_to_name(process: PythonProcess, processes: list[PythonProcess]) -> str:
    """The name by which a process is found again, if it is the only one of that name; else its number."""
    names = Counter(other.name for other in processes)
    return process.name if process.name and names[process.name] == 1 else str(process.number)


def note(chosen: PythonProcess, processes: list[PythonProcess]) -> str:
    """What to tell about the others."""
    others = "; ".join(str(process) for process in processes if process is not chosen)
    return f"one log is one process: this is of process {chosen}; not under control: {others}"
