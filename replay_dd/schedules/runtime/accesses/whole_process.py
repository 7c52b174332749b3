"""State that the whole process shares, although no object of the program holds it: the working directory, streams.

Rules of this module:

* The standard library changes it in its own code, where nothing is observed; so it is told at the call, or at the
  ``with``, that makes the library do so.
* What is opened by a relative path depends on the working directory.
"""

from __future__ import annotations

import os
import sys

from ..observing import absolute
from . import values
from .access import PROCESS, READS, STORES, Access

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from typing import Any

_WORKING_DIRECTORY = "the working directory"
_getcwd = os.getcwd  # as the program may replace it
_STREAMS = {"redirect_stdout": "stdout", "redirect_stderr": "stderr", "redirect_stdin": "stdin"}


def reads_directory() -> Access:
    """To depend on the working directory."""
    access = Access(READS, PROCESS, PROCESS, _WORKING_DIRECTORY, _WORKING_DIRECTORY)
    access.old = _present()
    return access


def is_relative(path: object) -> bool:
    """Whether a path depends on the working directory."""
    return type(path) is str and not os.path.isabs(path)


def of_directory(module: str, name: str, arguments: list[Any]) -> Access | None:
    """What a function does to the working directory; None if it is none of those."""
    if module != "posix":
        return None
    if name in ("getcwd", "getcwdb"):
        return reads_directory()
    if name != "chdir" or not arguments:
        return None
    access = Access(STORES, PROCESS, PROCESS, _WORKING_DIRECTORY, _WORKING_DIRECTORY)
    access.old = _present()
    access.new = _short(absolute(arguments[0])) if values.exactly(arguments[0], str) else values.UNKNOWN
    return access


def redirected(manager: Any, *, ends: bool) -> tuple[str, object] | None:
    """(which standard stream a context manager of the library replaces, what it stores there); None for any other.

    Args:
        manager: the context manager.
        ends: whether it puts the old stream back.
    """
    kind = type(manager)
    stream = _STREAMS.get(values.type_name(kind)) if values.module_name(kind) == "contextlib" else None
    own = values.own_values(manager) if stream is not None else None
    if stream is None or own is None:
        return None
    if not ends:
        return stream, own.get("_new_target", values.UNKNOWN)
    before = own.get("_old_targets")
    return stream, before[-1] if type(before) is list and before else values.UNKNOWN


def streams() -> object:
    """The module that holds the standard streams."""
    return sys


def _present() -> object:
    try:
        return _short(_getcwd())
    except OSError:  # it was removed
        return values.UNKNOWN


def _short(path: str) -> str:
    return path.rpartition("/")[2] or path
