"""Runs commands in forks of itself: a process of its own for each, without the tenths of a second of its imports.

Started by :mod:`tests.cli.forked`, with a socket as its standard input. It has imported what commands import. Each
message there is a command: its arguments, its working directory and its variables in JSON, with the descriptors of its
standard streams. Answered are its process id when it starts, and its status when it has ended.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import pkgutil
import signal
import socket
import sys
import tempfile
import time
from pathlib import Path

STREAMS = 3
LONGEST = 1 << 17  # bytes of a message


def import_all() -> None:
    """Import what commands import, now or in their functions; a command that needs more imports it itself."""
    import replay_dd
    from replay_dd.cli.main import COMMANDS

    for entry in COMMANDS.values():
        importlib.import_module(f"replay_dd.cli.{entry.module}")
    for module in pkgutil.walk_packages(replay_dd.__path__, "replay_dd."):
        # Others are loaded into programs, or are for displays and browsers.
        if not module.name.startswith(("replay_dd.events", "replay_dd.pytest_plugin", "replay_dd.web")) and (
            ".runtime" not in module.name and not module.name.endswith("__main__")
        ):
            with contextlib.suppress(ModuleNotFoundError):  # what only the first Python's tests have
                importlib.import_module(module.name)
    gc.collect()
    gc.freeze()


def be_the_command(tool: str, arguments: list[str], folder: str, variables: dict[str, str]) -> None:
    """Become the process of a command that has just been started; does not return."""
    from replay_dd import files
    from replay_dd.cli.start import main

    os.chdir(folder)
    os.environ.clear()
    os.environ.update(variables)
    time.tzset()
    tempfile.tempdir = None
    files._STARTED_IN = Path(folder)
    stdin = sys.stdin
    sys.stdin = open(0, encoding=stdin.encoding, errors=stdin.errors, closefd=False)
    sys.argv = [tool, *arguments]

    sys.exit(main())


def serve(asks: socket.socket, tool: str) -> None:
    """Run commands until nobody can ask for more."""
    while True:
        message, descriptors, _, _ = socket.recv_fds(asks, LONGEST, STREAMS)
        if not message:
            return
        process = os.fork()
        if process == 0:
            asks.close()
            for number, descriptor in enumerate(descriptors):
                os.dup2(descriptor, number)
            os.closerange(STREAMS, max(descriptors) + 1)
            be_the_command(tool, **json.loads(message))
        for descriptor in descriptors:
            os.close(descriptor)
        asks.send(str(process).encode())
        _, status = os.waitpid(process, 0)
        asks.send(str(os.waitstatus_to_exitcode(status)).encode())


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)
    # As in the script of the installed command.
    sys.path[0] = os.path.dirname(sys.argv[1])
    connection = socket.socket(fileno=os.dup(0))
    with open(os.devnull) as nothing:
        os.dup2(nothing.fileno(), 0)
    import_all()
    serve(connection, sys.argv[1])
