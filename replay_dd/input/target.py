"""Runs a command on one version of the input.

Rules of this module:

* The input is a file of the original's name in the run's folder for temporary files, or standard input. The original
  is read once and never touched. A folder is unpacked there; without a place for its path, the command runs in it.
* Output is judged without the path of that folder: it differs from run to run.
* The command runs in the working directory. Whoever writes there is found out by a look before and after the first run.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from replay_dd.errors.user import UsageError
from replay_dd.experiment.hangs import where_it_hangs
from replay_dd.experiment.process import Command, Finished, PrivateFolder, private_folder, run
from replay_dd.experiment.traced import fails_alike, is_doubtful, is_unexplained, run_traced
from replay_dd.input.folder import Packing

PLACE = "{}"
"""What stands for the input in a command."""

OPTIONS = "{options}"
"""What stands for options that are tried."""

_MOST_IN_VAIN = 3


@dataclass
class Target:
    """A command, and how to give it its input.

    Attributes:
        command: the program and its arguments; ``{}`` in them is the path of the input. Without it, the input is
            standard input.
        name: the file name of the input.
        directory: the working directory.
        environment: all environment variables.
        fresh_copy: run in a fresh copy of the working directory.
        time_limit_s: seconds after which a run is killed.
        packing: how the files of a folder or an archive are packed, if the input is one.
        archive: makes an archive of these files; None for a folder.
        leaves_files: whether a run was seen to leave files in the working directory.
        traced: whether runs are traced, since one was seen to crash without saying where.
        traced_in_vain: how many runs were traced that might have crashed, and had not.
        lived_with: of crashes of what the command starts, by how the run ends and where they are, whether they are not
            why it fails.
    """

    command: tuple[str, ...]
    name: str
    directory: Path = field(default_factory=Path.cwd)
    environment: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    fresh_copy: bool = False
    time_limit_s: float | None = None
    packing: Packing | None = None
    archive: Callable[[bytes], bytes] | None = None
    leaves_files: bool = False
    traced: bool = False
    traced_in_vain: int = 0
    lived_with: dict[tuple[int | None, int | None, str], bool] = field(default_factory=dict)

    def size(self, content: bytes) -> int:
        """How many bytes of input a content stands for."""
        return len(content) if self.packing is None else self.packing.size(content)

    def names(self, content: bytes) -> Iterator[str]:
        """How the output names the files of an input."""
        if self.packing is None:
            yield self.name
        else:
            yield from (f"{self.name}/{file.path}" for file in self.packing.files(content))

    def limit_s(self, longer: float) -> float | None:
        """So many times the time limit; None if there is none."""
        return None if self.time_limit_s is None else longer * self.time_limit_s

    @property
    def is_folder(self) -> bool:
        """Whether the program gets a folder."""
        return self.packing is not None and self.archive is None

    def given(self, content: bytes) -> bytes:
        """The file that the program gets, unless it gets a folder."""
        return content if self.archive is None else self.archive(content)

    @property
    def takes_a_file(self) -> bool:
        """Whether the command names its input, rather than reading standard input."""
        return any(PLACE in argument for argument in self.command[1:])

    def run(
        self,
        content: bytes,
        *,
        more: tuple[str, ...] = (),
        variables: Mapping[str, str] | None = None,
        longer: float = 1.0,
        looks: bool = False,
    ) -> Finished:
        """Run the command on this content.

        Args:
            content: its input.
            more: arguments to put where ``{options}`` stands, or at the end.
            variables: all environment variables, if not those of the target.
            longer: how many times the time limit it may take.
            looks: look where it is at the time limit, which takes up to two seconds.

        Raises:
            ProgramNotFoundError: there is no such program.
        """
        if self.traced:
            return self._seen(content, more, variables, longer)
        finished = self._run(content, more, variables, longer, looks=looks)
        if self.is_unexplained(finished):
            again = self._seen(content, more, variables, longer)
            if again.place:
                self.traced = True
                return again
            self.traced_in_vain += 1
        return finished

    def _seen(
        self, content: bytes, more: tuple[str, ...], variables: Mapping[str, str] | None, longer: float
    ) -> Finished:
        """A traced run; it has a place if what crashed there is why it fails."""
        finished = self._run(content, more, variables, longer, traced=True)
        if not is_doubtful(finished):
            return finished
        crash = finished.status, finished.signal, finished.place
        if crash not in self.lived_with:
            spared = self._run(content, more, variables, longer, traced=True, spares=True)
            self.lived_with[crash] = fails_alike(finished, spared)
        return finished._replace(place="") if self.lived_with[crash] else finished

    def is_unexplained(self, finished: Finished) -> bool:
        """Whether it should be seen, and has not been, where a run has crashed."""
        return not self.traced and self.traced_in_vain < _MOST_IN_VAIN and is_unexplained(finished)

    def _run(
        self,
        content: bytes,
        more: tuple[str, ...],
        variables: Mapping[str, str] | None,
        longer: float,
        *,
        traced: bool = False,
        spares: bool = False,
        looks: bool = False,
    ) -> Finished:
        with private_folder() as folder:
            environment = self.environment if variables is None else variables
            given = content if self.is_folder else self.given(content)
            command = Command(self._with(more), self.directory, environment, given, self.fresh_copy)
            path = folder.temporary / self.name
            if self.is_folder and self.packing is not None:
                self.packing.unpack(content, path)
                if not self.takes_a_file:
                    command = replace(command, directory=path, standard_input=b"", fresh_copy=False)
            elif self.takes_a_file:
                path.write_bytes(given)
            if self.takes_a_file:
                arguments = tuple(argument.replace(PLACE, str(path)) for argument in command.arguments)
                command = replace(command, arguments=arguments, standard_input=b"")
            if traced:
                finished = run_traced(command, folder, time_limit_s=self.limit_s(longer), spares=spares)
            else:
                finished = _run_and_look(command, folder, self.limit_s(longer), looks=looks)
            return finished._replace(output=finished.output.replace(os.fsencode(folder.temporary) + b"/", b""))

    def _with(self, more: tuple[str, ...]) -> tuple[str, ...]:
        if OPTIONS not in self.command:
            return self.command + more
        place = self.command.index(OPTIONS)
        return (*self.command[:place], *more, *self.command[place + 1 :])


def _run_and_look(command: Command, folder: PrivateFolder, limit_s: float | None, *, looks: bool) -> Finished:
    """Run a command, and look where it is at the time limit, if that is wanted; that adds nothing to its output."""
    place, output = "", folder.path / "output"
    size: int | None = None

    def look(process: int) -> None:
        nonlocal place, size
        size = output.stat().st_size
        place = where_it_hangs(process, output)

    finished = run(command, folder, time_limit_s=limit_s, show_output=False, **({"at_limit": look} if looks else {}))
    return finished._replace(place=place, output=finished.output[:size])


def check_command(command: Sequence[str], file: Path) -> None:
    """Check that a command does not always read the same file.

    Raises:
        UsageError: it names the file itself.
    """
    if any(PLACE in argument for argument in command[1:]):
        return
    for argument in command[1:]:
        if os.path.exists(argument) and file.exists() and os.path.samefile(argument, file):
            raise UsageError(
                f"The command names {argument} itself, so that each test would read the whole file.",
                f"Write {PLACE} in its place; each test puts the path of its own version there.",
            )


def snapshot(directory: Path) -> frozenset[tuple[str, int, int]]:
    """What lies in a folder: names, sizes and times of change."""
    found = set()
    with os.scandir(directory) as entries:
        for entry in entries:
            try:
                there = entry.stat(follow_symlinks=False)
            except OSError:
                continue
            found.add((entry.name, there.st_size, there.st_mtime_ns))
    return frozenset(found)
