"""Sockets at which the program listens before its first thread, as test servers on the loopback do.

Copies of the process share such a socket, with its queue of connections that nobody has accepted. Copies run one after
another, so before each one the server empties that queue, and puts back how the socket waits: a copy finds it as new.
"""

from __future__ import annotations

import _socket
import os
import stat

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from typing import Any

_QUEUE = 128  # of one that a copy has shut down; how long it was cannot be asked

# Taken before the program, or the runtime, puts others in their place.
_get_blocking, _set_blocking, _dup, _close, _fstat = os.get_blocking, os.set_blocking, os.dup, os.close, os.fstat


class Listeners:
    """The sockets among open descriptors at which this process listens.

    Args:
        numbers: the descriptors to look at.

    Attributes:
        numbers: those that are such a socket.
    """

    def __init__(self, numbers: list[int]) -> None:
        self._blocking = {number: _get_blocking(number) for number in numbers if _listens(number)}
        self.numbers = frozenset(self._blocking)

    def put_back(self) -> None:
        """Undo what a copy did to them."""
        for number, blocking in self._blocking.items():
            listener: Any = _socket.socket(fileno=_dup(number))
            try:
                if not listener.getsockopt(_socket.SOL_SOCKET, _socket.SO_ACCEPTCONN):
                    listener.listen(_QUEUE)
                listener.setblocking(False)
                while True:
                    _close(listener._accept()[0])
            except OSError:
                pass  # nobody waits any more
            finally:
                listener.close()
                _set_blocking(number, blocking)


def _listens(number: int) -> bool:
    try:
        if not stat.S_ISSOCK(_fstat(number).st_mode):
            return False
    except OSError:
        return False  # the descriptor used for listing
    listener = _socket.socket(fileno=_dup(number))
    try:
        inside = listener.family in (_socket.AF_INET, _socket.AF_INET6)
        return inside and bool(listener.getsockopt(_socket.SOL_SOCKET, _socket.SO_ACCEPTCONN))
    finally:
        listener.close()
