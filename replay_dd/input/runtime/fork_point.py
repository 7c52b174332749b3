"""Stops a program where it first touches its input, to be forked there for each version of it.

Rules of this module:

* Up to that point the program does the same in every run, as far as it can be told: it has read nothing of its input.
  It touches a file when it opens it or asks the system about it, and standard input when it reads from it.
* What copies would share or miss makes forking unsound: a file it has written, a process, a connection, a thread, an
  open file. Then the tool is told why, and the process goes on as if nobody had stopped it.
* The tool's end of it, and what is checked at the stop, are those of the scheduler's fork server, loaded by its place.
"""

from __future__ import annotations

import fcntl
import io
import os
import posix
import sys

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_HIGH_DESCRIPTOR = 300  # the program's own files get the numbers that they would get without us
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_CHANGES = frozenset(
    f"os.{name}"
    for name in (
        *("remove", "rename", "mkdir", "rmdir", "link", "symlink", "truncate", "chmod", "chown", "utime"),
        *("system", "posix_spawn", "exec", "kill", "killpg", "fork", "forkpty"),
    )
) | {"subprocess.Popen", "sqlite3.connect", "fcntl.flock", "fcntl.lockf", "socket.connect", "socket.bind"}
_STARTS = frozenset({"subprocess.Popen", "os.posix_spawn", "os.fork", "os.system"})
# Modules whose processes look at the machine, leave nothing, and have ended when the module's functions return.
# Libraries ask them while they are imported.
_LIBRARY = os.path.dirname(os.__file__)
_LOOKING = frozenset(os.path.join(_LIBRARY, *parts) for parts in (("platform.py",), ("ctypes", "util.py")))
_ASKS = ("stat", "lstat", "access")


class _Stop:
    """Watches the program until it touches its input.

    Args:
        descriptor: a socket to the tool.
        server: the module with the fork server.
        path: of the input; empty for standard input.
    """

    def __init__(self, descriptor: int, server: Any, path: str) -> None:
        self.watching = False
        self._descriptor = descriptor
        self._server = server
        self._path = path
        self._name = os.path.basename(path)
        self._temporary = os.environ.get("TMPDIR", "")
        self._reason = ""
        self._originals: dict[str, Any] = {}

    def watch(self) -> None:
        """Begin."""
        if self._path:
            for name in _ASKS:
                self._originals[name] = getattr(os, name)
                _put(name, self._asking(self._originals[name]))
        else:
            self._originals["read"] = os.read
            _put("read", self._reading(os.read))
            sys.stdin = _stdin_that_tells(self.touched)
        sys.addaudithook(self._hear)
        self.watching = True

    def touched(self) -> None:
        """The program is about to touch its input; goes on only in its forks, or if it cannot be forked."""
        if self.watching:
            self.watching = False
            for name, original in self._originals.items():
                _put(name, original)
            self._server.serve(self._descriptor, {self._descriptor}, self._reason)

    def _hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        if not self.watching:
            return
        if event == "open":
            path, _mode, flags = arguments
            if self._is_input(path):
                self.touched()
            elif isinstance(flags, int) and flags & _WRITES and not self._is_harmless(path):
                self._reason = self._reason or f"it opens {path} for writing before it reads its input"
        elif event in _CHANGES and not (arguments and self._is_harmless(arguments[0])) and not _only_looks(event):
            self._reason = (
                self._reason or f"it does something that forks would share ({event}) before it reads its input"
            )

    def _is_input(self, path: Any) -> bool:
        if isinstance(path, int):
            return path == 0 and not self._path
        text = os.fsdecode(path)
        if not self._path:
            return text in ("/dev/stdin", "/dev/fd/0", "/proc/self/fd/0")
        return text.endswith(self._name) and os.path.abspath(text) == self._path

    def _is_harmless(self, path: Any) -> bool:
        """Whether it is a cache of the interpreter, no file, or one of the folder that the tool looks at."""
        if not isinstance(path, (str, bytes)):
            return False
        text = os.fsdecode(path)
        own = self._temporary and os.path.abspath(text).startswith(self._temporary + os.sep)
        return text == os.devnull or "__pycache__" in text or bool(own)

    def _asking(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def asking(path: Any, *arguments: Any, **options: Any) -> Any:
            if self.watching and not isinstance(path, int) and self._is_input(path):
                self.touched()
            return original(path, *arguments, **options)

        return asking

    def _reading(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def read(descriptor: int, length: int, /) -> Any:
            if descriptor == 0:
                self.touched()
            return original(descriptor, length)

        return read


def _only_looks(event: str) -> bool:
    """Whether a process is started to look at the machine."""
    frame = sys._getframe() if event in _STARTS else None
    while frame is not None:
        if frame.f_code.co_filename in _LOOKING:
            return True
        frame = frame.f_back
    return False


def _put(name: str, function: Any) -> None:
    for module in (os, posix):
        setattr(module, name, function)


def _stdin_that_tells(touched: Callable[[], None]) -> Any:
    """Standard input that says when it is read."""

    class Input(io.FileIO):
        def readinto(self, buffer: Any, /) -> Any:
            touched()
            return super().readinto(buffer)

        def read(self, size: Any = -1, /) -> Any:
            touched()
            return super().read(size)

        def readall(self) -> Any:
            touched()
            return super().readall()

    before = sys.stdin
    raw = Input(0, "rb", closefd=False)
    raw.name = "<stdin>"
    text = io.TextIOWrapper(io.BufferedReader(raw), encoding=before.encoding, errors=before.errors, newline="\n")
    text.mode = "r"  # type: ignore[misc]
    return text


def stop_at_input(descriptor: int, runtime: str, path: str) -> None:
    """Stop this process at its input.

    Args:
        descriptor: a socket to the tool.
        runtime: the folder of the scheduler's runtime, which has the fork server.
        path: of the input; empty for standard input.
    """
    high = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, _HIGH_DESCRIPTOR)
    os.close(descriptor)
    package = type(sys)("_replay_dd_runtime")
    package.__path__ = [runtime]
    sys.modules["_replay_dd_runtime"] = package
    from _replay_dd_runtime.process import fork_server

    fork_server.learn_streams()
    _Stop(high, fork_server, path).watch()
