"""Sees to it that displays, programs and folders of ours end with us, even if we are killed at once (SIGKILL).

Rules of this module:

* A small process of its own (:mod:`replay_dd.events.x11.guard_process`) reads from a pipe what there is to clean up.
  When the pipe ends, however we ended, it cleans up what is still noted.
* It is started with the first note, and ends with us.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import subprocess
import sys
import threading
from pathlib import Path


class Guard:
    """The notes that the guarding process has."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._owner = 0
        self._notes: dict[str, None] = {}

    def start(self) -> None:
        """Start the guarding process, if it is not there: before there is anything to note."""
        with self._lock:
            if not self._is_there():
                self._start()

    def note(self, what: str) -> None:
        """Note something to clean up: ``"group PID"``, ``"display NUMBER PID"`` or ``"folder PATH"``."""
        with self._lock:
            self._notes[what] = None
            self._say(f"+{what}")

    def forget(self, what: str) -> None:
        """It has been cleaned up."""
        with self._lock:
            self._notes.pop(what, None)
            if self._notes or self._is_there():
                self._say(f"-{what}")

    def _is_there(self) -> bool:
        return self._process is not None and self._owner == os.getpid() and self._process.poll() is None

    def _say(self, line: str) -> None:
        if not self._is_there():
            # The first note, or somebody ended it.
            self._start()
            line = "\n".join(f"+{note}" for note in self._notes)
        assert self._process is not None
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):
            self._process.stdin.write(os.fsencode(line) + b"\n")
            self._process.stdin.flush()

    def _start(self) -> None:
        if self._process is not None and self._process.stdin is not None:
            with contextlib.suppress(OSError):
                self._process.stdin.close()
        script = Path(__file__).with_name("guard_process.py")
        self._owner = os.getpid()
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", str(script)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
            env={},
            start_new_session=True,
        )

    def close(self) -> None:
        """End the guarding process."""
        with self._lock:
            if self._process is not None and self._owner == os.getpid():
                assert self._process.stdin is not None
                with contextlib.suppress(OSError):  # it may have ended before
                    self._process.stdin.close()
                self._process.wait()
            self._process = None


GUARD = Guard()
atexit.register(GUARD.close)
