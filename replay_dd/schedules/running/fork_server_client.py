"""Runs a program in forks of a process that waits where it starts its first thread, or before that.

Rules of this module:

* The log of a run does not depend on how it was made; the final proof of an isolation runs in fresh processes anyway.
* Whether the program can be forked there, it says itself (see ``runtime/process/fork_server.py``). A process that
  cannot be makes one run, so it comes to its own end, where the program cleans up.
* A server handles one run at a time.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from replay_dd.experiment.forked import (
    CannotForkError,
    Ended,
    fork,
    go_on,
    message_to_go_on,
)
from replay_dd.experiment.guard_process import remove_system_names
from replay_dd.experiment.process import (
    LIVE,
    Finished,
    PrivateFolder,
    finished_from,
    private_folder,
)
from replay_dd.experiment.room import no_room
from replay_dd.schedules.model import Program, Settings
from replay_dd.schedules.running.early_stop import EarlyStops, FilesThere
from replay_dd.schedules.running.first_thread import Start, start_program
from replay_dd.schedules.running.processes import processes_in
from replay_dd.schedules.running.target import (
    CHANNEL,
    REQUEST,
    Plan,
    TargetRun,
    make_run,
    request_of,
)
from replay_dd.schedules.running.temporary_files import TemporaryFiles
from replay_dd.schedules.running.time_limit import STACKS, ThreadAtLimit, threads_at_limit
from replay_dd.schedules.runtime.channel import is_cut_off, records_in

_EMPTY = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
_READ_AT_ONCE = 1 << 20
_MESSAGE_LIMIT = 32_000  # bytes; a longer request goes into a file


class ForkServer:
    """A program that is stopped where it starts its first thread, ready to be forked.

    Args:
        program: what to run.
        settings: what to count and hold fixed.
        start: starts it.
        early: knows where it stops, if not at its first thread.

    Attributes:
        closed: whether it was ended, or is about to be.
        refusal: why the program cannot be forked; it then makes one run itself. Empty if it can.
    """

    def __init__(
        self, program: Program, settings: Settings, start: Start = start_program, early: EarlyStops | None = None
    ) -> None:
        self.closed = False
        early = early or EarlyStops()
        stop = early.stop
        self._program = program
        self._settings = settings
        self._context = contextlib.ExitStack()
        self._running = threading.Lock()
        self._began = time.monotonic()
        try:
            self._started = started = start(program, settings, self._context, stop)
            self._files = FilesThere(stop)
            self._socket, self._own_folder = started.socket, started.folder
            self.refusal = started.refusal or self._keep_temporary_files()
            self._is_last = not self.refusal or not early.after_refusal(stop, started.earlier)
            if self.refusal and started.process.fileno() < 0:
                raise CannotForkError(self.refusal)
            # All runs use the same folder in turn; it is emptied in between.
            self._folder = self._context.enter_context(private_folder())
            self._input, self._output = self._folder.path / "stdin", self._folder.path / "output"
            self._input.write_bytes(program.standard_input)
            self._told = Told(self._folder.path / CHANNEL)
            self._context.callback(self._told.close)
        except BaseException:
            self._context.close()
            raise

    @property
    def is_copy(self) -> bool:
        """Whether it is a copy of another process, of which more can be had."""
        return self._started.is_copy

    @property
    def error(self) -> CannotForkError | None:
        """Why no other server can do better than this one; None if one may."""
        return CannotForkError(self.refusal) if self.refusal and self._is_last and not self.is_copy else None

    def is_still_good(self, run: TargetRun) -> bool:
        """Whether the program found the world as a fresh process would now, after this run."""
        return self._files.are_the_same(run.changed_files)

    def _keep_temporary_files(self) -> str:
        """Copy the files that all runs are to find; why that is impossible, or nothing."""
        folder = self._own_folder
        try:
            self._temporary = TemporaryFiles(folder.temporary, folder.path / "temporary")
        except OSError as error:
            return f"its temporary files cannot be kept: {error}"
        self._context.callback(self._temporary.forget)
        return ""

    def close(self) -> None:
        """End the server and remove its folder; a run that it is making ends with an error."""
        self.closed = True
        with contextlib.suppress(OSError):  # it has ended
            self._socket.shutdown(socket.SHUT_RDWR)
        if self.refusal:
            self._started.process.kill()
        # What a run uses must not be closed under its hands: its descriptors and folders might be another's by then.
        with self._running:
            self._context.close()

    def run(self, plan: Plan, time_limit_s: float | None) -> TargetRun:
        """Make one run, in a fork of the waiting program.

        Raises:
            CannotForkError: the server has ended.
        """
        with self._running:
            self._check_open()
            return self._run(plan, time_limit_s)

    def run_itself(self, plan: Plan, time_limit_s: float | None) -> TargetRun | None:
        """Let the waiting program make one run itself, which is the last one of this server.

        Returns:
            The run; None if a fresh process might have made it in another way.

        Raises:
            NotControlledError: it reported nothing.
            CannotForkError: the server has ended.
        """
        with self._running:
            self._check_open()
            if self.is_copy:
                return self._run_copy_itself(plan, time_limit_s)
            folder = self._own_folder
            finished, at_limit = self._go_on(plan, folder, [], time_limit_s)
            if len(processes_in(folder.path, CHANNEL)) > 1:  # others have begun without this plan
                return None
            return make_run(self._program, self._settings, plan, finished, folder, at_limit)

    def _run_copy_itself(self, plan: Plan, time_limit_s: float | None) -> TargetRun | None:
        folder = self._folder
        with open_only(self._input, os.O_RDONLY) as stdin, open_only(self._output, _EMPTY) as output:
            descriptors = [stdin, output, output, self._told.empty()]
            finished, at_limit = self._go_on(plan, folder, descriptors, time_limit_s)
        records = records_in(self._told.read())
        if not records:  # it has ended without a thread
            return None
        return make_run(self._program, self._settings, plan, finished, folder, at_limit, records)

    def _go_on(
        self, plan: Plan, folder: PrivateFolder, descriptors: list[int], time_limit_s: float | None
    ) -> tuple[Finished, list[ThreadAtLimit]]:
        process = self._started.process
        path = folder.path / REQUEST
        path.write_bytes(request_of(self._settings, plan, folder))
        message = message_to_go_on(str(path))
        in_time = go_on(self._socket, message, descriptors, process.fileno(), time_limit_s)
        self._check_open()
        at_limit = [] if in_time else threads_at_limit(folder.path, process.process_id)
        code = process.end()
        return finished_from(code, not in_time, time.monotonic() - self._began, folder.path / "output"), at_limit

    def _check_open(self) -> None:
        if self.closed or LIVE.stopped:
            raise CannotForkError("the server has ended")

    def _run(self, plan: Plan, time_limit_s: float | None) -> TargetRun:
        folder = self._folder
        empty_folder(folder)
        request = request_of(self._settings, plan, folder)
        # Opened anew for each run: the one before may have moved the place in it, and changed how it is read.
        with open_only(self._input, os.O_RDONLY) as stdin, open_only(self._output, _EMPTY) as output:
            finished = self._fork(request, [stdin, output, output, self._told.empty()], time_limit_s)
        return make_run(
            *(self._program, self._settings, plan, finished(self._output), folder, finished.at_limit),
            records=records_in(self._told.read()),
        )

    def _fork(self, request: bytes, descriptors: list[int], time_limit_s: float | None) -> _Ended:
        message: bytes | str = request
        if len(request) > _MESSAGE_LIMIT:
            path = self._folder.path / REQUEST
            path.write_bytes(request)
            message = str(path)
        at_limit: list[ThreadAtLimit] = []
        ended = fork(
            *(self._socket, message, descriptors, time_limit_s),
            lambda pid: None if self.closed else at_limit.extend(threads_at_limit(self._folder.path, pid)),
        )
        self._temporary.put_back()
        remove_system_names(self._own_folder.path)  # the program got that folder before it was forked
        return _Ended(ended, at_limit)


def empty_folder(folder: PrivateFolder) -> None:
    """Remove what the previous run left there."""
    for name in (REQUEST, STACKS):
        with contextlib.suppress(FileNotFoundError):
            path = folder.file(name)
            # Nearly all stay empty, and some file systems take their time to find a number for a new one.
            if os.stat(path).st_size:
                os.unlink(path)


@contextlib.contextmanager
def open_only(path: Path, flags: int) -> Iterator[int]:
    """The descriptor of a file that is opened for nobody here: without the buffers of a file object."""
    descriptor = os.open(path, flags | os.O_CLOEXEC, 0o666)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


class Told:
    """The file in which forked runs tell what they do, one after another.

    It is in memory: file systems take long to make and remove a file for each run.

    Args:
        path: where a run goes on whose program has closed the descriptor.
    """

    def __init__(self, path: Path) -> None:
        self._path = str(path)
        try:
            self._descriptor = os.memfd_create("replay-dd")
        except (AttributeError, OSError):  # forbidden here
            self._descriptor = os.open(path.with_name("told"), os.O_RDWR | os.O_CREAT, 0o600)
        fcntl.fcntl(self._descriptor, fcntl.F_SETFL, os.O_APPEND)

    def empty(self) -> int:
        """Forget what the previous run told; returns the descriptor for the next one."""
        os.ftruncate(self._descriptor, 0)
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self._path)
        return self._descriptor

    def read(self) -> bytes:
        """What the run told.

        Raises:
            NoRoomError: there was none for all of it.
        """
        on_disk = os.path.exists(self._path)
        if is_cut_off(self._descriptor) or (on_disk and is_cut_off(self._path)):
            os.chmod(self._descriptor, 0o600)  # the next run may have room
            raise no_room()
        parts, size = [], 0
        while part := os.pread(self._descriptor, _READ_AT_ONCE, size):
            parts.append(part)
            size += len(part)
        if on_disk:
            parts.append(Path(self._path).read_bytes())
        return b"".join(parts)

    def close(self) -> None:
        """Remove it."""
        os.close(self._descriptor)


class _Ended:
    """How a forked run ended."""

    def __init__(self, ended: Ended, at_limit: list[ThreadAtLimit]) -> None:
        self._ended = ended
        self.at_limit = at_limit

    def __call__(self, output: Path) -> Finished:
        return self._ended.finished(output)
