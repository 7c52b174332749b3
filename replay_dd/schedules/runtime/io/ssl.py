"""TLS: what ``ssl`` sockets do in C, split into steps between which the thread waits under the scheduler.

Rules of this module:

* The C object that speaks TLS over a socket gets a stand-in. The stand-in performs an operation as *attempts* that do
  not block (the socket's timeout is 0 meanwhile). Before each attempt the thread waits as for a plain socket.
* How many attempts an operation takes depends on the chunks in which TLS records arrive, so on real time. The answer of
  a wait says whether the attempt after it was the last. A replay makes as many: data that an attempt gets too early
  is kept until the last attempt, which is repeated until it has as much as in the recorded run.
* A replay also makes the attempts that failed: the other side may be waiting for what they sent.
* Calls of threads that are not under control are left alone.
"""

from __future__ import annotations

import sys
from _weakref import ref

from ..baton.patience import GRACE_S
from .descriptors import READING, WRITING, Descriptors
from .pieces import recorded_amount

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ..baton.clock import Clock
    from ..baton.moments import OutsideWait

AGAIN = {READING: -1, WRITING: -2}  # the answer if an attempt could not proceed, by what it wanted to do
_WANTED = {answer: events for events, answer in AGAIN.items()}

_NAMES = {READING: "read", WRITING: "write"}


class Tls:
    """Puts stand-ins in the place of the objects that speak TLS over sockets.

    Args:
        descriptors: who knows of all descriptors.
        clock: the virtual clock.
    """

    def __init__(self, descriptors: Descriptors, clock: Clock) -> None:
        self._descriptors = descriptors
        self._moments = descriptors.moments
        self._clock = clock
        self._handshake_timed_out = ""

    def adapt(self, module: Any) -> None:
        """Adapt the module ``ssl``."""
        real = module.SSLContext._wrap_socket
        tls = self

        def _wrap_socket(self: Any, sock: Any, *arguments: Any, **named: Any) -> Any:
            return _StandIn(tls, real(self, sock, *arguments, **named), sock)

        module.SSLContext._wrap_socket = _wrap_socket
        self._real_wrap = real
        self._module = module
        self._real_socket = module._socket._socket.socket
        self._wants_read, self._wants_write = module.SSLWantReadError, module.SSLWantWriteError

    def is_ours(self, sock: Any) -> bool:
        """Whether the calling thread is under control, and the socket open."""
        return sock is not None and sock.fileno() >= 0 and self._descriptors.has_baton()

    def perform(self, operation: _Operation, sock: Any, frame: Any) -> Any:
        """Make an operation on a socket, and answer as the real one does.

        Raises:
            TimeoutError: the socket's time-out passed first.
            OSError: as the real operation does.
        """
        timeout_s = sock.gettimeout()
        end_ns = None if timeout_s is None else self._clock.now_ns + int(timeout_s * 1_000_000_000)
        while True:
            wait = self._make_wait(operation, sock.fileno())
            if timeout_s == 0:
                self._descriptors.yield_point(frame)
            else:
                left_s = None if end_ns is None else max(0, end_ns - self._clock.now_ns) / 1e9
                if not self._descriptors.wait(frame, wait, left_s):
                    raise TimeoutError(self._text_of_timeout(operation))
            if self._is_last(operation, sock, wait):
                amount = operation.amount(wait.expected.answer if wait.expected is not None else None)
                self._moments.answered(wait, amount)
                self._descriptors.ahead.discard(sock.fileno())
                return operation.take(amount)
            if wait.expected is not None:
                self._descriptors.ahead.add(sock.fileno())
            self._moments.answered(wait, AGAIN[operation.events])
            if timeout_s == 0:
                raise self._would_block(operation)

    def pending(self, amount: int, sock: Any, frame: Any) -> int:
        """How many bytes are there to read already; in a replay, how many were: a read waits for them."""
        wait = self._descriptors.make_wait([(sock.fileno(), READING)], "data")
        self._descriptors.yield_point(frame)
        if wait.expected is not None and isinstance(wait.expected.answer, int):
            amount = max(0, wait.expected.answer)
        self._moments.answered(wait, amount)
        return amount

    def _make_wait(self, operation: _Operation, descriptor: int) -> OutsideWait:
        pair = [(descriptor, operation.events)]
        what = "data" if operation.events == READING else "room for data"
        wait = self._descriptors.make_wait(pair, f"{what} on descriptor {descriptor}")
        look = self._look(operation, descriptor)
        wait.is_there = lambda: operation.is_done() or look()
        if recorded_amount(wait) in _WANTED:
            # An earlier attempt may already have what this one got in the recorded run.
            poll = self._descriptors.poll
            wait.is_there = lambda: operation.is_done() or poll(pair, GRACE_S * 1000) or True
        return wait

    def _look(self, operation: _Operation, descriptor: int) -> Callable[[], bool]:
        """What tells whether another attempt may get something."""
        pair = [(descriptor, operation.events)]
        return lambda: operation.has_pending() or self._descriptors.poll(pair)

    def _is_last(self, operation: _Operation, sock: Any, wait: OutsideWait) -> bool:
        """Make an attempt; in a replay, none more than needed, or as many as needed. Whether it was the last one."""
        expected = wait.expected
        recorded = expected.answer if expected is not None and isinstance(expected.answer, int) else 0
        if not operation.is_done():
            self._attempt(operation, sock, recorded)
        if recorded in _WANTED:
            operation.wanted(_WANTED[recorded])
            return False
        while wait.expected is not None and not operation.is_done(recorded):
            wait.is_there = self._look(operation, sock.fileno())
            if not wait.wait_really():
                break
            self._attempt(operation, sock, recorded)
        return operation.is_done()

    def _attempt(self, operation: _Operation, sock: Any, recorded: int) -> None:
        settimeout = self._real_socket.settimeout
        timeout_s = sock.gettimeout()
        operation.blocked = None
        try:
            settimeout(sock, 0)
            operation.attempt(recorded)
        except (self._wants_read, self._wants_write) as error:
            operation.events = READING if isinstance(error, self._wants_read) else WRITING
            operation.blocked = error.with_traceback(None)
        except Exception as error:
            operation.fail(error.with_traceback(None))
        finally:
            if sock.fileno() >= 0:
                settimeout(sock, timeout_s)

    def _would_block(self, operation: _Operation) -> Exception:
        blocked, operation.blocked = operation.blocked, None
        if blocked is not None:
            return blocked
        number, kind = (2, self._wants_read) if operation.events == READING else (3, self._wants_write)
        made: Exception = kind(number, f"The operation did not complete ({_NAMES[operation.events]})")
        return made

    def _text_of_timeout(self, operation: _Operation) -> str:
        if operation.name != "do_handshake":
            name = operation.name if operation.name in _NAMES.values() else _NAMES[operation.events]
            return f"The {name} operation timed out"
        if not self._handshake_timed_out:
            # The message names a line of the interpreter's source, which only a real timeout reveals.
            module = self._module
            own, other = module._socket.socketpair()
            with own, other:
                own.settimeout(1e-6)
                try:
                    self._real_wrap(module.SSLContext(module.PROTOCOL_TLS_CLIENT), own, False).do_handshake()
                except TimeoutError as error:
                    self._handshake_timed_out = str(error)
        return self._handshake_timed_out


