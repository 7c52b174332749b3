"""Notes which files below a folder are opened, by any program (inotify, Linux).

Rules of this module:

* Where it cannot be noted, or events were lost, nothing is known: then nobody may conclude from it.
"""

from __future__ import annotations

import ctypes
import os
import struct
import threading
from pathlib import Path

_IN_OPEN, _IN_OVERFLOW, _IN_ISDIR, _IN_CREATE = 0x20, 0x4000, 0x40000000, 0x100
_EVENT = struct.Struct("iIII")
_CHUNK = 1 << 16


class OpenedFiles:
    """A context in which opened files are noted.

    Args:
        root: the folder; folders that come into being later are not looked into.
        skip: names of folders that are not looked into.
    """

    def __init__(self, root: Path, skip: frozenset[str]) -> None:
        self._root = root
        self._skip = skip
        self._found: set[str] = set()
        self._complete = True
        self._folders: dict[int, str] = {}
        self._descriptor = -1

    @property
    def paths(self) -> frozenset[str] | None:
        """The opened files, relative to the folder; None if that is not known."""
        return frozenset(self._found) if self._complete else None

    def __enter__(self) -> OpenedFiles:
        try:
            library = ctypes.CDLL(None, use_errno=True)
            self._descriptor = library.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        except (OSError, AttributeError):
            self._descriptor = -1
        if self._descriptor < 0:
            self._complete = False
            return self
        for folder, names, _ in os.walk(self._root):
            names[:] = [name for name in names if name not in self._skip]
            number = library.inotify_add_watch(self._descriptor, os.fsencode(folder), _IN_OPEN)
            self._complete &= number >= 0
            below = os.path.relpath(folder, self._root)
            self._folders[number] = "" if below == "." else f"{below}/"
        self._ended = threading.Event()
        # The kernel keeps 16,384 events by default.
        self._reader = threading.Thread(target=self._read_until_ended, daemon=True)
        self._reader.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._descriptor < 0:
            return
        self._ended.set()
        self._reader.join()
        os.close(self._descriptor)

    def _read_until_ended(self) -> None:
        ended = False
        while not ended:
            ended = self._ended.wait(0.02)
            while self._read():
                pass

    def _read(self) -> bool:
        try:
            data = os.read(self._descriptor, _CHUNK)
        except BlockingIOError:
            return False
        place = 0
        while place < len(data):
            folder, mask, _, length = _EVENT.unpack_from(data, place)
            name = data[place + _EVENT.size : place + _EVENT.size + length].rstrip(b"\0")
            place += _EVENT.size + length
            if mask & _IN_OVERFLOW:
                self._complete = False
            elif name and not mask & _IN_ISDIR:
                self._found.add(self._folders.get(folder, "") + os.fsdecode(name))
        return True
