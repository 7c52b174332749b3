"""Sockets: a call that would block gives up the baton until it would not.

Rules of this module:

* A call waits under the scheduler until its socket is ready, and is then made as the program made it. A non-blocking
  socket is asked at once, and "nothing there" is an answer like any other; the same holds for calls whose flags say
  not to wait (``MSG_DONTWAIT``, ``MSG_OOB``).
* An operation on a stream takes as many bytes as in the recorded run, and waits for the last of them: the schedule does
  not determine the chunks in which a stream arrives.
* Calls of threads that are not under control are left alone.
"""

from __future__ import annotations

import errno
import os
import sys

from ..baton.moments import LISTENING, NEAR, OutsideWait
from .descriptors import READING, URGENT, WRITING, Descriptors

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

WOULD_BLOCK = -1  # the answer of a non-blocking socket that has nothing


class Sockets:
    """Puts managed methods in the place of those of ``socket.socket``.

    Args:
        descriptors: who knows of all descriptors.
    """

    def __init__(self, descriptors: Descriptors) -> None:
        self._descriptors = descriptors
        self._own_names: set[Any] = set()  # addresses of this process's sockets that listen or have connected

    def adapt(self, module: Any) -> None:
        """Adapt the module ``socket``."""
        real = module._socket.socket
        self._real = real
        self._type_of, self._family_of = real.type.__get__, real.family.__get__
        self._dont_wait = module.MSG_DONTWAIT
        self._urgent = module.MSG_OOB
        self._peek = module.MSG_PEEK
        self._stream = module.SOCK_STREAM
        self._unix = getattr(module, "AF_UNIX", None)
        self._module = module
        self._adapt_pairs(module)
        for name, method in {**self._receiving(real), **self._sending(real), **self._connecting(real)}.items():
            method.__name__ = name
            method.__qualname__ = f"socket.{name}"
            setattr(module.socket, name, method)

    def _adapt_pairs(self, module: Any) -> None:
        real = module._socket.socketpair
        note = self._descriptors.pair

        def socketpair(*arguments: Any) -> Any:
            pair = real(*arguments)
            note(pair[0].fileno(), pair[1].fileno())
            return pair

        module._socket.socketpair = socketpair

    # -- waiting -----------------------------------------------------------------------------------------------------

    def _ready(self, sock: Any, frame: Any, events: int, what: str, flags: int = 0) -> OutsideWait | None:
        """Wait until a call with these flags can be made; None if the call is not under control.

        Raises:
            TimeoutError: the socket's time-out passed first.
        """
        descriptors = self._descriptors
        real = self._real  # a class of the program may have methods of these names
        number = real.fileno(sock)
        if number < 0 or not descriptors.has_baton():
            return None
        timeout_s = real.gettimeout(sock)
        urgent = events == READING and flags & self._urgent and self._type_of(sock) == self._stream
        if timeout_s is None and (urgent or flags & self._dont_wait):
            timeout_s = 0  # with a timeout, the library waits whatever the flags are
            events = URGENT if urgent else events
        pair = [(number, events)]
        wait = descriptors.make_wait(pair, f"{what} on descriptor {number}")
        if timeout_s == 0:
            descriptors.yield_point(frame)
            expected = wait.expected
            if expected is not None and expected.answer == WOULD_BLOCK:
                descriptors.moments.answered(wait, WOULD_BLOCK)
                raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))
            if expected is not None:
                wait.wait_really()
            return wait
        while True:
            if not descriptors.wait(frame, wait, timeout_s):
                raise TimeoutError("timed out")
            if descriptors.poll(pair):
                return wait
            # Another thread took what had arrived.
            descriptors.moments.answered(wait, None)
            wait = descriptors.make_wait(pair, wait.what)

    def _asked(self, wait: OutsideWait, call: Callable[..., Any], *arguments: Any) -> Any:
        """Make a call, and note where a socket that does not block had nothing."""
        try:
            return call(*arguments)
        except BlockingIOError:
            self._descriptors.moments.answered(wait, WOULD_BLOCK)
            raise

    def _take(self, wait: OutsideWait, size: int, take: Callable[[int, int], Any], whole: bool) -> Any:
        """Take as many bytes of a stream as in the recorded run.

        Args:
            wait: the operation.
            size: how many at most.
            take: takes up to so many bytes for a position, and tells how many it got.
            whole: whether it is a stream, of which any number can be taken.
        """
        expected = wait.expected
        wanted = expected.answer if expected is not None else None
        if not whole or not isinstance(wanted, int) or not 0 < wanted <= size:
            taken = self._asked(wait, take, 0, size)
        else:
            taken = self._asked(wait, take, 0, wanted)
            while 0 < taken < wanted and wait.wait_really():
                more = take(taken, wanted - taken)
                if not more:
                    break
                taken += more
        self._descriptors.moments.answered(wait, taken)
        return taken

    # -- receiving ---------------------------------------------------------------------------------------------------

    def _receiving(self, real: Any) -> dict[str, Any]:
        is_whole = self._is_whole

        def recv(self: Any, bufsize: int, flags: int = 0, /) -> Any:
            wait = ready(self, sys._getframe(1), READING, "data", flags)
            if wait is None:
                return real.recv(self, bufsize, flags)
            pieces: list[bytes] = []

            def take(position: int, size: int) -> int:
                pieces.append(real.recv(self, size, flags))
                return len(pieces[-1])

            take_as_recorded(wait, bufsize, take, is_whole(self, flags))
            return pieces[0] if len(pieces) == 1 else b"".join(pieces)

        def recv_into(self: Any, buffer: Any, nbytes: int = 0, flags: int = 0) -> Any:
            wait = ready(self, sys._getframe(1), READING, "data", flags)
            if wait is None:
                return real.recv_into(self, buffer, nbytes, flags)
            with memoryview(buffer) as view, view.cast("B") as octets:

                def take(position: int, size: int) -> Any:
                    return real.recv_into(self, octets[position:], size, flags)

                return take_as_recorded(wait, nbytes or len(octets), take, is_whole(self, flags))

        def once(name: str, flags_at: int) -> Any:
            call = getattr(real, name)

            def receive(self: Any, *arguments: Any, **named: Any) -> Any:
                flags = arguments[flags_at] if len(arguments) > flags_at else named.get("flags", 0)
                wait = ready(self, sys._getframe(1), READING, "a message", flags)
                if wait is None:
                    return call(self, *arguments, **named)
                result = asked(wait, lambda: call(self, *arguments, **named))
                noted(wait, 0)
                return result

            return receive

        ready, asked, take_as_recorded = self._ready, self._asked, self._take
        noted = self._descriptors.moments.answered
        others = {"recvfrom": 1, "recvfrom_into": 2, "recvmsg": 2, "recvmsg_into": 2}
        return {"recv": recv, "recv_into": recv_into, **{name: once(name, at) for name, at in others.items()}}

    def _is_whole(self, sock: Any, flags: int) -> bool:
        return self._type_of(sock) == self._stream and not flags & self._peek

    # -- sending -----------------------------------------------------------------------------------------------------

    def _sending(self, real: Any) -> dict[str, Any]:
        ready, asked = self._ready, self._asked
        noted = self._descriptors.moments.answered
        dont_wait = self._dont_wait
        share, has_baton = self._descriptors.share_with_children, self._descriptors.has_baton

        def send_all(sock: Any, frame: Any, what: str, data: Any, flags: int, send_piece: Any) -> Any:
            """Send all, in pieces that do not block."""
            with memoryview(data) as view, view.cast("B") as octets:
                sent = 0
                while True:
                    wait = ready(sock, frame, WRITING, what)
                    if wait is None:
                        return sent + send_piece(octets[sent:], flags, sent)
                    end = len(octets)
                    expected = wait.expected
                    if expected is not None and isinstance(expected.answer, int) and 0 < expected.answer < end - sent:
                        end = sent + expected.answer
                    try:
                        amount = send_piece(octets[sent:end], flags | dont_wait, sent)
                    except BlockingIOError:
                        # It looked ready but has no room for this much (a datagram).
                        amount = 0
                    noted(wait, amount)
                    sent += amount
                    if sent >= len(octets):
                        return sent

        def send_as_asked(sock: Any, frame: Any, what: str, data: Any, flags: int, send_piece: Any) -> Any:
            """Send all where the call would block until it is sent, else once.

            Args:
                sock: the socket.
                frame: who calls.
                what: what it waits for, in words.
                data: what to send.
                flags: those of the call.
                send_piece: takes a piece of the data, flags, and the position of the piece; tells how many it sent.
            """
            if real.gettimeout(sock) is None and not flags & dont_wait:
                return send_all(sock, frame, what, data, flags, send_piece)
            wait = ready(sock, frame, WRITING, what, flags)
            if wait is None:
                return send_piece(data, flags, 0)
            sent = asked(wait, send_piece, data, flags, 0)
            noted(wait, sent)
            return sent

        def sender(sock: Any) -> Any:
            return lambda piece, flags, position: real.send(sock, piece, flags)

        def send(self: Any, data: Any, flags: int = 0, /) -> Any:
            return send_as_asked(self, sys._getframe(1), "room for data", data, flags, sender(self))

        def sendall(self: Any, data: Any, flags: int = 0, /) -> None:
            if real.gettimeout(self) == 0 or flags & dont_wait or not has_baton():
                real.sendall(self, data, flags)
            else:
                send_all(self, sys._getframe(1), "room for data", data, flags, sender(self))

        def sendto(self: Any, data: Any, *rest: Any) -> Any:
            def send_piece(piece: Any, flags: int, position: int) -> Any:
                return real.sendto(self, piece, flags, rest[-1])

            if len(rest) not in (1, 2):
                return real.sendto(self, data, *rest)  # which raises the right error
            flags = rest[0] if len(rest) == 2 else 0
            return send_as_asked(self, sys._getframe(1), "room for a message", data, flags, send_piece)

        def sendmsg(self: Any, buffers: Any, ancdata: Any = (), flags: int = 0, address: Any = None, /) -> Any:
            def send_piece(piece: Any, flags: int, position: int) -> Any:
                if position:
                    return real.send(self, piece, flags)  # ancillary data went with the first piece
                return real.sendmsg(self, [piece], along, flags, address)

            along = list(ancdata)
            if along:
                share()  # it may carry descriptors to another process
            return send_as_asked(self, sys._getframe(1), "room for a message", b"".join(buffers), flags, send_piece)

        return {"send": send, "sendall": sendall, "sendto": sendto, "sendmsg": sendmsg}

    # -- connecting --------------------------------------------------------------------------------------------------

    def _connecting(self, real: Any) -> dict[str, Any]:
        ready = self._ready
        descriptors = self._descriptors
        noted = descriptors.moments.answered

        def _accept(self: Any) -> Any:
            wait = ready(self, sys._getframe(1), READING, "a connection")
            if wait is None:
                return real._accept(self)
            descriptor, address = asked(wait, real._accept, self)
            noted(wait, 0)
            accepted(self, descriptor, address)
            return descriptor, address

        def accepted(listener: Any, descriptor: int, address: Any) -> None:
            if family_of(listener) == unix:
                credentials = module.socket(fileno=os.dup(descriptor))
                with credentials:
                    peer = credentials.getsockopt(module.SOL_SOCKET, module.SO_PEERCRED, 4)
                if int.from_bytes(peer, sys.byteorder) == os.getpid():
                    descriptors.set_nature(descriptor, NEAR)
            elif address in own_names:
                descriptors.set_nature(descriptor, NEAR)

        def listen(self: Any, *arguments: Any) -> None:
            real.listen(self, *arguments)
            own_names.add(_port(real.getsockname(self)))
            descriptors.set_nature(real.fileno(self), LISTENING)

        def connect_ex(self: Any, address: Any, /) -> Any:
            if not is_ours(self):
                return real.connect_ex(self, address)
            problem = connected(self, address, real.gettimeout(self), sys._getframe(1))
            return errno.EAGAIN if problem == errno.EINPROGRESS else problem

        def connect(self: Any, address: Any, /) -> Any:
            if not is_ours(self):
                return real.connect(self, address)
            problem = connected(self, address, real.gettimeout(self), sys._getframe(1))
            if problem == errno.EINPROGRESS:
                raise TimeoutError("timed out")
            if problem:
                raise OSError(problem, os.strerror(problem))
            return None

        def is_ours(sock: Any) -> bool:
            return type_of(sock) == stream and real.gettimeout(sock) != 0 and descriptors.has_baton()

        def connected(sock: Any, address: Any, timeout_s: float | None, frame: Any) -> int:
            """Connect without blocking, then wait; an error number, EINPROGRESS for a time-out."""
            real.settimeout(sock, 0)
            try:
                problem: int = real.connect_ex(sock, address)
                if problem == errno.EAGAIN and family_of(sock) == unix:
                    problem = when_queue_has_room(sock, address, timeout_s, frame)
                name = real.getsockname(sock)
                if name:
                    own_names.add(name)
                if problem == errno.EINPROGRESS:
                    problem = finished(sock, timeout_s, frame)
                if (
                    not problem
                    and _port(real.getpeername(sock)) in own_names
                    and _host(name) == _host(real.getpeername(sock))
                ):
                    descriptors.set_nature(real.fileno(sock), NEAR)
            finally:
                real.settimeout(sock, timeout_s)
            return problem

        def when_queue_has_room(sock: Any, address: Any, timeout_s: float | None, frame: Any) -> int:
            problem = errno.EAGAIN

            def attempt() -> bool:
                nonlocal problem
                if problem == errno.EAGAIN:
                    problem = real.connect_ex(sock, address)
                return problem != errno.EAGAIN

            wait = descriptors.make_other_wait(attempt, "room in the queue of a listener")
            if not descriptors.wait(frame, wait, timeout_s):
                return errno.EINPROGRESS
            noted(wait, 0)
            return problem

        def finished(sock: Any, timeout_s: float | None, frame: Any) -> int:
            wait = descriptors.make_wait([(real.fileno(sock), WRITING)], "a connection to be made")
            if not descriptors.wait(frame, wait, timeout_s):
                return errno.EINPROGRESS
            problem: int = real.getsockopt(sock, module.SOL_SOCKET, module.SO_ERROR)
            noted(wait, problem)
            return problem

        module, unix, stream, own_names = self._module, self._unix, self._stream, self._own_names
        type_of, family_of = self._type_of, self._family_of
        asked = self._asked
        return {"_accept": _accept, "listen": listen, "connect": connect, "connect_ex": connect_ex}


def _port(name: Any) -> Any:
    """What tells a listener of this process: the port, or the path."""
    return name[1] if isinstance(name, tuple) and len(name) > 1 else name


def _host(name: Any) -> Any:
    return name[0] if isinstance(name, tuple) else None
