"""Talks with a process that waits to be forked for each run (see ``schedules/runtime/process/fork_server.py``).

Rules of this module:

* A run is a fork that leads a process group of its own, which is killed when the run is over.
* The process that waits handles one run at a time. Parallel runs have one each.
* One that cannot be forked is not killed where it waits: it goes on to its own end, and so undoes what it did before.
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

from replay_dd.experiment.process import LONGEST_POLL_MS, Finished, finished_from
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
            if can_be_read(channel.fileno()):  # it is gone, and not out of time
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


def descriptor_of_end(process_id: int) -> int:
    """A descriptor that can be read from when a process has ended; -1 if this system has none."""
    try:
        return os.pidfd_open(process_id)
    except (AttributeError, OSError):  # not on Linux, or an old kernel
        return -1


def can_be_read(descriptor: int) -> bool:
    """Whether something can be read from a descriptor now."""
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return bool(poll.poll(0))


def message_to_go_on(request: bytes | str) -> bytes:
    """What tells a program to make a run itself; see ``ALONE`` in that module.

    Args:
        request: of that run, or the path of a file with that.
    """
    return marshal.dumps((request,), _MARSHAL_VERSION)


def go_on(channel: socket.socket, message: bytes, descriptors: Sequence[int], end: int, limit_s: float | None) -> bool:
    """Let a program make a run itself, and wait for its end; False if the limit came first.

    Args:
        channel: to the program.
        message: tells it to.
        descriptors: its standard input, output and error, and where it tells; none if it keeps those it has.
        end: a descriptor that can be read from when it has ended.
        limit_s: seconds that it may take; None for no limit.
    """
    ends_at = None if limit_s is None else time.monotonic() + limit_s
    poll = select.poll()
    poll.register(end, select.POLLIN)
    poll.register(channel, select.POLLIN)
    # One that takes long finds the message when it comes to its first thread. If there are several, each takes one.
    with contextlib.suppress(OSError):  # it is ending
        socket.send_fds(channel, [message], descriptors)
    while True:
        left_ms = None if ends_at is None else min(max(ends_at - time.monotonic(), 0) * 1000, LONGEST_POLL_MS)
        ready = {descriptor for descriptor, _ in poll.poll(left_ms)}
        if end in ready:
            return True
        if not ready:
            return False
        try:
            if channel.recv(65536):
                socket.send_fds(channel, [message], descriptors)
                continue
        except OSError:
            pass
        poll.unregister(channel)  # it has closed its end of it
