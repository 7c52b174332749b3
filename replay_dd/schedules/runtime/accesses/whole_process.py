"""State that the whole process shares, though no object of the program holds it: directory, mask, threads, streams.

Rules of this module:

* The standard library changes it in its own code, where nothing is observed; so it is told at the call, or at the
  ``with``, that makes the library do so.
* What is opened by a relative path depends on the working directory.
* Each thread is an item of the running ones: two that start do not conflict, but who looks at all sees whether one has.
"""

from __future__ import annotations

import os
import sys

from ..observing import absolute
from . import values
from .access import ITEM, PROCESS, READS, STORES, WHOLE, Access

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from typing import Any

_WORKING_DIRECTORY = "the working directory"
_MASK = "the mask of new files"
_RUNNING_THREADS = "the running threads"
_LOOKS_AT_THREADS = {"threading": ("enumerate", "active_count", "activeCount"), "sys": ("_current_frames",)}
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


def of_system(module: str, name: str, arguments: list[Any]) -> Access | None:
    """What a function does to the working directory, or to the mask of new files; None if it is none of those."""
    if module != "posix":
        return None
    if name == "umask" and arguments:
        mask = Access(STORES, PROCESS, PROCESS, _MASK, _MASK)
        mask.reads, mask.new = True, arguments[0]  # it gives the one before
        return mask
    if name in ("getcwd", "getcwdb"):
        return reads_directory()
    if name != "chdir" or not arguments:
        return None
    access = Access(STORES, PROCESS, PROCESS, _WORKING_DIRECTORY, _WORKING_DIRECTORY)
    access.old = _present()
    access.new = _short(absolute(arguments[0])) if values.exactly(arguments[0], str) else values.UNKNOWN
    return access


class WholeProcess:
    """Stands for the process, as what holds its threads."""


_process = WholeProcess()


def of_threads(function: object) -> Access | None:
    """What a function finds out about all threads; None if it is none of those."""
    looks = ((module, name) for module, names in _LOOKS_AT_THREADS.items() for name in names)
    # As the module has it now: one of them is replaced, by one that leaves out what only the tool runs.
    name = next((name for module, name in looks if _variables_of(module).get(name) is function), "")
    if not name:
        return None
    access = Access(READS, WHOLE, _process, "", _RUNNING_THREADS)
    access.detail = f"{name}()"
    variables = _variables_of("threading")
    access.old = sum(values.size(variables.get(part)) or 0 for part in ("_active", "_limbo"))
    return access


def started(thread: object) -> Access:
    """A thread that is started is one of those that run."""
    access = Access(STORES, ITEM, _process, values.class_name(type(thread)), _RUNNING_THREADS)
    access.old, access.new = values.MISSING, thread
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


def _variables_of(module: str) -> dict[str, Any]:
    return getattr(sys.modules.get(module), "__dict__", {})


def _present() -> object:
    try:
        return _short(_getcwd())
    except OSError:  # it was removed
        return values.UNKNOWN


def _short(path: str) -> str:
    return path.rpartition("/")[2] or path
