"""A program that is started to be forked for each run, and has come to its first thread.

Rules of this module:

* Whether it can be forked there, it says itself (see ``runtime/process/fork_server.py``).
* Whoever starts one ends it, with all that it has started.
"""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, Protocol

from replay_dd.experiment.forked import START_LIMIT_S, CannotForkError, can_be_read, descriptor_of_end, received
from replay_dd.experiment.process import LIVE, PrivateFolder, kill_group, private_folder, start_process
from replay_dd.experiment.process_tree import kill_tree
from replay_dd.schedules.model import Program, Settings
from replay_dd.schedules.running.early_stop import AT_FIRST_THREAD, EarlyStop
from replay_dd.schedules.running.target import Plan, prepare
from replay_dd.schedules.runtime.channel import READY, REFUSED


class StartedProcess(Protocol):
    """A process that makes one run itself, if copies of it cannot."""

    @property
    def process_id(self) -> int | None:
        """Its number; None if it has told it."""

    def fileno(self) -> int:
        """A descriptor that can be read from when the process has ended."""

    def kill(self) -> None:
        """Kill it, without waiting for its end."""

    def end(self) -> int:
        """Kill what is left of it; returns its return code as :mod:`subprocess` reports it."""


class Started(NamedTuple):
    """A program at its first thread.

    Attributes:
        socket: to talk with it.
        folder: its private folder.
        process: the process.
        refusal: why it cannot be forked; empty if it can.
        is_copy: whether the process has its folder and its output from another one, of which more copies can be had.
        earlier: the occasion at which another process of the program could be forked, if this one cannot; 0 for none.
    """

    socket: socket.socket
    folder: PrivateFolder
    process: StartedProcess
    refusal: str
    is_copy: bool = False
    earlier: int = 0


Start = Callable[[Program, Settings, contextlib.ExitStack, EarlyStop], Started]


def start_program(program: Program, settings: Settings, context: contextlib.ExitStack, stop: EarlyStop) -> Started:
    """Start a program, and wait until it has come to its first thread.

    Args:
        program: what to run.
        settings: what to count and hold fixed.
        context: ends it, and removes what belongs to it.
        stop: where it stops before that.
    """
    ours, folder, process = start_on_its_way(program, settings, context, stop)
    refusal, earlier = how_it_refuses(ours)
    return Started(ours, folder, process, refusal, earlier=earlier)


def start_on_its_way(
    program: Program, settings: Settings, context: contextlib.ExitStack, stop: EarlyStop = AT_FIRST_THREAD
) -> tuple[socket.socket, PrivateFolder, OwnProcess]:
    """Start a program that is to stop at its first thread; arguments as for :func:`start_program`."""
    folder = context.enter_context(private_folder())
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    context.enter_context(ours)
    with theirs:
        command = prepare(program, settings, Plan(), folder, server=theirs.fileno(), stop=stop)
        (folder.path / "stdin").write_bytes(command.standard_input)
        with (folder.path / "stdin").open("rb") as stdin, (folder.path / "output").open("wb") as output:
            process = start_process(
                command, Path(program.directory), folder, stdin.fileno(), output.fileno(), theirs.fileno()
            )
    own = OwnProcess(process)
    context.callback(own.close)
    return ours, folder, own


class OwnProcess:
    """A program that was started to be forked.

    Args:
        process: the process.
    """

    process_id: int | None = None

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        LIVE.add(process)
        self._end = descriptor_of_end(process.pid)

    def fileno(self) -> int:
        """A descriptor that can be read from when the process has ended; -1 if this system has none."""
        return self._end

    def kill(self) -> None:
        """Kill it, without waiting for its end."""
        if self._process.returncode is None:
            kill_group(self._process)

    def end(self) -> int:
        """End it, and the run that it may be making: a search does not wait for what it no longer needs."""
        if self._process.returncode is None:
            # While nobody has waited for it, its number is not another's.
            (kill_group if self._has_ended() else kill_tree)(self._process)
        return self._process.wait()

    def _has_ended(self) -> bool:
        return self._end >= 0 and can_be_read(self._end)

    def close(self) -> None:
        """End it, and forget it."""
        self.end()
        LIVE.remove(self._process)
        if self._end >= 0:
            os.close(self._end)
            self._end = -1


def why_it_refuses(channel: socket.socket) -> str:
    """Wait until a program has come to its first thread; why it cannot be forked there, or nothing if it can."""
    return how_it_refuses(channel)[0]


def how_it_refuses(channel: socket.socket) -> tuple[str, int]:
    """The same, and the occasion before that at which another process of it can be forked; 0 for none."""
    try:
        told = received(channel, START_LIMIT_S)
    except CannotForkError as error:
        return str(error), 0
    if told is None:
        ended = can_be_read(channel.fileno())
        return "it ended before it started a thread" if ended else "it did not start a thread in time", 0
    kind, reason = told
    if kind == REFUSED:
        words, earlier = reason
        return str(words), int(earlier)
    return str(reason) if kind == READY else "it said something other than that it is ready", 0
