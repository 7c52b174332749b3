"""Commands as forks of a process that has imported them: what they do is the same, and takes half of the time.

A test that is about the process itself starts one: about signals, terminals, shells, or what is imported.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import BinaryIO

from tests.cli.command_server import LONGEST

SERVER = Path(__file__).with_name("command_server.py")
# What the interpreter itself reads when it starts.
_READ_AT_START = ("LANG", "LC_", "LD_", "MALLOC_", "PYTHON")
_LIMIT_S = 120.0


class CommandServer:
    """A process that runs commands, one at a time.

    It must be there before a test watches what its processes leave behind, and ends what it finds.

    Args:
        tool: the script of the installed command.
    """

    def __init__(self, tool: Path) -> None:
        self._asks, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._variables = _read_at_start(os.environ)
        self._asks.settimeout(_LIMIT_S)
        self._lock = threading.Lock()
        with theirs:
            # Its commands write to what its streams were made for: pipes.
            self._process = subprocess.Popen(
                [sys.executable, SERVER, tool], stdin=theirs, stdout=subprocess.PIPE, stderr=subprocess.PIPE
            )

    def can_run(self, arguments: list[str], variables: Mapping[str, str]) -> bool:
        """Whether a fork is the same as a new process."""
        # Calls are made in forks of the command, which would have the variables of this server, not of their test: one
        # that is left could not be found.
        return arguments[:1] != ["call"] and _read_at_start(variables) == self._variables

    def run(
        self, arguments: list[str], folder: Path, variables: Mapping[str, str], stdin: bytes | None
    ) -> tuple[int, bytes, bytes]:
        """Run a command to its end.

        Returns:
            Its status, and what it wrote to its standard output and its standard error.
        """
        message = json.dumps({"arguments": arguments, "folder": str(folder), "variables": dict(variables)}).encode()
        written: dict[str, bytes] = {}
        with self._lock, _standard_input(stdin) as source, _pipe() as (out, out_end), _pipe() as (err, err_end):
            ends = (source, out_end, err_end)
            socket.send_fds(self._asks, [message], [end.fileno() for end in ends])
            for end in ends:  # so that only the command has them
                end.close()
            readers = [
                threading.Thread(target=lambda name, end: written.update({name: end.read()}), args=each)
                for each in (("out", out), ("err", err))
            ]
            for reader in readers:
                reader.start()
            process = int(self._asks.recv(LONGEST))
            try:
                status = int(self._asks.recv(LONGEST))
            except TimeoutError:
                os.kill(process, signal.SIGKILL)
                self._asks.recv(LONGEST)
                raise
            for reader in readers:
                reader.join(_LIMIT_S)
            return status, written["out"], written["err"]

    def close(self) -> None:
        """End it."""
        self._asks.close()
        self._process.communicate()


def _read_at_start(variables: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in variables.items() if name.startswith(_READ_AT_START)}


@contextlib.contextmanager
def _pipe() -> Iterator[tuple[BinaryIO, BinaryIO]]:
    reading, writing = os.pipe()
    with open(reading, "rb") as source, open(writing, "wb") as sink:
        yield source, sink


@contextlib.contextmanager
def _standard_input(content: bytes | None) -> Iterator[BinaryIO]:
    """Nothing, or a pipe with this in it."""
    if content is None:
        with open(os.devnull, "rb") as nothing:
            yield nothing
        return
    with _pipe() as (source, sink):
        writer = threading.Thread(target=_write, args=(sink, content))
        writer.start()
        yield source
    writer.join()


def _write(sink: BinaryIO, content: bytes) -> None:
    with contextlib.suppress(BrokenPipeError), sink:
        sink.write(content)
