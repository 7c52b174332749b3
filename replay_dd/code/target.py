"""Runs a tool on one version of a program.

Rules of this module:

* A program is written into the run's folder for temporary files: its only file, or a folder of the original's name. The
  original is read once and never touched.
* Output is judged without the path of that folder: it differs from run to run.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from replay_dd.code.source import Program
from replay_dd.experiment.process import Command, Finished, private_folder, run
from replay_dd.input.target import PLACE, Target


@dataclass
class CodeTarget(Target):
    """A command, and what it gets as ``{}``.

    Attributes:
        arguments: paths of files or folders of the program, relative to where it is written. Empty if the program is
            its only file.
        folders: those of them that are folders.
    """

    arguments: Sequence[str] = ()
    folders: frozenset[str] = frozenset()

    def run_program(self, program: Program, *, longer: float = 1.0) -> Finished:
        """Run the command on a program.

        Args:
            program: the program.
            longer: how many times the time limit it may take.

        Raises:
            ProgramNotFoundError: there is no such command.
        """
        if not self.arguments:
            return self.run(program.files[0].written, longer=longer)
        with private_folder() as folder:
            root = folder.temporary
            for argument in self.folders:
                (root / argument).mkdir(parents=True, exist_ok=True)
            write_files(program, root)
            paths = [str(root / argument) for argument in self._left(program)]
            command = Command(tuple(self._filled(paths)), self.directory, self.environment, b"", self.fresh_copy)
            finished = run(command, folder, time_limit_s=self.limit_s(longer), show_output=False)
            return finished._replace(output=finished.output.replace(os.fsencode(root) + b"/", b""))

    def _left(self, program: Program) -> Iterator[str]:
        """The files that are left, and all folders."""
        names = {file.name for file in program.files}
        return (one for one in self.arguments if one in names or one in self.folders)

    def _filled(self, paths: Sequence[str]) -> Iterator[str]:
        for argument in self.command:
            if argument == PLACE:
                yield from paths
            else:
                yield argument.replace(PLACE, shlex.join(paths))


def write_files(program: Program, folder: Path) -> None:
    """Write the files of a program into a folder."""
    for file in program.files:
        path = folder / file.name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(file.written)
