"""A bus for assistive technologies with nobody on it but one program and who asks it.

A desktop has a message bus, a second one for assistive technologies, and a registry on that. Tests have no desktop, on
purpose; a program is told of this bus instead (as that of the desktop, which tells where the second one is).

Rules of this module:

* It answers at once what a program says to the bus and to the registry (at-spi2-core, ``xml/Socket.xml`` and
  ``xml/Registry.xml``), so that the program never waits: nobody listens to any of its events.
* Programs are only asked. Who does not answer in time has given no answer.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import selectors
import socket
import struct
import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Self

from replay_dd.events.x11.accessibility.messages import (
    CALL,
    ERROR,
    NO_REPLY,
    RETURN,
    SIGNAL,
    BadMessageError,
    Message,
    from_bytes,
    length_of,
    to_bytes,
)

_REGISTRY = "org.a11y.atspi.Registry"
_ROOT = "/org/a11y/atspi/accessible/root"
_OWNER = ":1.0"
_CREDENTIALS = struct.Struct("3i")  # process, user, group (unix(7), "SO_PEERCRED")
_CHUNK_BYTES = 1 << 16
_UNKNOWN = "org.freedesktop.DBus.Error.UnknownMethod"
_BUS = "org.freedesktop.DBus"
_OWNED = (_REGISTRY, _BUS, "org.a11y.Bus")
_LISTENERS = "a(souua(iisi)u(bbb))"
# What the bus and the registry answer to calls that want more than an empty answer.
_ANSWERS: dict[str, tuple[str, tuple[Any, ...]]] = {
    "RequestName": ("u", (1,)),
    "ReleaseName": ("u", (1,)),
    "ListNames": ("as", (list(_OWNED),)),
    "Embed": ("(so)", ((_REGISTRY, _ROOT),)),
    "GetRegisteredEvents": ("a(ss)", ([],)),
    "GetKeystrokeListeners": (_LISTENERS, ([],)),
    "GetDeviceEventListeners": (_LISTENERS, ([],)),
    "NotifyListenersSync": ("b", (False,)),
    "AddMatch": ("", ()),
    "RemoveMatch": ("", ()),
    "Unembed": ("", ()),
    "Ping": ("", ()),
}


class Ask(NamedTuple):
    """A call of a method of one of a program's objects.

    Attributes:
        path: the object's.
        interface: that of the method.
        member: the method.
        signature: the types of its arguments.
        arguments: these.
    """

    path: str
    interface: str
    member: str
    signature: str = ""
    arguments: tuple[Any, ...] = ()


class AccessibilityBus:
    """Listens for programs of this user, in a thread of its own, until it is closed.

    Attributes:
        address: where, as programs are told.
        programs: those that have shown their root.
    """

    def __init__(self) -> None:
        self.programs: tuple[Program, ...] = ()
        self._changed = threading.Condition()
        self._listener = socket.socket(socket.AF_UNIX)
        # The system chooses a name that is no file (unix(7), "Autobind feature"): folders may have names that are too
        # long, and nothing is left behind.
        self._listener.bind("")
        self.address = f"unix:abstract={self._listener.getsockname()[1:].decode()}"
        self._listener.listen()
        self._wake, self._woken = socket.socketpair()
        self._links: list[Program] = []
        self._thread = threading.Thread(target=self._serve, name="replay-dd-accessibility", daemon=True)
        self._thread.start()

    def environment(self, given: Mapping[str, str]) -> dict[str, str]:
        """The environment of a program that is to come to this bus."""
        kept = {name: value for name, value in given.items() if name != "NO_AT_BRIDGE"}
        return {**kept, "DBUS_SESSION_BUS_ADDRESS": self.address, "QT_LINUX_ACCESSIBILITY_ALWAYS_ON": "1"}

    def wait(self, limit_s: float) -> None:
        """Wait until a program has shown its root: Qt does that some time after it has opened its window."""
        with self._changed:
            self._changed.wait_for(lambda: self.programs, limit_s)

    def close(self) -> None:
        """Leave nothing behind."""
        self._wake.send(b"x")
        self._thread.join()
        for open_socket in (self._listener, self._wake, self._woken, *(link.socket for link in self._links)):
            open_socket.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _serve(self) -> None:
        with selectors.DefaultSelector() as selector:
            selector.register(self._listener, selectors.EVENT_READ)
            selector.register(self._woken, selectors.EVENT_READ)
            while True:
                for key, _ in selector.select():
                    if key.fileobj is self._woken:
                        return
                    if key.fileobj is self._listener:
                        connected = self._listener.accept()[0]
                        if not _is_ours(connected):
                            connected.close()
                            continue
                        link = Program(connected, f":1.{len(self._links) + 1}", self.address)
                        self._links.append(link)
                        selector.register(link.socket, selectors.EVENT_READ, link)
                    elif not key.data.receive():
                        selector.unregister(key.data.socket)
                        key.data.let_go()
                with self._changed:
                    self.programs = tuple(link for link in self._links if link.root and not link.gone)
                    self._changed.notify_all()


def _is_ours(connected: socket.socket) -> bool:
    """Whether the other side runs as this user: who may connect is nothing that a name without a file decides."""
    peer = connected.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    return int(_CREDENTIALS.unpack(peer)[1]) == os.getuid()


class Program:
    """The end of a program's connection.

    Args:
        connected: to the program.
        name: what the bus calls it.
        address: that of the bus.

    Attributes:
        root: the path of the object that stands for the whole program; empty until it has said that.
        gone: whether it has closed the connection.
    """

    def __init__(self, connected: socket.socket, name: str, address: str) -> None:
        self.socket = connected
        self.root = ""
        self.gone = False
        self._name = name
        self._address = address
        self._data = b""
        self._authenticated = False
        self._serial = 0
        self._changed = threading.Condition()
        self._answers: dict[int, Message | None] = {}

    def ask(self, asks: Sequence[Ask], limit_s: float) -> list[tuple[Any, ...] | None]:
        """What a program answers to some questions, which are sent together; None for no answer, or an error."""
        with self._changed:
            numbers = []
            for ask in asks:
                fields = {
                    "path": ask.path,
                    "interface": ask.interface,
                    "member": ask.member,
                    "destination": self._name,
                    "sender": _REGISTRY,
                }
                numbers.append(self._send(Message(CALL, 0, fields, ask.signature, ask.arguments)))
            self._answers.update(dict.fromkeys(numbers))
            until = time.monotonic() + limit_s
            while not self.gone and any(self._answers[number] is None for number in numbers):
                left = until - time.monotonic()
                if left <= 0 or not self._changed.wait(left):
                    break
            answers = [self._answers.pop(number) for number in numbers]
        return [None if answer is None or answer.kind == ERROR else answer.body for answer in answers]

    def receive(self) -> bool:
        """Take what has come; False where nothing comes any more."""
        data = b""
        with contextlib.suppress(OSError):
            data = self.socket.recv(_CHUNK_BYTES)
        with self._changed:
            self._data += data
            try:
                if not self._authenticated:
                    self._authenticate()
                while self._authenticated and (length := length_of(self._data)) and len(self._data) >= length:
                    message, self._data = from_bytes(self._data[:length]), self._data[length:]
                    self._take(message)
            except BadMessageError:
                data = b""
            if not data:
                self.gone = True
                self._changed.notify_all()
        return bool(data)

    def let_go(self) -> None:
        """Let the other side know that nobody listens any more."""
        with contextlib.suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)

    def _authenticate(self) -> None:
        """Let everybody in (D-Bus Specification, "Authentication Protocol"): others were sent away before."""
        while not self._authenticated and b"\r\n" in self._data:
            line, self._data = self._data.split(b"\r\n", 1)
            words = line.lstrip(b"\0").split()
            match words:
                case [b"BEGIN"]:
                    self._authenticated = True
                    return
                case [b"AUTH", b"EXTERNAL", _] | [b"DATA", *_]:
                    reply = f"OK {secrets.token_hex(16)}"
                case [b"AUTH", b"EXTERNAL"]:
                    reply = "DATA"
                case [b"AUTH", *_]:
                    reply = "REJECTED EXTERNAL"
                case _:
                    reply = "ERROR"
            self._write(f"{reply}\r\n".encode())

    def _take(self, message: Message) -> None:
        if message.kind in (RETURN, ERROR):
            if message.reply_to in self._answers:
                self._answers[message.reply_to] = message
                self._changed.notify_all()
        elif message.kind == CALL:
            if message.member == "Embed" and message.signature == "(so)":
                self.root = message.body[0][1]
            if not message.flags & NO_REPLY:
                self._reply(message)

    def _reply(self, call: Message) -> None:
        fields = {"reply_to": call.serial, "destination": self._name, "sender": call.destination or _REGISTRY}
        answer = self._answer(call)
        if answer is None:
            self._send(Message(ERROR, 0, {**fields, "error": _UNKNOWN}, "s", ("Nobody is here.",)))
        else:
            self._send(Message(RETURN, 0, fields, *answer))
        if call.member == "Hello":
            news = {"path": "/org/freedesktop/DBus", "interface": _BUS, "member": "NameAcquired"}
            self._send(Message(SIGNAL, 0, {**news, "destination": self._name, "sender": _BUS}, "s", (self._name,)))

    def _answer(self, call: Message) -> tuple[str, tuple[Any, ...]] | None:
        """What the bus, or the registry, answers; None for an error."""
        match call.member, call.body:
            case "Hello", _:
                return "s", (self._name,)
            case "GetAddress", _:
                return "s", (self._address,)
            case "NameHasOwner", (str(name), *_):
                return "b", (name in _OWNED,)
            case "GetNameOwner", (str(name), *_) if name in _OWNED:
                return "s", (_OWNER,)
            case "Get", ("org.a11y.Status", _):
                return "v", (("b", True),)
        return _ANSWERS.get(call.member)

    def _send(self, message: Message) -> int:
        self._serial += 1
        whole = Message(message.kind, self._serial, message.fields, message.signature, message.body, message.flags)
        self._write(to_bytes(whole))
        return self._serial

    def _write(self, data: bytes) -> None:
        with contextlib.suppress(OSError):
            self.socket.sendall(data)
