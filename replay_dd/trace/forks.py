"""A tree of forked processes in which the parts of a trace are run.

Rules of this module:

* The root waits before the program's first statement. Further processes wait where earlier runs stood when they first
  left out something that the best answer so far has: what comes before is executed once, not in every run.
* A waiting process serves only runs that agree with what it has executed. Those that no run can need are ended.
* A tree runs one thing at a time, in a copy of the working folder of its own. The copy is made anew after each run that
  has changed something; none waits behind such a change.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import socket
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from replay_dd.dd import EMPTY, IntervalSet
from replay_dd.errors.program import NotTraceableError
from replay_dd.errors.user import FolderTooLargeError
from replay_dd.experiment.guard import GUARD
from replay_dd.experiment.process import LIVE, Command, PrivateFolder, kill_group, start_process
from replay_dd.experiment.working_copy import MOST_BYTES, MOST_FILES, WorkingCopy, copy_folder
from replay_dd.trace.model import Trace
from replay_dd.trace.target import Target

_MOST_WAITING = 24
_WORTH_A_FORK_NS = 20_000_000
_START_LIMIT_S = 30.0
_MOST_OUTPUT = 16 << 20
_SMALLER = "Run the command in a folder that holds only what the program needs."


@dataclass(frozen=True)
class Told:
    """What one run left behind.

    Attributes:
        status: the exit status; None if a signal or the time limit ended it.
        signal: the number of the signal that ended it, if one did.
        timed_out: whether it was killed at the time limit.
        seconds: how long it ran.
        output: what it wrote to standard output.
        errors: the end of what it wrote to standard error.
        report: what the traced process says of the run; None if it could not say anything.
    """

    status: int | None
    signal: int | None
    timed_out: bool
    seconds: float
    output: bytes
    errors: bytes
    report: dict[str, Any] | None


@dataclass
class _Waiting:
    """A process that waits: before which event, and what it has executed."""

    channel: _Channel
    event: int
    executed: IntervalSet
    process: int = 0


class _Channel:
    """One end of a socket: messages as lines of JSON, and descriptors."""

    def __init__(self, end: socket.socket) -> None:
        self._end = end
        self._unread = b""
        self._descriptors: list[int] = []

    def send(self, message: dict[str, Any]) -> None:
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self._end.sendall(json.dumps(message).encode() + b"\n")

    def receive(self, limit_s: float | None) -> dict[str, Any] | None:
        """The next message; None if the other end is closed. Raises TimeoutError."""
        ends_at = None if limit_s is None else time.monotonic() + limit_s
        while b"\n" not in self._unread:
            left = None if ends_at is None else ends_at - time.monotonic()
            if left is not None and left <= 0:
                raise TimeoutError
            self._end.settimeout(left)
            try:
                data, descriptors, _, _ = socket.recv_fds(self._end, 1 << 16, 8)
            except ConnectionResetError:
                return None
            self._descriptors += descriptors
            if not data:
                return None
            self._unread += data
        line, _, self._unread = self._unread.partition(b"\n")
        found: dict[str, Any] = json.loads(line)
        return found

    def descriptor(self) -> int:
        """The next descriptor that came."""
        return self._descriptors.pop(0)

    def close(self) -> None:
        self._end.close()
        for descriptor in self._descriptors:
            os.close(descriptor)


class Tree:
    """The processes of one program.

    Args:
        target: the program.
        trace: what the runs follow; None to note statements.
    """

    def __init__(self, target: Target, trace: Trace | None = None) -> None:
        self._target = target
        self._trace = trace
        self._folder = PrivateFolder(GUARD.make_folder())
        self._work = self._folder.path / "work"
        self._number = 0
        self._waiting: list[_Waiting] = []
        self._process: Any = None
        self._variable: str | None = None
        try:
            self._copy = self._copy_folder()
            self._start()
        except BaseException:
            self.close()
            raise

    def _copy_folder(self) -> WorkingCopy:
        try:
            return copy_folder(self._target.directory, self._work, most_bytes=MOST_BYTES, most_files=MOST_FILES)
        except FolderTooLargeError as error:
            raise FolderTooLargeError(error.message, _SMALLER) from error

    def _start(self) -> None:
        ours, theirs = socket.socketpair()
        target, copy = self._target, self._copy
        moved = replace(target, program=tuple(copy.argument(word) for word in target.program))
        command = Command(
            moved.arguments(theirs.fileno(), self._work),
            self._work,
            copy.environment(target.variables),
            target.standard_input,
        )
        (self._folder.path / "stdin").write_bytes(target.standard_input)
        said = self._folder.path / "start"
        with (self._folder.path / "stdin").open("rb") as stdin, said.open("w+b") as output, theirs:
            self._process = start_process(
                command, self._work, self._folder, stdin.fileno(), output.fileno(), theirs.fileno()
            )
        LIVE.add(self._process)
        channel = _Channel(ours)
        self._waiting.append(_Waiting(channel, 0, EMPTY))
        answer = self._answer(channel)
        if answer is None:
            words = said.read_bytes().decode("utf-8", "replace").strip().splitlines()
            raise NotTraceableError(f"`{target.interpreter[0]}` does not start: {words[-1] if words else 'it ends'}.")
        if "unusable" in answer:
            hint = "Try whether Python runs it without replay-dd: check the spelling, and where it is installed."
            raise NotTraceableError(f"`{target.name}` cannot be traced: {answer['unusable']}.", hint)
        if self._trace is not None:
            channel.send({"do": "load", "trace": str(self._trace.path)})
            self._answer(channel)

    def _answer(self, channel: _Channel) -> dict[str, Any] | None:
        try:
            return channel.receive(_START_LIMIT_S)
        except TimeoutError:
            return None

    def record(self, most_events: int, variable: str | None) -> Told:
        """Run the whole program, noting its statements."""
        return self._run(self._waiting[0], {"do": "record", "most_events": most_events, "variable": variable}, None)

    def follow(self, kept: IntervalSet, best: IntervalSet, variable: str | None) -> Told:
        """Run a part of the trace.

        Args:
            kept: the events to execute.
            best: the best answer so far, which tells where later runs will probably begin.
            variable: whose final value is asked for.
        """
        assert self._trace is not None
        self._variable = variable
        self._forget_useless(best)
        begins = max(
            (one for one in self._waiting if _before(kept, one.event) == one.executed), key=lambda one: one.event
        )
        request: dict[str, Any] = {"do": "follow", "keep": list(kept.intervals), "variable": variable}
        left_out = best - kept
        if left_out and len(self._waiting) < _MOST_WAITING and self._is_worth(begins.event, left_out.first):
            request["pause_at"] = left_out.first
        return self._run(begins, request, kept)

    def _is_worth(self, since: int, event: int) -> bool:
        assert self._trace is not None
        times = self._trace.times_ns
        return event > since and times[event] - times[since] > _WORTH_A_FORK_NS

    def _forget_useless(self, best: IntervalSet) -> None:
        for one in self._waiting[1:]:
            if best and _before(best, one.event) != one.executed:
                self._waiting.remove(one)
                _end(one)

    def _run(self, begins: _Waiting, request: dict[str, Any], kept: IntervalSet | None) -> Told:
        self._number += 1
        paths = {name: self._folder.path / f"{name}{self._number}" for name in ("output", "errors", "result")}
        begins.channel.send({**request, **{name: str(path) for name, path in paths.items()}})
        started = time.monotonic()
        limit_s = self._target.time_limit_s
        process, status, timed_out = 0, None, False
        while status is None:
            left = None if limit_s is None or timed_out else max(limit_s - (time.monotonic() - started), 0.001)
            try:
                message = begins.channel.receive(left)
            except TimeoutError:
                timed_out = True
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process or self._process.pid, signal.SIGKILL)
                continue
            if message is None:
                if kept is None or LIVE.stopped:
                    break
                return self._run_elsewhere(begins, kept)
            if "waiting" in message:
                channel = _Channel(socket.socket(fileno=begins.channel.descriptor()))
                event = message["waiting"]
                assert kept is not None
                self._waiting.append(_Waiting(channel, event, _before(kept, event), message["process"]))
            process = message.get("pid", process)
            status = message.get("status")
        seconds = time.monotonic() - started
        try:
            told = self._told(status, timed_out, seconds, paths)
        finally:
            for path in paths.values():
                path.unlink(missing_ok=True)
        if told.report is None or told.report.get("effects"):
            self._make_anew()
        return told

    def _run_elsewhere(self, gone: _Waiting, kept: IntervalSet) -> Told:
        """Run from another process after one has gone: killed, perhaps by the program itself."""
        if gone is self._waiting[0]:
            raise NotTraceableError(f"A run of {self._target.name} ended the process from which it was forked.")
        self._waiting.remove(gone)
        _end(gone)
        return self.follow(kept, EMPTY, self._variable)

    def _told(self, status: int | None, timed_out: bool, seconds: float, paths: dict[str, Path]) -> Told:
        try:
            text = paths["result"].read_text(encoding="utf-8", errors="surrogateescape")
            report = json.loads(self._as_seen(text.encode(errors="surrogateescape")))
        except (OSError, ValueError):
            report = None
        exit_status, by_signal = None, None
        if status is not None and not timed_out:
            code = os.waitstatus_to_exitcode(status)
            exit_status, by_signal = (code, None) if code >= 0 else (None, -code)
        output = self._as_seen(_read(paths["output"], _MOST_OUTPUT + 1))
        return Told(exit_status, by_signal, timed_out, seconds, output, _read(paths["errors"], 1 << 16), report)

    def _as_seen(self, text: bytes) -> bytes:
        """What a program tells, with the path of the working folder, not of this copy of it."""
        return text.replace(os.fsencode(self._work), os.fsencode(os.path.abspath(self._target.directory)))

    def _make_anew(self) -> None:
        """Undo what a run has changed in its folders."""
        for entry in os.scandir(self._work):
            if entry.is_dir(follow_symlinks=False):
                shutil.rmtree(entry.path, ignore_errors=True)
            else:
                os.unlink(entry.path)
        shutil.rmtree(self._folder.temporary, ignore_errors=True)
        self._folder.temporary.mkdir(exist_ok=True)
        self._copy_folder()

    def close(self) -> None:
        """End all processes, and remove their folder."""
        for one in self._waiting[1:]:
            _end(one)
        if self._process is not None:
            kill_group(self._process)
            self._process.wait()
            LIVE.remove(self._process)
        for one in self._waiting:
            one.channel.close()
        self._waiting.clear()
        GUARD.remove_folder(self._folder.path)


def _before(events: IntervalSet, event: int) -> IntervalSet:
    return events & IntervalSet.range(0, event)


def _end(one: _Waiting) -> None:
    one.channel.close()
    if one.process:
        with contextlib.suppress(ProcessLookupError):
            os.kill(one.process, signal.SIGKILL)
        # Its parent has ended, so it may be our child by now.
        with contextlib.suppress(ChildProcessError):
            os.waitpid(one.process, 0)


def _read(path: Path, most: int) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(most)
    except OSError:
        return b""