class _Incoming:
    """Data that OpenSSL holds for a reader while the descriptor shows nothing.

    Attributes:
        is_over: whether the stream has ended, or broken; each further read is told so at once.
    """

    def __init__(self, pending: Callable[[], int]) -> None:
        self._pending = pending
        self.is_over = False

    def is_there(self) -> bool:
        return self.is_over or self._pending() > 0


class _Operation:
    """One operation of the program on a TLS socket, in as many attempts as it takes.

    Args:
        name: of the real method.
        call: the real method; may wait.
        incoming: of the socket.
        events: what to wait for before the first attempt.
    """

    size = 0

    def __init__(self, name: str, call: Callable[..., Any], incoming: _Incoming, events: int = WRITING) -> None:
        self.name = name
        self._call = call
        self._incoming = incoming
        self.events = events  # what the next attempt needs
        self.blocked: Exception | None = None  # why the last attempt could not proceed
        self._is_over = False
        self._result: Any = None
        self._error: Exception | None = None

    def call(self) -> Any:
        """Make it as the program made it."""
        return self._call()

    def has_pending(self) -> bool:
        """Whether the real object has something that the descriptor does not tell of."""
        return False

    def is_done(self, amount: int = 0) -> bool:
        """Whether there is something to answer; of a stream at least so many bytes."""
        return self._is_over

    def attempt(self, amount: int) -> None:
        """Try once, for no more than so many bytes of a stream (0 or less: as many as the program wants)."""
        self._end(self._call())

    def wanted(self, events: int) -> None:
        """In the recorded run, the attempt could not proceed for want of these."""
        if events != self.events:
            self.events, self.blocked = events, None

    def _end(self, result: Any) -> None:
        self._result = result
        self._is_over = True

    def fail(self, error: Exception) -> None:
        """The attempt raised an exception, which is the answer."""
        self._error = error
        self._is_over = True
        self._incoming.is_over = True

    def amount(self, recorded: Any) -> int:
        """How many bytes of a stream to answer with."""
        return 0

    def take(self, amount: int) -> Any:
        """The answer; the operation is no longer done then."""
        result, error = self._result, self._error
        self._is_over, self._result, self._error = False, None, None
        if error is None:
            return result
        try:
            raise error
        finally:
            del error  # it refers to this frame


