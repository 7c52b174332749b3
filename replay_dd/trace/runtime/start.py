"""Runs a script of the user's, noting its statements or following a trace: the main program of the traced process.

``python [OPTIONS] start.py DESCRIPTOR FOLDER SCRIPT|-m MODULE [ARGUMENTS]``, where DESCRIPTOR is a socket and FOLDER
the working folder.

Rules of this module:

* The other modules are loaded under a name of their own: they are no part of what the program can import, and nothing
  of the house around them is loaded.
"""

from __future__ import annotations

import fcntl
import importlib
import os
import random
import socket
import sys
import types
from typing import Any

_PACKAGE = "_replay_dd_trace"


def _module(name: str) -> Any:
    """A module of this folder."""
    if _PACKAGE not in sys.modules:
        package = types.ModuleType(_PACKAGE)
        package.__path__ = [os.path.dirname(os.path.abspath(__file__))]
        sys.modules[_PACKAGE] = package
    return importlib.import_module(f"{_PACKAGE}.{name}")


def main() -> None:
    """Begin."""
    descriptor, folder = int(sys.argv[1]), sys.argv[2]
    command = sys.argv[3:]
    sys.dont_write_bytecode = True
    made, sources = _module("process"), _module("sources")
    high = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, made.HIGH_DESCRIPTOR)
    os.close(descriptor)
    random.seed(0)
    process = made.Process(socket.socket(fileno=high), folder, command)
    sys.meta_path.insert(0, sources.OwnFinder(process.sources))
    process.parse()
    request = process.serve()
    process.start(request)
    process.run()


if __name__ == "__main__":
    main()
