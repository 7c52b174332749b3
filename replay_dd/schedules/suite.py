"""A test suite that is loaded once under the runtime, and copied for each test whose schedules are varied.

See ``runtime/process/suite.py`` for the other side.
"""

from __future__ import annotations

import contextlib
import marshal
import os
import select
import signal
import socket
from pathlib import Path
from types import TracebackType

from replay_dd.experiment.forked import CannotForkError, received
from replay_dd.schedules.fork_server_client import Start, Started, start_program
from replay_dd.schedules.model import Program, Settings
from replay_dd.schedules.runtime.channel import MARSHAL_VERSION
from replay_dd.schedules.temporary_files import TemporaryFiles

_LOAD_LIMIT_S = 300.0  # large suites take minutes to be collected
_FIRST_THREAD_LIMIT_S = 60.0  # a test that takes longer up to there is copied before it begins
_LAST_LINES = 5


class Suite:
    """A loaded suite; one of its tests can be had at a time.

    Args:
        program: runs the suite, and asks the runtime for tests.
        settings: what to count and hold fixed.

    Raises:
        CannotForkError: it starts a thread, or ends, before it asks for a test.
    """

    def __init__(self, program: Program, settings: Settings) -> None:
        self._context = contextlib.ExitStack()
        self._at_once: set[str] = set()
        try:
            self._started = start_program(program, settings, self._context)
            kind, told = received(self._started.socket, _LOAD_LIMIT_S) or ("", "it was not loaded in time, or ended")
            if kind != "loaded":
                why = "it starts a thread while it is loaded" if kind == "ready" and not told else str(told)
                raise CannotForkError(f"{why}{_last_words(self._started.folder.path)}")
            folder = self._started.folder
            self._temporary = TemporaryFiles(folder.temporary, folder.path / "temporary-of-suite")
        except OSError as error:
            self.close()
            raise CannotForkError(f"its temporary files cannot be kept: {error}") from error
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Suite:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the suite."""
        self._context.close()

    def start_test(self, name: str) -> Start:
        """What starts a test in a copy of the suite.

        The copy goes on to its first thread, and stops there. If it cannot be copied again there, it stops before the
        test begins.
        """

        def start(program: Program, settings: Settings, context: contextlib.ExitStack) -> Started:
            ours, pid = self._copied(name)
            if name not in self._at_once and not _can_be_copied(ours):
                self._at_once.add(name)
                ours.close()
                self._end_test(pid)
                ours, pid = self._copied(name)
            context.callback(self._end_test, pid)
            context.enter_context(ours)
            return Started(ours, self._started.folder)

        return start

    def _copied(self, name: str) -> tuple[socket.socket, int]:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        message = marshal.dumps((name, name in self._at_once), MARSHAL_VERSION)
        with theirs:
            try:
                socket.send_fds(self._started.socket, [message], [theirs.fileno()])
                _, pid = received(self._started.socket, None) or ("pid", 0)
            except OSError:
                pid = 0
        if not pid:
            ours.close()
            raise CannotForkError("the suite that was loaded has ended, or has no such test")
        return ours, pid

    def _end_test(self, pid: int) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(pid, signal.SIGKILL)
        received(self._started.socket, None)
        self._temporary.put_back()


def _can_be_copied(waiting: socket.socket) -> bool:
    """Whether a test has come to its first thread, and says that it can be copied there; the message stays unread."""
    poll = select.poll()
    poll.register(waiting, select.POLLIN)
    if not poll.poll(_FIRST_THREAD_LIMIT_S * 1000):
        return False
    data = waiting.recv(65536, socket.MSG_PEEK)
    return bool(data) and marshal.loads(data) == ("ready", "")


def _last_words(folder: Path) -> str:
    try:
        lines = (folder / "output").read_text(errors="replace").strip().splitlines()
    except OSError:
        return ""
    return "; its last output: " + " / ".join(lines[-_LAST_LINES:]) if lines else ""
