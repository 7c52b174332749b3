"""Runs a program once, in a private folder, and leaves nothing behind.

Rules of this module:

* Every run has its own folder, including one for temporary files; it is removed when the run is over, whatever ended
  it. Paths in it are the same each time, unless several runs are made at the same time.
* The program leads its own process group, which is killed when the run is over.
* An interrupt (Ctrl-C, a time limit) ends a run immediately.
* If we are killed, the guard (:mod:`replay_dd.experiment.guard`) does the same. It must be told about what it cannot
  discover itself.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import os
import select
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from replay_dd.errors.user import ProgramNotFoundError
from replay_dd.experiment import resource_limits
from replay_dd.experiment.guard import GUARD
from replay_dd.experiment.guard_process import GROUP, NOTES
from replay_dd.experiment.process_tree import kill_own_children, own_children
from replay_dd.experiment.room import check_room
from replay_dd.experiment.tally import TALLY
from replay_dd.experiment.working_copy import copy_folder

_ADDR_NO_RANDOMIZE = 0x0040000  # personality(2)
_PR_SET_CHILD_SUBREAPER = 36  # prctl(2)
_NO_FOLDER = "Create it, or record again. If the program removes it, record with `--fresh-copy`."
# Of the path of temporary files, whose length a program's memory depends on; a socket in there may have 107 bytes.
_TEMPORARY_LENGTH = 48
LONGEST_POLL_MS = 2**31 - 1
"""As poll(2) takes an int."""
SHELL_SIGNAL = 128
"""A shell ends with this and the number of the signal that has ended its program."""


@dataclass(frozen=True)
class Command:
    """What to run, and in what environment.

    Attributes:
        arguments: the program and its arguments.
        directory: the working directory.
        environment: all environment variables.
        standard_input: its standard input.
        fresh_copy: run in a fresh copy of the working directory, so that runs do not see each other's files.
        limits: of resources; those that are not named are our own.
    """

    arguments: tuple[str, ...]
    directory: Path
    environment: Mapping[str, str]
    standard_input: bytes = b""
    fresh_copy: bool = False
    limits: Mapping[str, int] = field(default_factory=dict)


class Finished(NamedTuple):
    """How a process ended.

    Attributes:
        status: the exit status; None if a signal or the time limit ended it.
        signal: the number of the signal that ended it, if one did.
        timed_out: whether it was killed at the time limit.
        seconds: how long it ran.
        output: what it wrote to standard output and standard error, if that was captured.
        place: where in its code a signal killed it, or it was at the time limit, if that was watched.
    """

    status: int | None
    signal: int | None
    timed_out: bool
    seconds: float
    output: bytes = b""
    place: str = ""


@dataclass
class PrivateFolder:
    """The folder of one run."""

    path: Path
    temporary: Path = field(init=False)

    def __post_init__(self) -> None:
        self.temporary = self.path / "tmp".ljust(_TEMPORARY_LENGTH - len(str(self.path)) - 1, "-")
        self.temporary.mkdir()

    def file(self, name: str) -> str:
        """The path of a file in it, as text: many are needed for each run."""
        return f"{self.path}{os.sep}{name}"

    def note(self, kind: str, what: str | int) -> None:
        """Note something to remove with the folder if we are killed; the kinds are those of the guard."""
        # If the disk is full, programs can still be found by their TMPDIR.
        with contextlib.suppress(OSError), (self.path / NOTES).open("ab", buffering=0) as file:
            file.write(os.fsencode(f"{kind} {what}\n"))


class LiveProcesses:
    """The running processes, so that an interrupt can end them all, whichever threads started them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._processes: set[subprocess.Popen[bytes]] = set()
        self._stopped = False

    def add(self, process: subprocess.Popen[bytes]) -> None:
        """Register a started process."""
        with self._lock:
            self._processes.add(process)
            stopped = self._stopped
        if stopped:
            kill_group(process)

    def remove(self, process: subprocess.Popen[bytes]) -> None:
        """Unregister a finished process."""
        with self._lock:
            self._processes.discard(process)

    def open(self) -> None:
        """Allow processes to start (again)."""
        with self._lock:
            self._stopped = False

    @contextlib.contextmanager
    def reopened_after(self) -> Iterator[None]:
        """Let processes start again after the block, however it ends; unless this process itself is about to exit."""
        try:
            yield
        finally:
            if not isinstance(sys.exc_info()[1], SystemExit):
                self.open()

    @property
    def stopped(self) -> bool:
        """Whether no process may run any more."""
        return self._stopped

    def kill_all(self) -> None:
        """End all running processes, and every one started from now on."""
        with self._lock:
            self._stopped = True
            processes = list(self._processes)
        for process in processes:
            kill_group(process)