class _Reading(_Operation):
    """Reads a stream, of which any number of bytes can be taken."""

    def __init__(self, real: Any, incoming: _Incoming, size: int) -> None:
        super().__init__("read", real.read, incoming, READING)
        self.size = size
        self.data = b""

    def call(self) -> Any:
        return self._call(self.size)

    def has_pending(self) -> bool:
        return self._incoming.is_there()

    def is_done(self, amount: int = 0) -> bool:
        return self._is_over or len(self.data) >= max(1, min(amount, self.size))

    def attempt(self, amount: int) -> None:
        most = min(amount, self.size) if amount > 0 else self.size
        self._incoming.is_over = False  # a failed attempt shows that it was not
        piece = self._call(most - len(self.data))
        self.data += piece
        if not piece:
            self._incoming.is_over = True
            self._end(piece)

    def amount(self, recorded: Any) -> int:
        most = min(recorded, self.size) if isinstance(recorded, int) and recorded > 0 else self.size
        return min(most, len(self.data))

    def take(self, amount: int) -> Any:
        if not self.data:
            return super().take(amount)
        taken, self.data = self.data[:amount], self.data[amount:]
        return taken


class _StandIn:
    """Stands in for ``_ssl._SSLSocket``."""

    __slots__ = ("_incoming", "_kept", "_real", "_socket", "_tls")

    def __init__(self, tls: Tls, real: Any, sock: Any) -> None:
        own = {"_tls": tls, "_real": real, "_socket": ref(sock), "_kept": {}, "_incoming": _Incoming(real.pending)}
        for name, value in own.items():
            object.__setattr__(self, name, value)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)

    def __setattr__(self, name: str, value: object) -> None:
        setattr(self._real, name, value)

    def do_handshake(self) -> Any:
        return self._perform(_Operation("do_handshake", self._real.do_handshake, self._incoming))

    def shutdown(self) -> Any:
        return self._perform(_Operation("shutdown", self._real.shutdown, self._incoming))

    def write(self, data: Any, /) -> Any:
        write = self._real.write
        return self._perform(_Operation("write", lambda: write(data), self._incoming))

    def read(self, size: int = 1024, buffer: Any = None, /) -> Any:
        if buffer is None:
            return self._perform(self._reading(size)) if size > 0 else self._real.read(size)
        with memoryview(buffer) as view, view.cast("B") as octets:
            length = len(octets)
            if not length or view.readonly:
                return self._real.read(size, buffer)
            data = self._perform(self._reading(size if 0 < size < length else length))
            octets[: len(data)] = data
            return len(data)

    def pending(self) -> int:
        early = self._kept.get("read")
        amount: int = self._real.pending() + (0 if early is None else len(early.data))
        sock = self._socket()
        return self._tls.pending(amount, sock, sys._getframe(1)) if self._tls.is_ours(sock) else amount

    def _reading(self, size: int) -> _Reading:
        return _Reading(self._real, self._incoming, size)

    def _perform(self, operation: _Operation) -> Any:
        early = self._kept.pop(operation.name, None)
        if early is not None:
            early.size = operation.size
            operation = early
        sock = self._socket()
        if not self._tls.is_ours(sock):
            return operation.take(operation.amount(0)) if early is not None else operation.call()
        try:
            return self._tls.perform(operation, sock, sys._getframe(2))
        finally:
            if operation.is_done():
                self._kept[operation.name] = operation
