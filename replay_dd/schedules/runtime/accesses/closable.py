"""Streams, sockets and databases that one thread may close while another one uses them.

Rules of this module:

* Of files, only what has no path is told here: streams in memory, temporary files, pipes. The others are in files.py.
* Whether it is closed is asked of the interpreter's own types only, never of a class of the program.
* A cursor does not tell; it is known from its ``close()``.
"""

from __future__ import annotations

from . import values
from .access import CALLS, OBJECT, Access
from .methods import effect_of
from .taking import taken_from, takes

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from typing import Any

_OWN_BUFFER = {"TextIOWrapper": "buffer", "BufferedReader": "raw", "BufferedWriter": "raw", "BufferedRandom": "raw"}
_AT_THE_BOTTOM = ("FileIO", "BytesIO", "StringIO")
_SOCKETS = ("socket", "_socket")
_ENDS = ("close", "__exit__")


def bottom(stream: Any) -> Any:
    """What a stream of the standard library reads from and writes to in the end; None if that is not known."""
    while values.module_name(type(stream)) == "_io" and values.type_name(type(stream)) in _OWN_BUFFER:
        try:
            stream = getattr(stream, _OWN_BUFFER[values.type_name(type(stream))])
        except (AttributeError, ValueError):  # it was detached
            return None
    kind = type(stream)
    return stream if values.module_name(kind) == "_io" and values.type_name(kind) in _AT_THE_BOTTOM else None


def of_stream(own: Any, name: str, effect: tuple[bool, bool], called: str) -> Access | None:
    """What a method does to a stream that has no path; None if it is not such a stream.

    Args:
        own: the stream.
        name: of the method.
        effect: whether it reads, whether it writes.
        called: the name of the stream.
    """
    lowest = bottom(own)
    if lowest is None:  # as that of a socket: whether it is closed is not known
        return taken_from(own, name, called) if takes(name) else None
    return _access(own, name, effect, called, closed=lowest.closed)


def is_socket(own: object) -> bool:
    """Whether it is a socket, and not one of a class of the program."""
    return values.module_name(type(own)) in _SOCKETS


def of_socket(own: Any, name: str, called: str) -> Access | None:
    """What a method does to a socket; None where that is not known.

    Args:
        own: the socket.
        name: of the method.
        called: the name of the socket.
    """
    effect = effect_of("socket", name)
    return None if effect is None else _access(own, name, effect, called, closed=own.fileno() < 0)


def is_closed_database(own: Any, closed_cursors: dict[int, Any]) -> bool:
    """Whether a connection or a cursor of ``sqlite3`` is closed.

    Args:
        own: the connection or cursor.
        closed_cursors: weak references to the cursors that were closed, by identity.
    """
    known = closed_cursors.get(id(own))
    if known is not None and known() is own:
        return True
    kinds: Any = values.mro(type(own))
    known_as = "sqlite3", "Connection"
    kind = next((one for one in kinds if (values.module_name(one), values.type_name(one)) == known_as), None)
    if kind is None:
        return False
    try:
        kind.total_changes.__get__(own)
    except Exception:  # a ProgrammingError, whose class the program may not have loaded
        return True
    return False


def _access(own: object, name: str, effect: tuple[bool, bool], called: str, *, closed: bool) -> Access:
    access = Access(CALLS, OBJECT, own, "", called)
    access.reads, access.writes = effect[0], effect[1] or takes(name)
    access.detail = "close() at the end of with" if name == "__exit__" else f"{name}()"
    if closed and name not in _ENDS:
        access.reads, access.old = True, values.MISSING
    return access
