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

import sys

from ..baton.moments import OutsideWait
from .connections import Connections
from .descriptors import READING, URGENT, WRITING, Descriptors
from .pieces import FAILED, WOULD_BLOCK, give, joined, refuse_as_recorded, take

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


class Sockets:
    """Puts managed methods in the place of those of ``socket.socket``.

    Args:
        descriptors: who knows of all descriptors.
    """

    def __init__(self, descriptors: Descriptors) -> None:
        self._descriptors = descriptors

    def adapt(self, module: Any) -> None:
        """Adapt the module ``socket``."""
        real = module._socket.socket
        self._real = real
        self._type_of, self._family_of = real.type.__get__, real.family.__get__
        self._dont_wait = module.MSG_DONTWAIT
        self._urgent = module.MSG_OOB
        self._peek = module.MSG_PEEK
        self._stream = module.SOCK_STREAM
        self._adapt_pairs(module)
        connections = Connections(self._descriptors, self._ready, self._asked, module)
        for name, method in {**self._receiving(real), **self._sending(real), **connections.methods(real)}.items():
            method.__name__ = name
            method.__qualname__ = f"socket.{name}"
            setattr(module.socket, name, method)

    def _adapt_pairs(self, module: Any) -> None:
        real = module._socket.socketpair
        note, before_opening = self._descriptors.pair, self._descriptors.before_opening

        def socketpair(*arguments: Any) -> Any:
            before_opening()
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
            refuse_as_recorded(wait, descriptors.moments)
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
        """Make a call, and note where it failed, or a socket that does not block had nothing."""
        try:
            return call(*arguments)
        except OSError as error:
            self._descriptors.moments.answered(wait, WOULD_BLOCK if isinstance(error, BlockingIOError) else FAILED)
            raise

    # -- receiving ---------------------------------------------------------------------------------------------------

    def _receiving(self, real: Any) -> dict[str, Any]:
        def recv(self: Any, bufsize: int, flags: int = 0, /) -> Any:
            wait = ready(self, sys._getframe(1), READING, "data", flags)
            if wait is None:
                return real.recv(self, bufsize, flags)
            pieces: list[bytes] = []

            def attempt(position: int, size: int) -> int:
                pieces.append(real.recv(self, size, flags))
                return len(pieces[-1])

            take(wait, moments, bufsize, attempt, is_message(self, flags))
            return joined(pieces)

        def recv_into(self: Any, buffer: Any, nbytes: int = 0, flags: int = 0) -> Any:
            wait = ready(self, sys._getframe(1), READING, "data", flags)
            if wait is None:
                return real.recv_into(self, buffer, nbytes, flags)
            with memoryview(buffer) as view, view.cast("B") as octets:

                def attempt(position: int, size: int) -> Any:
                    return real.recv_into(self, octets[position:], size, flags)

                return take(wait, moments, nbytes or len(octets), attempt, is_message(self, flags))

        def with_more(name: str) -> Any:
            """A call that also tells the sender, or gets ancillary data."""
            call = getattr(real, name)

            def receive(self: Any, bufsize: int, *rest: Any) -> Any:
                flags = rest[-1] if len(rest) == (1 if name == "recvfrom" else 2) else 0
                wait = ready(self, sys._getframe(1), READING, "a message", flags)
                if wait is None:
                    return call(self, bufsize, *rest)
                results: list[Any] = []

                def attempt(position: int, size: int) -> int:
                    results.append(call(self, size, *rest))
                    return len(results[-1][0])

                take(wait, moments, bufsize, attempt, is_message(self, flags))
                return (joined([result[0] for result in results]), *results[0][1:])

            return receive

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

        ready, asked, is_message, moments = self._ready, self._asked, self._is_message, self._descriptors.moments
        noted = moments.answered
        others = {name: with_more(name) for name in ("recvfrom", "recvmsg")}
        others |= {name: once(name, 2) for name in ("recvfrom_into", "recvmsg_into")}
        return {"recv": recv, "recv_into": recv_into, **others}

    def _is_message(self, sock: Any, flags: int) -> bool:
        """Whether an operation takes or gives all that there is at once; of a stream, any number of bytes."""
        return self._type_of(sock) != self._stream or bool(flags & self._peek)

    # -- sending -----------------------------------------------------------------------------------------------------

    def _sending(self, real: Any) -> dict[str, Any]:
        ready, moments = self._ready, self._descriptors.moments
        dont_wait, stream, descriptors = self._dont_wait, self._stream, self._descriptors
        type_of = self._type_of
        share, has_baton = self._descriptors.share_with_children, self._descriptors.has_baton

        def send_all(
            sock: Any, frame: Any, what: str, data: Any, flags: int, send_piece: Any, audit: Any = _nothing
        ) -> Any:
            """Send all, in pieces that do not block."""
            with memoryview(data) as view, view.cast("B") as octets:
                sent = 0
                while True:
                    wait = ready(sock, frame, WRITING, what)
                    if wait is None:
                        return sent + send_piece(octets[sent:], flags, sent)
                    try:
                        refuse(wait, audit)
                        sent += send_once(sock, wait, octets, sent, flags | dont_wait, send_piece)
                    except BlockingIOError:
                        pass  # it looked ready but has no room for this much (a datagram)
                    if sent >= len(octets):
                        return sent

        def refuse(wait: Any, audit: Any) -> None:
            try:
                refuse_as_recorded(wait, moments)
            except BlockingIOError:
                audit()  # the recorded call made the attempt
                raise

        def send_as_asked(
            sock: Any, frame: Any, what: str, data: Any, flags: int, send_piece: Any, audit: Any = _nothing
        ) -> Any:
            """Send all where the call would block until it is sent, else once.

            Args:
                sock: the socket.
                frame: who calls.
                what: what it waits for, in words.
                data: what to send.
                flags: those of the call.
                send_piece: takes a piece of the data, flags, and the position of the piece; tells how many it sent.
                audit: raises the audit event of the call, which is a yield point, where no attempt is made.
            """
            if real.gettimeout(sock) is None and not flags & dont_wait:
                return send_all(sock, frame, what, data, flags, send_piece, audit)
            try:
                wait = ready(sock, frame, WRITING, what, flags)
            except BlockingIOError:
                audit()  # the recorded call made the attempt
                raise
            if wait is None:
                return send_piece(data, flags, 0)
            with memoryview(data) as view, view.cast("B") as octets:
                return send_once(sock, wait, octets, 0, flags, send_piece)

        def send_once(sock: Any, wait: Any, octets: Any, start: int, flags: int, send_piece: Any) -> int:
            def attempt(position: int, size: int) -> int:
                first = start + position
                sent: int = send_piece(octets[first : first + size], flags, first)
                return sent

            def is_broken() -> bool:
                return descriptors.is_broken(real.fileno(sock))

            return give(wait, moments, len(octets) - start, attempt, is_broken, type_of(sock) != stream)

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

            def audit() -> None:
                sys.audit("socket.sendto", self, rest[-1])

            return send_as_asked(self, sys._getframe(1), "room for a message", data, flags, send_piece, audit)

        def sendmsg(self: Any, buffers: Any, ancdata: Any = (), flags: int = 0, address: Any = None, /) -> Any:
            def send_piece(piece: Any, flags: int, position: int) -> Any:
                if position:
                    return real.send(self, piece, flags)  # ancillary data went with the first piece
                return real.sendmsg(self, [piece], along, flags, address)

            along = list(ancdata)
            if along:
                share()  # it may carry descriptors to another process

            def audit() -> None:
                sys.audit("socket.sendmsg", self, address)

            pieces = b"".join(buffers)
            return send_as_asked(self, sys._getframe(1), "room for a message", pieces, flags, send_piece, audit)

        return {"send": send, "sendall": sendall, "sendto": sendto, "sendmsg": sendmsg}


def _nothing() -> None:
    """Stands for the audit event of a call that has none."""
