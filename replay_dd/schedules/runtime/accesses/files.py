"""Files: what is done to them by their paths, and by what is open."""

from __future__ import annotations

import os

from ..observing import absolute
from . import values
from .access import CALLS, FILE, Access
from .closable import bottom, of_stream
from .methods import effect_of
from .values import MISSING

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from typing import Any

_stat = os.stat  # as the program may replace it


def of_file(path: Any, name: str, effect: tuple[bool, bool]) -> Access | None:
    """An access to a file through its path; None if that is none.

    Args:
        path: of the file.
        name: of the function that gets it, or of the method of the path.
        effect: whether it reads the file, and whether it changes it.
    """
    if not values.exactly(path, str, bytes) and not values.module_name(type(path)).startswith("pathlib"):
        return None
    full = absolute(os.fsdecode(path))
    access = Access(CALLS, FILE, full, full, full.rpartition("/")[2])
    access.reads, access.writes = effect
    access.detail = f"{name}()"
    if access.reads and name in ("exists", "is_file", "isfile", "is_dir", "isdir"):
        access.old = True if is_there(full) else MISSING
    return access


def is_there(path: str) -> bool:
    """Whether a file is there."""
    try:
        _stat(path)
    except OSError:
        return False
    return True


def of_open_file(own: Any, name: str, called: str) -> Access | None:
    """What a method does to a file or a stream that is open, or was; None if it is nothing that others see.

    Args:
        own: what is open.
        name: of the method.
        called: how it is called.
    """
    effect = effect_of("io", name)
    if effect is None:
        return None
    path, writable = _path_of(own)
    if not path:
        return of_stream(own, name, effect, called)
    if effect[1] and writable is False:
        return None
    access = Access(CALLS, FILE, path, path, path.rpartition("/")[2])
    access.reads, access.writes = effect
    if writable is None and name not in ("close", "__exit__"):
        access.reads, access.old, access.new = True, MISSING, MISSING
    access.detail = "close() at the end of with" if name == "__exit__" else f"{name}()"
    return access


def _path_of(file: Any) -> tuple[str, bool | None]:
    """(the path of a file of a built-in type, whether it is open for writing, None if it is closed).

    The path is empty if the file has none.
    """
    file = bottom(file)
    if file is None or values.type_name(type(file)) != "FileIO":
        return "", False
    found = (values.own_values(file) or {}).get("name")
    if type(found) is not str:
        return "", False
    return absolute(found), None if file.closed else file.writable()
