"""What runs of a program at the same time would fight over: files outside their private folder, and ports.

Rules of this module:

* A run has a folder for temporary files of its own, and with ``--fresh-copy`` a working directory of its own. So these
  two places are told apart from all others.
* SQLite opens its files without an event for each: whoever connects to one may write it.
* A run must find a port free that the one before it used. The system keeps it for a while for those who do not ask to
  have it anyway, so that is asked for in the program's place.
"""

from __future__ import annotations

import os
import sys

from ..accelerator.own_memory import use_own
from ..channel import CHANGED, EXCLUSIVE, NOTE, SHARED, WRITES
from ..observing import absolute, is_a, plain
from ..points.frames import RUNTIME

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType
    from typing import Any

    from ..baton.scheduler import Scheduler

WRITING = os.O_WRONLY | os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_TRUNC
# For each event about files but "open": where in its arguments the paths are that it changes, and for each of them the
# descriptor of the directory that it is relative to, if there may be one.
_PATHS = {
    "os.remove": ((0, 1),),
    "os.rmdir": ((0, 1),),
    "os.mkdir": ((0, 2),),
    "os.rename": ((0, 2), (1, 3)),
    "os.link": ((0, 2), (1, 3)),
    "os.symlink": ((1, 2),),  # what a link leads to is not touched
    "os.truncate": ((0, None),),
    "os.chmod": ((0, 2),),
    "os.utime": ((0, 3),),
}
ABOUT_FILES = frozenset({"open", "sqlite3.connect", *_PATHS})
# Whether there must be such a file before, for something to happen.
_WANTS_A_FILE = {"os.mkdir": False, "os.rmdir": True, "os.remove": True}
_lstat = os.lstat  # the program may put another in its place
TWO_PATHS = frozenset({"os.rename", "os.link", "os.symlink"})
_NO_FILES, _MEMORY = ("/dev/", "/proc/", "/sys/"), "/dev/shm/"
_OF_PATHS = ("pathlib", "pathlib._local")
_OF_NO_FILE = (":memory:", "mode=memory", "mode=ro", "immutable=1")


class SharedThings:
    """Tells the first file and the first port of each kind that the program may not share with other runs.

    Args:
        scheduler: who sends what is told.
        temporary: the run's own folder, with a separator at its end.
    """

    def __init__(self, scheduler: Scheduler, temporary: str) -> None:
        self._scheduler = scheduler
        self._temporary = temporary
        self._directory = os.getcwd() + os.sep
        self._told: set[str] = set()
        self._changed: set[str] = set()

    def look(self, event: str, arguments: tuple[object, ...], frame: FrameType | None) -> None:
        """Look at what is about to happen.

        Args:
            event: the name of an audit event.
            arguments: those of the event.
            frame: where it happens.
        """
        if event == "socket.bind":
            port = fixed_port(arguments[1])
            if port:
                _take_anyway(arguments[0])
                self._tell(EXCLUSIVE, f"port {port}", frame)
        elif (
            len(self._told) < len(SHARED)
            and event in ABOUT_FILES
            and changes(event, arguments)
            and not is_our_own(frame)
        ):
            for path in self._changed_outside(event, arguments):
                here = lies_in(path, self._directory)
                self._tell(WRITES if here else EXCLUSIVE, path, frame)

    def tell_changed(
        self, event: str, arguments: tuple[object, ...], frame: FrameType | None, was_read: Callable[[str], bool]
    ) -> None:
        """Tell each file that is changed.

        Args:
            event: the name of an audit event.
            arguments: those of the event.
            frame: where it happens.
            was_read: whether a file was read before this process was copied.
        """
        if event not in ABOUT_FILES or not changes(event, arguments) or is_our_own(frame):
            return
        before = use_own(True)
        for path in map(absolute, self._changed_outside(event, arguments)):
            if path not in self._changed:
                self._changed.add(path)
                self._scheduler.send(NOTE, CHANGED, path, _is_there(path), was_read(path))
        use_own(before)

    def _changed_outside(self, event: str, arguments: tuple[object, ...]) -> list[str]:
        if is_in_vain(event, arguments):
            return []
        return [path for path in changed_paths(event, arguments) if not _is_private(path, self._temporary)]

    def _tell(self, kind: str, what: str, frame: FrameType | None) -> None:
        if kind not in self._told and self._scheduler.places.user_frame(frame)[0]:
            self._told.add(kind)
            self._scheduler.send(NOTE, kind, what)


def is_our_own(frame: FrameType | None) -> bool:
    """Whether code of the runtime does it, for itself or for the program."""
    return frame is not None and frame.f_code.co_filename.startswith(RUNTIME)