LIVE = LiveProcesses()

LONGER_TO_HANG = 1.5
"""How many times a given time limit a run of a search must go on to count as a hang, where evidence needs only the
limit: what is reduced until it takes just too long would end in time by chance."""


@contextlib.contextmanager
def private_folder(beside: Path | None = None) -> Iterator[PrivateFolder]:
    """A folder for one run, removed afterwards.

    Args:
        beside: where to make it; by default where all temporary files are.
    """
    path = GUARD.make_folder(beside)
    try:
        yield PrivateFolder(path)
    finally:
        GUARD.remove_folder(path)


def run(
    command: Command,
    folder: PrivateFolder,
    *,
    time_limit_s: float | None,
    show_output: bool,
    at_limit: Callable[[int], object] = lambda process: None,
) -> Finished:
    """Run a command until it ends.

    Args:
        command: what to run.
        folder: the private folder of this run.
        time_limit_s: seconds after which it is killed; None for no limit.
        show_output: let it write to our standard output and error; otherwise capture its output.
        at_limit: called with the number of the process when the time limit is reached, before it is killed.

    Raises:
        NoRoomError: the disk of its folder is full at its end.
        ProgramNotFoundError: there is no such program, or it cannot be executed.
    """
    directory = directory_for(command, folder)
    input_path, output_path = folder.path / "stdin", folder.path / "output"
    input_path.write_bytes(command.standard_input)
    with input_path.open("rb") as stdin, output_path.open("wb") as output:
        started = time.monotonic()
        process = start_process(command, directory, folder, stdin.fileno(), None if show_output else output.fileno())
        LIVE.add(process)
        try:
            timed_out = not _wait(process, time_limit_s)
            if timed_out:
                at_limit(process.pid)
        finally:
            kill_group(process)
            process.wait()
            LIVE.remove(process)
    return finished_from(process.returncode, timed_out, time.monotonic() - started, output_path)


def directory_for(command: Command, folder: PrivateFolder) -> Path:
    """Where a run of a command works: in its folder, or in a copy of that."""
    if command.fresh_copy and command.directory.is_dir():
        return copy_folder(command.directory, folder.path / "work").copy
    return command.directory


def finished_from(code: int, timed_out: bool, seconds: float, output: Path) -> Finished:
    """How a process ended, from its return code as :mod:`subprocess` reports it (negative for a signal)."""
    check_room(output)
    return Finished(
        status=None if timed_out or code < 0 else code,
        signal=-code if code < 0 and not timed_out else None,
        timed_out=timed_out,
        seconds=seconds,
        output=_content(output),
    )


def _content(path: Path) -> bytes:
    """What is in a file; mostly nothing."""
    return path.read_bytes() if os.stat(path).st_size else b""


