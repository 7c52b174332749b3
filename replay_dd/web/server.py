"""The server of a flow's pages, started anew for each playback.

Rules of this module:

* What a server keeps, in memory or in a file, would lead from one playback to the next. So it is started before each
  one, in a fresh copy of the working folder, and killed after it.
* It is ready when its port can be connected to. Nobody else may answer there.
* What it writes is read for reports of exceptions: pages often say no more than "Internal Server Error".
"""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

from replay_dd.errors.program import ServerFailedError
from replay_dd.experiment.complaints import telling_line
from replay_dd.experiment.crash_report import Report
from replay_dd.experiment.crash_reports import crash_report, crash_reports
from replay_dd.experiment.process import LIVE, Command, PrivateFolder, kill_group, private_folder, start_process
from replay_dd.experiment.working_copy import MOST_BYTES, MOST_FILES, WorkingCopy, copy_folder
from replay_dd.web.flow import Flow
from replay_dd.web.listening import listens

START_LIMIT_S = 60.0
_END_LIMIT_S = 5.0
_POLL_S = 0.02
_CONNECT_S = 1.0
_STARTS = 3
_PAUSE_S = 0.5
_NOTICE_S = 2.0
_MOST_OUTPUT = 1 << 20
_LONGEST_REPORT = 1 << 16
_PORTS = {"http": 80, "https": 443}


class RunningServer:
    """A server that was started for one playback.

    Args:
        process: its process.
        output: the file that it writes to.
        copy: the folder in which it works; None for the working folder itself.
    """

    def __init__(self, process: subprocess.Popen[bytes], output: Path, copy: WorkingCopy | None) -> None:
        self._process = process
        self._output = output
        self._copy = copy
        self._read = 0
        self._seen = 0

    @property
    def end(self) -> str:
        """How it ended, in words; empty if it is running."""
        status = self._process.poll()
        if status is None:
            return ""
        return f"was killed by signal {-status}" if status < 0 else f"ended with status {status}"

    @property
    def last_words(self) -> str:
        """The line of its output that tells most."""
        output = self._output.read_bytes()[-_MOST_OUTPUT:]
        report = crash_report(output)
        return self._told(telling_line(output) if report is None else report.told)

    def is_ready(self) -> None:
        """Take note that it answers; what it has said while starting is no failure of the flow."""
        self._read = self._seen = self._output.stat().st_size

    def reports(self) -> list[Report]:
        """The reports of exceptions that it has written since the last ones, in order."""
        if self._output.stat().st_size == self._seen:
            return []
        with self._output.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            # The output may have been emptied meanwhile.
            begins = file.seek(max(min(self._read, size), size - _MOST_OUTPUT))
            written = file.read(size - begins)
        self._seen = size
        written = written[: written.rfind(b"\n") + 1]  # it may be writing a line
        found, end = crash_reports(written)
        # It may be writing a report, too.
        self._read = begins + (end or max(0, len(written) - _LONGEST_REPORT))
        return [one._replace(signature=self._told(one.signature), words=self._told(one.told)) for one in found]

    def _told(self, text: str) -> str:
        return text if self._copy is None else self._copy.told(text)


class Server:
    """What starts the server.

    Args:
        command: a command for the shell.
        here: let it work in the working folder itself instead of a fresh copy.
    """

    def __init__(self, command: str, *, here: bool = False) -> None:
        self._command = command
        self._here = here
        self._has_started = False

    @contextlib.contextmanager
    def running(self, flow: Flow) -> Iterator[RunningServer]:
        """Run the server for one playback.

        Args:
            flow: what is played; its first page tells where the server answers.

        Raises:
            ServerFailedError: it does not answer there, or something else does.
            FolderTooLargeError: the working folder is too large for a copy.
        """
        place = _place_of(flow)
        with contextlib.ExitStack() as stack:
            # A server that has started before mostly does so again: a search of hours should not end with one mishap.
            for again in range(_STARTS - 1 if self._has_started else 0):
                with contextlib.suppress(ServerFailedError):
                    running = stack.enter_context(self._started(place))
                    break
                time.sleep(_PAUSE_S * 2**again)
            else:
                running = stack.enter_context(self._started(place))
            self._has_started = True
            running.is_ready()
            yield running

    @contextlib.contextmanager
    def _started(self, place: tuple[str, int]) -> Iterator[RunningServer]:
        where = f"{place[0]}:{place[1]}"
        if _answers(place):
            raise ServerFailedError(
                f"Something answers at {where} before the server was started.",
                "Stop it: each playback starts the server itself. The server may also have left a process behind.",
            )
        with private_folder() as folder:
            process, running = self._start(folder)
            LIVE.add(process)
            try:
                _wait_until_ready(running, process.pid, place, where)
                yield running
            finally:
                kill_group(process)
                process.wait()
                LIVE.remove(process)
                _wait_until_gone(place)

    def _start(self, folder: PrivateFolder) -> tuple[subprocess.Popen[bytes], RunningServer]:
        original = Path.cwd()
        directory, environment, command = original, dict(os.environ), self._command
        copy = None
        if not self._here:
            copy = copy_folder(original, folder.path / "work", most_bytes=MOST_BYTES, most_files=MOST_FILES)
            directory, environment = copy.copy, copy.environment(os.environ)
            command = copy.command(command)
        # A report must not wait in a buffer.
        started = Command(("/bin/sh", "-c", command), directory, {**environment, "PYTHONUNBUFFERED": "1"})
        output = folder.path / "output"
        with output.open("wb") as file, open(os.devnull, "rb") as nothing:
            process = start_process(started, directory, folder, nothing.fileno(), file.fileno())
        return process, RunningServer(process, output, copy)


def _place_of(flow: Flow) -> tuple[str, int]:
    """Where the server of a flow answers: a host, and a port."""
    address = next(str(step.data["url"]) for step in flow.steps if step.type == "navigate")
    try:
        parts = urlsplit(address)
        host, port = parts.hostname, parts.port or _PORTS.get(parts.scheme)
    except ValueError:
        host = port = None
    if not host or not port:
        raise ServerFailedError(f"The first page has no address of a server: {address}.")
    return host, port


def _answers(place: tuple[str, int]) -> bool:
    try:
        socket.create_connection(place, _CONNECT_S).close()
    except (OSError, ValueError):  # a host such as `..` cannot be looked up
        return False
    return True


def _wait_until_ready(running: RunningServer, process: int, place: tuple[str, int], where: str) -> None:
    ends_at = time.monotonic() + START_LIMIT_S
    while not _answers(place):
        if running.end or time.monotonic() > ends_at:
            raise _not_ready(running, where)
        time.sleep(_POLL_S)
    if listens(process, place[1]) is False:
        # Another program may have taken the port just now. The server notices that, unless it has others to listen.
        ends_at = time.monotonic() + _NOTICE_S
        while not running.end and time.monotonic() < ends_at:
            time.sleep(_POLL_S)
    if running.end:  # it is another one that answers
        raise _not_ready(running, where)


def _not_ready(running: RunningServer, where: str) -> ServerFailedError:
    end, said = running.end, running.last_words
    return ServerFailedError(
        f"The server {end or f'does not answer at {where} after {START_LIMIT_S:g} s'}"
        + (f" before it answered at {where}" if end else "")
        + (f": {said}" if said else ".")
    )


def _wait_until_gone(place: tuple[str, int]) -> None:
    """Wait until what was killed has let go of its port."""
    ends_at = time.monotonic() + _END_LIMIT_S
    while _answers(place) and time.monotonic() < ends_at:
        time.sleep(_POLL_S)
