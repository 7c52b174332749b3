"""Connecting and accepting: how connections come about.

Rules of this module:

* Whether somebody listens already depends on when another process came so far. So the log notes how each attempt ended.
  A replay makes no attempt where the recorded one was refused, and repeats one that succeeded until it does.
* Who accepts a connection to a socket of this process is one of its threads, unless another process was given that
  socket: then it is not known, until one of our threads does.
* Whether it succeeds at once or a little later depends on the machine; a replay takes the recorded course.
"""

from __future__ import annotations

import errno
import os
import sys

from ..baton.moments import OutsideWait
from ..baton.patience import NEAR
from ..observing import is_a, plain, type_name
from .descriptors import READING, WRITING, Descriptors
from .open_files import inode_of

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_getpid = os.getpid  # taken before the runtime puts its own in place

_IS_MADE = (0, errno.EISCONN)
_IS_UNDER_WAY = (*_IS_MADE, errno.EINPROGRESS, errno.EALREADY)


class Connections:
    """Makes managed methods of ``socket.socket`` that connect, listen and accept.

    Args:
        descriptors: who knows of all descriptors.
        ready: waits until a call can be made; see sockets.py.
        asked: makes a call, and notes where it failed.
        module: the module ``socket``.
    """

    def __init__(
        self, descriptors: Descriptors, ready: Callable[..., Any], asked: Callable[..., Any], module: Any
    ) -> None:
        self._descriptors = descriptors
        self._ready = ready
        self._asked = asked
        self._module = module
        self._unix = getattr(module, "AF_UNIX", None)
        self._connecting: dict[Any, int] = {}  # the inodes of this process's sockets that have connected, by address

    def methods(self, real: Any) -> dict[str, Any]:
        """The methods by name.

        Args:
            real: the class in C.
        """
        ready, asked, descriptors = self._ready, self._asked, self._descriptors
        self._real = real  # a class of the program may have methods of these names
        self._type_of, self._family_of = real.type.__get__, real.family.__get__

        def _accept(self: Any) -> Any:
            wait = ready(self, sys._getframe(1), READING, "a connection")
            if wait is None:
                return real._accept(self)
            descriptor, address = asked(wait, real._accept, self)
            descriptors.moments.answered(wait, 0)
            accepted(self, descriptor, address)
            return descriptor, address

        def listen(self: Any, *arguments: Any) -> None:
            real.listen(self, *arguments)
            descriptors.listens(real.fileno(self), _port(real.getsockname(self)))

        def connect_ex(self: Any, address: Any, /) -> Any:
            if not is_ours(self):
                return real.connect_ex(self, address)
            problem = connected(self, address, sys._getframe(1))
            return errno.EAGAIN if problem == errno.EINPROGRESS and real.gettimeout(self) != 0 else problem

        def connect(self: Any, address: Any, /) -> Any:
            if not is_ours(self):
                return real.connect(self, address)
            problem = connected(self, address, sys._getframe(1))
            if problem == errno.EINPROGRESS and real.gettimeout(self) != 0:
                raise TimeoutError("timed out")
            if problem:
                raise OSError(problem, os.strerror(problem))
            return None

        accepted, is_ours, connected = self._accepted, self._is_ours, self._connected
        return {"_accept": _accept, "listen": listen, "connect": connect, "connect_ex": connect_ex}

    def _is_ours(self, sock: Any) -> bool:
        return self._type_of(sock) == self._module.SOCK_STREAM and self._descriptors.has_baton()

    def _accepted(self, listener: Any, descriptor: int, address: Any) -> None:
        module = self._module
        if self._family_of(listener) == self._unix:
            credentials = module.socket(fileno=os.dup(descriptor))
            with credentials:
                peer = credentials.getsockopt(module.SOL_SOCKET, module.SO_PEERCRED, 4)
            if int.from_bytes(peer, sys.byteorder) == _getpid():
                self._descriptors.set_nature(descriptor, NEAR)
        elif address in self._connecting:
            self._descriptors.set_nature(descriptor, NEAR)
            self._descriptors.set_nature_of_inode(self._connecting[address], NEAR)

    def _connected(self, sock: Any, address: Any, frame: Any) -> int:
        """Connect without blocking, then wait if the socket does; an error number, EINPROGRESS for a time-out."""
        timeout_s = self._real.gettimeout(sock)
        if timeout_s == 0:
            problem = self._attempted(sock, address, frame, then_waits=False)
            if problem in _IS_UNDER_WAY:
                self._tell_connected(sock, address)
            return problem
        self._real.settimeout(sock, 0)
        try:
            problem = self._attempted(sock, address, frame, then_waits=True)
            if problem == errno.EAGAIN and self._family_of(sock) == self._unix:
                problem = self._when_queue_has_room(sock, address, timeout_s, frame)
            name = self._real.getsockname(sock)
            if name:
                self._connecting[name] = inode_of(self._real.fileno(sock))
            if problem == errno.EINPROGRESS:
                problem = self._finished(sock, address, timeout_s, frame)
            if not problem:
                peer = self._real.getpeername(sock)
                if self._descriptors.accepts_alone(_port(peer)) and _host(name) == _host(peer):
                    self._descriptors.set_nature(self._real.fileno(sock), NEAR)
                self._tell_connected(sock, peer or address)
        finally:
            self._real.settimeout(sock, timeout_s)
        return problem

    def _tell_connected(self, sock: Any, address: Any) -> None:
        """Tell of a connection to a server that is not in this process: a replay needs it, too."""
        if not self._descriptors.accepts(_port(address)):
            server = _in_words(address)
            self._descriptors.connected_to(self._real.fileno(sock), server)
            self._descriptors.note("connected", f"connected to {server}")

    def _attempted(self, sock: Any, address: Any, frame: Any, then_waits: bool) -> int:
        """Make one attempt, or none where the recorded one was refused; an error number."""
        wait = self._descriptors.make_wait([(self._real.fileno(sock), WRITING)], "a connection to be made")
        expected = wait.expected
        recorded = expected.answer if expected is not None and isinstance(expected.answer, int) else None
        problem: int
        refused = recorded is not None and recorded not in (*_IS_MADE, errno.EINPROGRESS)
        if then_waits and recorded == errno.EINPROGRESS:
            refused = self._was_refused_later(wait)
        if recorded is not None and refused:
            self._descriptors.yield_point(frame)  # as the system would tell of the call
            problem = recorded
        else:
            problem = self._real.connect_ex(sock, address)
            if recorded is not None and problem not in (*_IS_MADE, errno.EINPROGRESS):
                problem = self._try_again(wait, sock, address, problem)
            if recorded == errno.EINPROGRESS and problem == 0:
                problem = recorded
            elif recorded == 0 and problem == errno.EINPROGRESS:
                problem = self._try_again(wait, sock, address, problem)
        self._descriptors.moments.answered(wait, problem)
        return problem

    def _was_refused_later(self, wait: OutsideWait) -> bool:
        """Whether the recorded attempt took a moment, and was refused in the end: the next wait is for that."""
        following = self._descriptors.moments.expected.get((wait.thread.name, wait.number + 1))
        return following is not None and isinstance(following.answer, int) and following.answer > 0

    def _try_again(self, wait: OutsideWait, sock: Any, address: Any, problem: int) -> int:
        """Connect as in the recorded run, where somebody listened already; the last error number."""
        moments = self._descriptors.moments
        refusal = problem  # the last one: an attempt that is under way at the end tells nothing

        def attempt() -> bool:
            nonlocal problem, refusal
            problem = self._real.connect_ex(sock, address)
            refusal = refusal if problem in _IS_UNDER_WAY else problem
            return problem in _IS_MADE

        wait.is_there = attempt
        limit_s = moments.patience.seconds_if_refused(wait.nature, moments.somebody_is_away())
        if moments.look(wait) or wait.wait_for_it(limit_s):
            return 0
        moments.lose(f"connected to {_in_words(address)}, which now fails: {os.strerror(refusal)}")
        wait.leave()
        return problem

    def _when_queue_has_room(self, sock: Any, address: Any, timeout_s: float | None, frame: Any) -> int:
        problem = errno.EAGAIN

        def attempt() -> bool:
            nonlocal problem
            if problem == errno.EAGAIN:
                problem = self._real.connect_ex(sock, address)
            return problem != errno.EAGAIN

        wait = self._descriptors.make_other_wait(attempt, "room in the queue of a listener")
        if not self._descriptors.wait(frame, wait, timeout_s):
            return errno.EINPROGRESS
        self._descriptors.moments.answered(wait, 0)
        return problem

    def _finished(self, sock: Any, address: Any, timeout_s: float | None, frame: Any) -> int:
        wait = self._descriptors.make_wait([(self._real.fileno(sock), WRITING)], "a connection to be made")
        if not self._descriptors.wait(frame, wait, timeout_s):
            return errno.EINPROGRESS
        problem: int = self._real.getsockopt(sock, self._module.SOL_SOCKET, self._module.SO_ERROR)
        expected = wait.expected
        if expected is not None and isinstance(expected.answer, int):
            if problem and not expected.answer:
                problem = self._try_again(wait, sock, address, problem)
            elif expected.answer:
                problem = expected.answer
        self._descriptors.moments.answered(wait, problem)
        return problem


def _in_words(address: Any) -> str:
    """An address as it is usually written."""
    if is_a(address, tuple) and len(address) > 1:
        host, port = plain(address[0]), address[1]
        return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    return os.fsdecode(address) if type(address) in (str, bytes) else type_name(address)


def _port(name: Any) -> Any:
    """What tells a listener of this process: the port, or the path."""
    return name[1] if isinstance(name, tuple) and len(name) > 1 else name


def _host(name: Any) -> Any:
    return name[0] if isinstance(name, tuple) else None
