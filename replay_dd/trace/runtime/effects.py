"""What a program does to the outside, noticed by an audit hook.

Rules of this module:

* What a fork cannot take back is an *effect*: a file opened for writing, a process, a connection. A run is forked only
  before its first one.
* A second thread, or a process forked by the program, ends the run: neither can follow a trace.
"""

from __future__ import annotations

import _thread
import os
import sys
import threading
from collections.abc import Callable
from typing import Any

_CHANGES = frozenset(
    f"os.{name}"
    for name in (
        *("remove", "rename", "mkdir", "rmdir", "link", "symlink", "truncate", "chmod", "chown", "utime"),
        *("system", "posix_spawn", "exec", "kill", "killpg", "setxattr", "removexattr", "lockf"),
    )
) | {
    *("subprocess.Popen", "sqlite3.connect", "signal.pthread_kill", "fcntl.flock", "fcntl.lockf"),
    *("socket.connect", "socket.bind", "socket.sendto", "socket.sendmsg"),
}
_FORKS = ("os.fork", "os.forkpty")
_THREADS = {
    _thread: ("start_new_thread", "start_new", "start_joinable_thread"),
    threading: ("_start_new_thread", "_start_joinable_thread"),
}
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


class Effects:
    """Watches this process from now on.

    Args:
        on_refused: called with words for what cannot be traced; does not return.

    Attributes:
        watching: whether what happens is the program's; False while we do something ourselves.
        any: whether there was an effect.
        on_socket: called when the program makes a socket, as each event loop does for itself.
    """

    def __init__(self, on_refused: Callable[[str], None]) -> None:
        self.watching = False
        self.any = False
        self.on_socket: Callable[[], None] = lambda: None
        self._on_refused = on_refused
        sys.addaudithook(self._hear)
        # Not every version of Python tells audit hooks about threads.
        for module, names in _THREADS.items():
            for name in names:
                if hasattr(module, name):
                    setattr(module, name, self._refuse_threads(getattr(module, name)))

    def _hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        if not self.watching:
            return
        if event == "open":
            _, _mode, flags = arguments
            # Without a mode, this is os.open; with one, the flags are those that it stands for.
            if isinstance(flags, int) and flags & _WRITES and arguments[0] != os.devnull:
                self.any = True
        elif event in _CHANGES:
            self.any = True
        elif event == "socket.__new__":
            self.on_socket()
        elif event in _FORKS:
            self._on_refused("a process by `fork`")

    def _refuse_threads(self, start: Callable[..., Any]) -> Callable[..., Any]:
        def refused(*arguments: Any, **options: Any) -> Any:
            if self.watching:
                self._on_refused("a second thread")
            return start(*arguments, **options)

        return refused