def start_process(
    command: Command, directory: Path, folder: PrivateFolder, stdin: int, output: int | None, keep: int | None = None
) -> subprocess.Popen[bytes]:
    """Start a command in its own process group, with the same memory addresses each time.

    Args:
        command: what to run.
        directory: where.
        folder: the private folder of the run; temporary files go there.
        stdin: the descriptor that it reads.
        output: the descriptor that it writes to; None for our own output.
        keep: one more descriptor for it.

    Raises:
        ProgramNotFoundError: there is no such program, or it cannot be executed.
    """
    program = command.arguments[0]
    if not directory.is_dir():
        raise ProgramNotFoundError(f"The working directory {directory} does not exist.", _NO_FOLDER)
    found = program if os.sep in program else find_program(program, command.environment.get("PATH"))
    if found is None or (os.sep in found and not _is_file(directory, found)):
        hint = f"To run a Python file, write `python {program}`." if _is_file(directory, program) else None
        raise ProgramNotFoundError(f"There is no program `{program}`.", hint)
    with _fixed_addresses(), resource_limits.at_start(command.limits):
        try:
            process = subprocess.Popen(
                command.arguments,
                executable=found,
                cwd=directory,
                env={**command.environment, "TMPDIR": str(folder.temporary)},
                pass_fds=() if keep is None else (keep,),
                stdin=stdin,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        except OSError as error:
            hint = f"To run a Python file, write `python {program}`." if program.endswith(".py") else None
            raise ProgramNotFoundError(f"The program `{program}` cannot be run: {error.strerror}.", hint) from error
    TALLY.started()
    resource_limits.set_for(process.pid, command.limits)
    folder.note(GROUP, process.pid)
    return process


def find_program(name: str, path: str | None) -> str | None:
    """The file of a program that is looked up on a ``PATH``; None if there is none."""
    try:
        return shutil.which(name, path=path)
    except OSError:  # the name is too long
        return None


def _is_file(directory: Path, program: str) -> bool:
    try:
        return (directory / program).is_file()
    except OSError:  # the name is too long
        return False


def _wait(process: subprocess.Popen[bytes], time_limit_s: float | None) -> bool:
    """Wait for the end; False if the limit came first."""
    try:
        descriptor = os.pidfd_open(process.pid)
    except (AttributeError, OSError):  # not on Linux, or an old kernel: subprocess polls
        try:
            process.wait(time_limit_s)
        except subprocess.TimeoutExpired:
            return False
        return True
    try:
        poll = select.poll()
        poll.register(descriptor, select.POLLIN)
        return bool(poll.poll(None if time_limit_s is None else min(time_limit_s * 1000, LONGEST_POLL_MS)))
    finally:
        os.close(descriptor)


def kill_group(process: subprocess.Popen[bytes]) -> None:
    """Kill a process and whatever is left of its group."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


@functools.cache
def _libc() -> ctypes.CDLL:
    """The C library; one object for all runs, since Python never frees the function types of each."""
    return ctypes.CDLL(None)


@contextlib.contextmanager
def _fixed_addresses() -> Iterator[None]:
    """Give processes started inside the same addresses each time, if the system allows it.

    Addresses determine the order of sets of objects. personality(2) applies to the calling thread and is inherited.
    """
    try:
        personality = _libc().personality
        before = personality(0xFFFFFFFF)
        changed = before != -1 and personality(before | _ADDR_NO_RANDOMIZE) != -1
    except (AttributeError, OSError):
        yield
        return
    try:
        yield
    finally:
        if changed:
            personality(before)


@contextlib.contextmanager
def no_leftovers() -> Iterator[None]:
    """Wrap a whole command: end whatever its programs left running.

    Processes that leave their group (daemons) are reparented to us when their parent ends, and killed here.
    """
    LIVE.open()
    adopts = _set_subreaper(1)
    before = own_children()
    with GUARD.held():
        try:
            yield
        finally:
            LIVE.kill_all()
            if adopts:
                kill_own_children(before | GUARD.processes())
                _set_subreaper(0)
            LIVE.open()


def _set_subreaper(value: int) -> bool:
    """Whether orphaned descendants become our children; returns False if the system does not support it."""
    try:
        return bool(_libc().prctl(_PR_SET_CHILD_SUBREAPER, value, 0, 0, 0) == 0)
    except (AttributeError, OSError):
        return False
