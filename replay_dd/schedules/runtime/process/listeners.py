"""Sockets at which the program listens before its first thread, as test servers on the loopback do.

Copies of the process share such a socket, with its queue of connections that nobody has accepted. Copies run one after
another, so before each one the server empties that queue, and puts back how the socket waits: a copy finds it as new.

The server has the socket, too. So where a copy has closed it, nobody listens any more only if it is shut down as well.
A copy notices the difference when it connects to that port, or binds another socket to it; it is shut down before that.
"""

from __future__ import annotations

import _socket
import os
import stat
import sys

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from typing import Any

_QUEUE = 128  # of one that a copy has shut down; how long it was cannot be asked
_MOST_DESCRIPTORS = 1024  # that are looked at; a list of all of them would be an event of the program
_FIRST_OF_OURS = 700
_MEETINGS = frozenset({"socket.bind", "socket.connect"})

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
        self._blocking = {number: _get_blocking(number) for number in numbers if listens(number)}
        self._addresses = {number: _address(number) for number in self._blocking}
        self.numbers = frozenset(self._blocking)

    def watch(self, own: set[int]) -> None:
        """In a copy: shut down the sockets that it has closed before it meets them.

        Args:
            own: the descriptors of the runtime, which get more.
        """
        if not self.numbers:
            return
        closed: dict[int, tuple[int, int]] = {}  # by the port: a descriptor of our own, and the number of the file
        for number in self.numbers:
            own_number = _kept_apart(number)
            own.add(own_number)
            closed[self._addresses[number][1]] = own_number, _fstat(number).st_ino

        def audit(event: str, arguments: tuple[Any, ...]) -> None:
            if event not in _MEETINGS or type(arguments[1]) is not tuple or len(arguments[1]) < 2:
                return
            port = arguments[1][1]
            if type(port) is not int or port not in closed or _has_another(*closed[port]):
                return
            listener = _socket.socket(fileno=closed.pop(port)[0])
            own.discard(listener.fileno())
            try:
                listener.shutdown(_socket.SHUT_RDWR)
            except OSError:
                pass  # it was already
            listener.close()

        sys.addaudithook(audit)

    def put_back(self) -> None:
        """Undo what a copy did to them."""
        for number, blocking in self._blocking.items():
            listener: Any = _socket.socket(fileno=_dup(number))
            try:
                if not listener.getsockopt(_socket.SOL_SOCKET, _socket.SO_ACCEPTCONN):
                    _bind_again(listener, self._addresses[number])
                    listener.listen(_QUEUE)
                listener.setblocking(False)
                while True:
                    _close(listener._accept()[0])
            except OSError:
                pass  # nobody waits any more
            finally:
                listener.close()
                _set_blocking(number, blocking)


def _kept_apart(number: int) -> int:
    """Another descriptor of that file, with a number that programs do not come to if there are enough."""
    import fcntl  # few programs listen

    try:
        return fcntl.fcntl(number, fcntl.F_DUPFD_CLOEXEC, _FIRST_OF_OURS)
    except OSError:
        return _dup(number)


def _has_another(own_number: int, file: int) -> bool:
    """Whether the program still has a descriptor of a file of which we have one."""
    for number in range(_MOST_DESCRIPTORS):
        try:
            if number != own_number and _fstat(number).st_ino == file:
                return True
        except OSError:
            pass
    return False


def _bind_again(listener: Any, address: tuple[Any, ...]) -> None:
    """Give a socket that was shut down its port, which it has lost if the system had chosen it."""
    reuse = listener.getsockopt(_socket.SOL_SOCKET, _socket.SO_REUSEADDR)
    listener.setsockopt(_socket.SOL_SOCKET, _socket.SO_REUSEADDR, 1)  # connections may still be dying there
    try:
        listener.bind(address)
    except OSError:
        pass  # it still has it; `getsockname` tells it in both cases
    finally:
        listener.setsockopt(_socket.SOL_SOCKET, _socket.SO_REUSEADDR, reuse)


def _address(number: int) -> tuple[Any, ...]:
    listener: Any = _socket.socket(fileno=_dup(number))
    try:
        return tuple(listener.getsockname())
    finally:
        listener.close()


def listens(number: int) -> bool:
    """Whether a descriptor is a socket at which this process listens to others on the network."""
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
