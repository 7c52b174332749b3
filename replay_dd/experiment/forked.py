"""Talks with a process that waits to be forked for each run (see ``schedules/runtime/process/fork_server.py``).

Rules of this module:

* A run is a fork that leads a process group of its own, which is killed when the run is over.
* The process that waits handles one run at a time. Parallel runs have one each.
"""

from __future__ import annotations

import contextlib
import marshal
import os
import select
import signal
import socket
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from replay_dd.experiment.process import Finished, finished_from
from replay_dd.experiment.tally import TALLY

START_LIMIT_S = 60.0
"""Until a process is ready to be forked; one that takes longer is not worth it."""

_MARSHAL_VERSION = 2  # all versions of Python read it


class CannotForkError(Exception):
    """The program cannot be forked where its runs begin to differ."""


class Ended(NamedTuple):
    """How a forked run ended.

    Attributes:
        code: its return code as :mod:`subprocess` reports it.
        timed_out: whether it was killed at the time limit.
        seconds: how long it ran.
    """

    code: int
    timed_out: bool
    seconds: float

    def finished(self, output: Path) -> Finished:
        """The same with what it wrote to a file."""
        return finished_from(self.code, self.timed_out, self.seconds, output)


def received(channel: socket.socket, limit_s: float | None) -> tuple[str, Any] | None:
    """What a program that waits to be forked tells; None if it told nothing in time, or ended.

    Raises:
        CannotForkError: the channel was closed here meanwhile, or something else was written to it.
    """
    try:
        poll = select.poll()
        poll.register(channel, select.POLLIN)
        if not poll.poll(None if limit_s is None else limit_s * 1000):
            return None
        data = channel.recv(65536)
    except (OSError, ValueError) as error:  # a closed socket has the number -1
        raise CannotForkError(f"the server has ended: {error}") from error
    if not data:
        return None
    try:
        told = marshal.loads(data)
    except (EOFError, ValueError, TypeError):
        told = None
    if not isinstance(told, tuple) or len(told) != 2:
        raise CannotForkError("the program wrote to a descriptor that it had not opened")
    return told


def _is_over(channel: socket.socket) -> bool:
    """Whether nothing came because the other end is gone, not because there was no time left."""
    poll = select.poll()
    poll.register(channel, select.POLLIN)
    return bool(poll.poll(0))


def fork(
    channel: socket.socket,
    message: bytes | str,
    descriptors: Sequence[int],
    time_limit_s: float | None,
    at_limit: Callable[[int], object] = lambda pid: None,
) -> Ended:
    """Make one run, in a fork of the waiting program.

    Args:
        channel: to the program.
        message: what the run is told; marshalled, or the path of a file with that.
        descriptors: its standard input, output and error.
        time_limit_s: seconds after which it is killed; None for no limit.
        at_limit: called with its process id when the time limit is reached, before it is killed.

    Raises:
        CannotForkError: the program has ended.
    """
    started = time.monotonic()
    try:
        socket.send_fds(channel, [marshal.dumps(message, _MARSHAL_VERSION)], descriptors)
        answer = received(channel, START_LIMIT_S)
    except OSError as error:
        raise CannotForkError(f"the server has ended: {error}") from error
    if answer is None:
        raise CannotForkError("the server has ended")
    TALLY.forked()
    pid = answer[1]
    status = None
    try:
        status = received(channel, time_limit_s)
        if status is None:
            if _is_over(channel):
                raise CannotForkError("the server has ended")
            at_limit(pid)
    finally:
        # Also kills what the run left in its process group; if nothing is left, the group is gone.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(pid, signal.SIGKILL)
    timed_out = status is None
    if status is None and (status := received(channel, START_LIMIT_S)) is None:
        raise CannotForkError("the server has ended")
    if status[0] != "status":
        raise CannotForkError(f"the server reported `{status[0]}: {status[1]}` instead of how the run ended")
    return Ended(os.waitstatus_to_exitcode(status[1]), timed_out, time.monotonic() - started)