def _is_private(path: str, temporary: str) -> bool:
    """Whether other runs never look at this file, or it keeps nothing."""
    if temporary != os.sep and lies_in(path + os.sep, temporary):
        return True
    path = absolute(path)
    return "__pycache__" in path or (path.startswith(_NO_FILES) and not path.startswith(_MEMORY))


def changes(event: str, arguments: tuple[object, ...]) -> bool:
    """Whether an event that has an effect changes something: a file may be opened just to be read."""
    if event != "open":
        return True
    flags = arguments[2]
    return type(flags) is not int or flags & WRITING != 0  # as for writing where that is not told


def is_in_vain(event: str, arguments: tuple[object, ...]) -> bool:
    """Whether nothing comes of an event: a directory is to be made that is there, or a file removed that is not."""
    if event not in _WANTS_A_FILE:
        return False
    return _is_there(changed_paths(event, arguments)[0]) is not _WANTS_A_FILE[event]


def _is_there(path: str) -> bool:
    try:
        _lstat(path)
    except (OSError, ValueError):
        return False
    return True


def changed_paths(event: str, arguments: tuple[object, ...]) -> list[str]:
    """The paths of the files that an event is about to change; empty if it names none."""
    if event == "open":
        return [] if is_a(arguments[0], int) else [path_in_words(arguments[0])]
    if event == "sqlite3.connect":
        path = _path_of_database(arguments[0])
        return [path] if path else []
    return [
        _from_descriptor(path_in_words(arguments[place]), arguments[relative] if relative is not None else -1)
        for place, relative in _PATHS.get(event, ())
    ]


def _path_of_database(database: object) -> str:
    """The file of a database; empty if there is none, or it is only read."""
    name = path_in_words(database)
    if not name or any(word in name for word in _OF_NO_FILE):
        return ""
    if name.startswith("file:"):
        name = name[5:].partition("?")[0]
        if name.startswith("//"):
            name = "/" + name[2:].partition("/")[2]
    return name


def _from_descriptor(path: str, directory: object) -> str:
    """A path that may be relative to an open directory."""
    if path[:1] == os.sep or type(directory) is not int or directory < 0:
        return path
    return f"{open_file(directory)}/{path}"


def open_file(argument: Any) -> str:
    """The path of the file that a descriptor stands for; nothing if it is none, or the system does not tell."""
    if not is_a(argument, int):
        return ""
    try:
        return os.readlink(f"/proc/self/fd/{int.__index__(argument)}")
    except OSError:
        return ""


def keeps_bytecode(event: str, arguments: tuple[object, ...]) -> bool:
    """Whether the import system keeps compiled modules there, which a copy need not do again."""
    path = path_in_words(arguments[0]) if arguments else ""
    if event == "open":  # it opens a file, and then makes a stream of the descriptor
        path = open_file(arguments[0]) or path
    prefix = sys.pycache_prefix
    return "__pycache__" in path or (prefix is not None and lies_in(path + os.sep, absolute(prefix) + os.sep))


def fixed_port(address: object) -> int:
    """The port of an address that the program has chosen itself; 0 if the system chooses, or there is none."""
    port = address[1] if type(address) is tuple and len(address) > 1 else 0
    return port if type(port) is int else 0


def _take_anyway(socket: Any) -> None:
    """Let it have its port although connections of an earlier run are not forgotten yet."""
    import _socket  # only now: the program has it

    if _socket.socket.type.__get__(socket) == _socket.SOCK_STREAM:
        _socket.socket.setsockopt(socket, _socket.SOL_SOCKET, _socket.SO_REUSEADDR, 1)


def lies_in(path: str, directory: str) -> bool:
    """Whether a file is in a directory, whose name ends with a separator."""
    if path[:1] == os.sep and "/." not in path and "//" not in path:
        return path.startswith(directory)  # already normalised, as most are
    return absolute(path).startswith(directory)


def path_of(argument: Any) -> str | bytes:
    """A path without the methods that a class of the program may have given it."""
    return bytes.__getitem__(argument, slice(None)) if is_a(argument, bytes) else plain(argument)


def is_path(argument: Any) -> bool:
    """Whether it is a path of ``pathlib``, by whose methods no code of the program is called."""
    return type(argument).__module__ in _OF_PATHS


def path_in_words(argument: Any) -> str:
    """The path of a file that is given as one, or as a descriptor."""
    if is_a(argument, int):
        return open_file(argument) or f"descriptor {int.__index__(argument)}"
    if is_path(argument):
        argument = os.fspath(argument)
    return os.fsdecode(path_of(argument)) if is_a(argument, bytes) else plain(argument)
