"""A test suite that is loaded once under the runtime, and copied for each test whose schedules are varied.

See ``runtime/process/suite.py`` for the other side.
"""

from __future__ import annotations

import contextlib
import marshal
import os
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
        """What starts a test in a copy of the suite; the copy goes on to its first thread, and stops there."""

        def start(program: Program, settings: Settings, context: contextlib.ExitStack) -> Started:
            ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            with theirs:
                try:
                    socket.send_fds(self._started.socket, [marshal.dumps(name, MARSHAL_VERSION)], [theirs.fileno()])
                    _, pid = received(self._started.socket, None) or ("pid", 0)
                except OSError:
                    pid = 0
            if not pid:
                ours.close()
                raise CannotForkError("the suite that was loaded has ended, or has no such test")
            context.callback(self._end_test, pid)
            context.enter_context(ours)
            return Started(ours, self._started.folder)

        return start

    def _end_test(self, pid: int) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(pid, signal.SIGKILL)
        received(self._started.socket, None)
        self._temporary.put_back()


def _last_words(folder: Path) -> str:
    try:
        lines = (folder / "output").read_text(errors="replace").strip().splitlines()
    except OSError:
        return ""
    return "; its last output: " + " / ".join(lines[-_LAST_LINES:]) if lines else ""
