"""A folder that keeps what hunts have learnt, so that the next one goes on from there.

It has one folder for each program: by its command, its working directory as seen from the corpus, its interpreter, and
how it is hunted. In there are the logs of the failures that were found, and a file of what was tried and seen; see
:mod:`~replay_dd.schedules.hunting.session`.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
from pathlib import Path
from typing import Any

from replay_dd.errors.user import CorpusError
from replay_dd.files import unwritable, write_whole
from replay_dd.logfile import read_regular
from replay_dd.schedules.hunting.memory import FORMAT, VERSION, check_beginning
from replay_dd.schedules.hunting.session import Session
from replay_dd.schedules.model import Program, Settings
from replay_dd.schedules.running.target import TargetRun

_MARK = "corpus.json"
_ANOTHER = "Name a new or an empty folder."
_NOT_HOW = ("start_ns", "entropy_seed", "library_key", "real_clock", "preload", "untested")


class Corpus:
    """A folder that keeps what hunts have learnt.

    Args:
        folder: where; it is made if there is none.
        name: what the program is called there; empty to go by its command.

    Raises:
        CorpusError: it holds something else, or is damaged.
        LogVersionError: it is of a newer replay-dd.
        OutputError: it cannot be made or written to.
    """

    def __init__(self, folder: Path, name: str = "") -> None:
        self.folder = folder
        self._name = name
        mark = folder / _MARK
        try:
            there = sorted(one.name for one in folder.iterdir()) if folder.exists() else []
        except OSError as error:
            raise unwritable(folder, error.strerror or str(error)) from error
        if _MARK in there:
            check_beginning(read_regular(mark, 4096).partition(b"\n")[0], mark, _ANOTHER)
        elif any(not name.startswith(".") for name in there):
            raise CorpusError(f"{folder} is not a corpus: it holds other files, such as {there[-1]}.", _ANOTHER)
        else:
            write_whole(mark, json.dumps({"format": FORMAT, "version": VERSION}).encode() + b"\n")
        if not os.access(folder, os.W_OK | os.X_OK):
            raise unwritable(folder, os.strerror(errno.EACCES))

    def session(
        self, program: Program, settings: Settings, first: TargetRun, strategy: str, failure: str = ""
    ) -> Session:
        """What it knows of a program, and what a hunt adds to that.

        Args:
            program: as it was given.
            settings: what to count and hold fixed.
            first: its first run.
            strategy: how schedules are chosen, in words.
            failure: text that descriptions of failures must contain.

        Raises:
            CorpusError: what it keeps is damaged.
        """
        about = self._about(program, settings, first, strategy)
        digest = hashlib.sha256(json.dumps(about, sort_keys=True).encode("utf-8", "surrogatepass")).hexdigest()[:8]
        folder = self.folder / f"{_short_name(about['command'])}-{digest}"
        return Session(folder, about, settings, first, failure)

    def _about(self, program: Program, settings: Settings, first: TargetRun, strategy: str) -> dict[str, Any]:
        name, *arguments = program.command
        here = program.directory.rstrip("/")
        command = [Path(name).name, *(word.replace(here + os.sep, "").replace(here, ".") for word in arguments)]
        how = {name: value for name, value in vars(settings).items() if name not in _NOT_HOW and value}
        return {
            "command": [self._name] if self._name else command,
            "directory": os.path.relpath(program.directory, self.folder.absolute().parent),
            "process": program.process,
            "input": hashlib.sha256(program.standard_input).hexdigest()[:8] if program.standard_input else "",
            "python": ".".join(first.log.program.python.split()[0].split(".")[:2]),
            "strategy": strategy,
            "settings": json.loads(json.dumps(how, default=str)),
        }


def _short_name(command: list[str]) -> str:
    words = [word for word in command[1:] if not word.startswith("-")]
    last = words[-1] if words else command[0]
    name = re.sub(r"[^\w.\[\]-]+", "-", last.replace("::", ".").replace("/", ".")).strip("-.")
    return name[-60:].lstrip("-.") or "program"
