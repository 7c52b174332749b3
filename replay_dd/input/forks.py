"""Runs a Python program on many inputs: forks it where it first touches its input, or starts it afresh.

Rules of this module:

* Most of a short run is the start of the interpreter and the program's imports. A process that has done both waits
  where it would first touch its input (see ``runtime/fork_point.py``), and each run goes on in a fork of it.
* Forks are a short cut, never evidence: the baseline and the proof run afresh. So does the second run of an input that
  was forked before, and the first run that ends in a way not seen yet, if it was forked: if both do not end in the same
  way, nothing is forked any more.
* Where the failure is that the program does not end in time, the runs of a search get more time than evidence does, as
  long as the program needs that on its whole input. A search would end just at the limit otherwise, where the next
  run may be a little faster.
* A program that cannot be forked there is started afresh for each run; the reason is recorded.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shutil
import socket
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path

import replay_dd
from replay_dd.experiment.ending import TIME_OUT, Ending, Oracle
from replay_dd.experiment.forked import (
    START_LIMIT_S,
    CannotForkError,
    descriptor_of_end,
    fork,
    go_on,
    message_to_go_on,
    received,
)
from replay_dd.experiment.interpreters import is_interpreter
from replay_dd.experiment.journal import recalled
from replay_dd.experiment.process import (
    LIVE,
    LONGER_TO_HANG,
    Command,
    Finished,
    find_program,
    private_folder,
    start_process,
)
from replay_dd.input.target import PLACE, Target

_SCRIPT = re.compile(rb"#![^\n]*python|#!/bin/sh\n'''exec' [^\n]*python")
_SITE = Path(__file__).parent / "runtime" / "site"
_FORK_SERVER = Path(replay_dd.__file__).parent / "schedules" / "runtime"
_NOTHING = b"{0"  # the request of a run is for the scheduler's runtime; a program without it needs none
_MOST_COMPARED = 8  # kinds of endings
_FRESH = "Each test started the program anew: it cannot be forked where it reads its input, since {}."


def is_python(target: Target) -> bool:
    """Whether a command starts a Python program itself: an interpreter, or a script for one."""
    program = target.command[0]
    if is_interpreter(program):
        return True
    found = find_program(program, target.environment.get("PATH")) if os.sep not in program else program
    try:
        with (target.directory / found).open("rb") as file:  # type: ignore[operator]
            return bool(_SCRIPT.match(file.read(1000)))
    except (OSError, TypeError):
        return False


class _RefusesError(CannotForkError):
    """Forks of the program would share something that it did before."""


class _Waiting:
    """A process that waits where the program first touches its input.

    Args:
        target: the program.
        content: what the input may be if the program touches it in a way that is not noticed.

    Raises:
        CannotForkError: it cannot be forked there.
    """

    def __init__(self, target: Target, content: bytes) -> None:
        self._target = target
        self._context = contextlib.ExitStack()
        try:
            self._folder = self._context.enter_context(private_folder())
            self._path = self._folder.temporary / target.name
            self._start(content)
        except BaseException:
            self.close()
            raise

    def _start(self, content: bytes) -> None:
        target, folder = self._target, self._folder
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._socket = self._context.enter_context(ours)
        stdin, early = folder.path / "stdin", folder.path / "early"
        self._put(content)
        with theirs, stdin.open("rb") as reads, early.open("wb") as writes:
            environment = dict(target.environment)
            path = str(self._path) if target.takes_a_file else ""
            environment["REPLAY_DD_FORK"] = f"{theirs.fileno()}={os.getpid()}={_FORK_SERVER}={path}"
            before = environment.get("PYTHONPATH")
            if before is not None:
                environment["REPLAY_DD_BEFORE_PYTHONPATH"] = before
            environment["PYTHONPATH"] = str(_SITE) + (os.pathsep + before if before else "")
            arguments = tuple(word.replace(PLACE, str(self._path)) for word in target.command[1:])
            command = Command((target.command[0], *arguments), target.directory, environment)
            process = start_process(command, target.directory, folder, reads.fileno(), writes.fileno(), theirs.fileno())
        LIVE.add(process)
        self._context.callback(_end, process)
        ready = received(ours, START_LIMIT_S if target.time_limit_s is None else target.time_limit_s)
        if ready is None:
            raise CannotForkError("Python does not see where it reads its input")
        if ready[1]:
            self._let_end(process)
            raise _RefusesError(str(ready[1]))
        if {entry.name for entry in folder.temporary.iterdir()} - {target.name}:
            raise CannotForkError("it makes temporary files before it reads its input")
        self._early = early.read_bytes()

    def _let_end(self, process: subprocess.Popen[bytes]) -> None:
        """Let a program that cannot be forked undo what it did so far."""
        end = descriptor_of_end(process.pid)
        if end >= 0:
            try:
                go_on(self._socket, message_to_go_on(_NOTHING), [], end, self._target.time_limit_s)
            finally:
                os.close(end)

    def _put(self, content: bytes) -> None:
        if self._target.takes_a_file:
            self._path.write_bytes(content)
            content = b""
        (self._folder.path / "stdin").write_bytes(content)

    def run(self, content: bytes, longer: float) -> Finished:
        """Run the program on this content, for so many times the time limit at most.

        Raises:
            CannotForkError: the process has ended.
        """
        folder = self._folder
        self._put(content)
        output = folder.path / "output"
        with (folder.path / "stdin").open("rb") as reads, output.open("wb") as writes:
            descriptors = [reads.fileno(), writes.fileno(), writes.fileno()]
            ended = fork(self._socket, _NOTHING, descriptors, self._target.limit_s(longer))
        for entry in os.scandir(folder.temporary):
            if entry.is_dir(follow_symlinks=False):
                shutil.rmtree(entry.path, ignore_errors=True)
            else:
                os.unlink(entry.path)
        finished = ended.finished(output)
        said = (self._early + finished.output).replace(os.fsencode(folder.temporary) + b"/", b"")
        return finished._replace(output=said)

    def close(self) -> None:
        """End the process and remove its folder."""
        self._context.close()


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()
    LIVE.remove(process)


class Runs:
    """Runs one program on many inputs, forking where possible; thread-safe.

    Args:
        target: the program.
        oracle: says how runs ended.
        may_fork: fork it where it allows that.

    Attributes:
        why_fresh: why runs are started afresh; empty while they are forked.
        forked: how many runs were forked.
        longer: how many times the time limit runs may take that are no evidence.
    """

    def __init__(self, target: Target, oracle: Oracle, *, may_fork: bool = True) -> None:
        self._target = target
        self._oracle = oracle
        self._lock = threading.Lock()
        self._all: list[_Waiting] = []
        self._idle: list[_Waiting] = []
        self._inputs: set[bytes] = set()
        self._endings: dict[str, str] = {}
        self._any_started = False
        self.longer = 1.0
        self._hung: dict[bytes, Ending] = {}
        self.forked = 0
        self.why_fresh = ""
        if not may_fork:
            self.why_fresh = "forking is switched off"
        elif not is_python(target):
            self.why_fresh = "the command does not start a Python program itself"
        elif target.fresh_copy or target.is_folder:
            self.why_fresh = "each run has a folder of its own"
        elif not Path("/proc/self/fd").is_dir():
            self.why_fresh = "this system has no /proc"
        self._tells_why = not self.why_fresh  # it could have been otherwise

    def __enter__(self) -> Runs:
        return self

    def __exit__(self, *_: object) -> None:
        with self._lock:
            waiting, self._all, self._idle = self._all, [], []
        for one in waiting:
            one.close()

    @property
    def notes(self) -> tuple[str, ...]:
        """What the user should know about how the runs were made."""
        return (_FRESH.format(self.why_fresh),) if self.why_fresh and self._tells_why else ()

    def ending(self, content: bytes, *, fresh: bool = False) -> Ending:
        """How the program ends on an input.

        Args:
            content: the input.
            fresh: start it afresh: this run is evidence.

        Raises:
            ProgramNotFoundError: there is no such program.
        """
        if fresh:
            ending = self.afresh(content, looks=True)
            if ending.place:
                self._hung[content] = ending
            return ending
        return recalled(Ending, lambda: content, lambda: self._of_search(content))

    def hung(self, content: bytes) -> Ending | None:
        """How the program hung on an input, in a run that is evidence; None if it did not, or nobody saw where."""
        return self._hung.get(content)

    def _of_search(self, content: bytes) -> Ending:
        """How the program ends on an input, which is no evidence."""
        forked = self._forked(content)
        if forked is None:
            return self.afresh(content, self.longer)
        with self._lock:
            compared = forked.signature in self._endings or len(self._endings) >= _MOST_COMPARED
            self._endings.setdefault(forked.signature, forked.words)
        if compared:
            return forked
        evidence = self.afresh(content, self.longer)
        if evidence.signature != forked.signature and not self._target.traced:
            self._stop(f"a forked run ended differently ({forked.words}) from a fresh one ({evidence.words})")
        return evidence

    def search_for_longer(self, whole: Callable[[float], Ending]) -> None:
        """From now on, let runs that are no evidence go on for longer than the time limit, if the whole input does.

        Args:
            whole: runs the program afresh on the whole input, for so many times the limit at most.
        """
        if whole(LONGER_TO_HANG).signature == TIME_OUT:
            self.longer = LONGER_TO_HANG

    def afresh(self, content: bytes, longer: float = 1.0, *, looks: bool = False) -> Ending:
        """How the program ends on an input if it is started for it, after so many times the time limit at most.

        Args:
            content: the input.
            longer: how many times the time limit.
            looks: look where it is then.
        """
        return self._oracle.ending(self._target.run(content, longer=longer, looks=looks), content)

    def _forked(self, content: bytes) -> Ending | None:
        """How a fork ends; None if there should be none."""
        key = hashlib.blake2b(content, digest_size=16).digest()
        with self._lock:
            if self.why_fresh or self._target.traced or key in self._inputs:
                return None
            self._inputs.add(key)
            waiting = self._idle.pop() if self._idle else None
        given = self._target.given(content)
        try:
            if waiting is None:
                waiting = self._started(given)
                with self._lock:
                    self._all.append(waiting)
            finished = waiting.run(given, self.longer)
        except CannotForkError as error:
            if not LIVE.stopped:
                self._stop(str(error))
            return None
        with self._lock:
            self._idle.append(waiting)
            self.forked += 1
        # Nobody sees where a fork crashes. Whether what it has started did is seen when it is compared.
        if finished.signal is not None and self._target.is_unexplained(finished):
            return None
        return self._oracle.ending(finished, content)

    def _started(self, content: bytes) -> _Waiting:
        with self._lock:
            first, self._any_started = not self._any_started, True
        try:
            return _Waiting(self._target, content)
        except _RefusesError as refused:
            if first:
                # Many programs make a cache the first time, and then never again.
                with contextlib.suppress(CannotForkError):
                    return _Waiting(self._target, content)
            raise refused

    def _stop(self, reason: str) -> None:
        with self._lock:
            self.why_fresh = self.why_fresh or reason
