"""What one thread takes from a stream or an iterator is gone for all others.

Rules of this module:

* Who receives from a socket or a pipe, reads on in an open file, or asks an iterator for its next, moves it on: that
  both looks at it and changes it. What is written in a file is the file's, and not that of what is open.
* Only what the interpreter and its library bring is told here. Iterators of the program's own classes show what they
  do in their own code, and generators are told where they are entered.
"""

from __future__ import annotations

from . import values
from .access import CALLS, OBJECT, Access

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from typing import Any

_TAKES = frozenset(
    (
        *("read", "read1", "readline", "readlines", "readinto", "readinto1"),
        *("recv", "recv_into", "recvfrom", "recvfrom_into", "recvmsg", "recvmsg_into"),
    )
)
_ITERATORS = ("builtins", "itertools", "_csv", "_io", "collections", "_collections", "re", "_sre")


def takes(name: str) -> bool:
    """Whether a method of a stream or a socket takes what is next there.

    Args:
        name: of the method.
    """
    return name in _TAKES


def taken_from(stream: object, name: str, called: str) -> Access:
    """A step of a stream or an iterator that threads may share.

    Args:
        stream: which one.
        name: of the method or function that takes what is next.
        called: how the stream is called.
    """
    access = Access(CALLS, OBJECT, stream, "", called)
    access.reads = access.writes = True
    access.detail = f"{name}()"
    return access


def is_iterator(thing: Any) -> bool:
    """Whether it is an iterator that the interpreter brings."""
    kind = type(thing)
    return values.module_name(kind) in _ITERATORS and values.in_class(kind, "__next__")[0] is not None
