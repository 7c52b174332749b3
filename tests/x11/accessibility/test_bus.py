"""The bus on which a program tells of its widgets."""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Iterator

import pytest

from replay_dd.events.x11.accessibility.bus import AccessibilityBus, Ask
from replay_dd.events.x11.accessibility.messages import CALL, ERROR, RETURN, Message, from_bytes, length_of, to_bytes

ROOT = "/org/a11y/atspi/accessible/root"


class Client:
    """A program on the bus, as a toolkit would be."""

    def __init__(self, bus: AccessibilityBus) -> None:
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect("\0" + bus.address.removeprefix("unix:abstract="))
        self.data = b""
        self.serial = 0
        self.socket.sendall(b"\0AUTH EXTERNAL 30\r\nNEGOTIATE_UNIX_FD\r\n")
        while self.data.count(b"\r\n") < 2:
            self.data += self.socket.recv(4096)
        self.greeting, self.data = self.data.split(b"\r\n", 1)[0], b""
        self.socket.sendall(b"BEGIN\r\n")

    def send(self, kind: int, signature: str = "", *body: object, **fields: object) -> None:
        self.serial += 1
        self.socket.sendall(to_bytes(Message(kind, self.serial, fields, signature, body)))

    def receive(self) -> Message:
        while (length := length_of(self.data)) is None or len(self.data) < length:
            data = self.socket.recv(4096)
            assert data, "the bus has closed the connection"
            self.data += data
        message, self.data = from_bytes(self.data[:length]), self.data[length:]
        return message

    def call(self, member: str, signature: str = "", *body: object) -> Message:
        self.send(CALL, signature, *body, path="/", member=member, destination="org.freedesktop.DBus")
        answer = self.receive()
        assert answer.reply_to == self.serial
        return answer


@pytest.fixture
def bus() -> Iterator[AccessibilityBus]:
    with AccessibilityBus() as made:
        yield made


@pytest.fixture
def client(bus: AccessibilityBus) -> Iterator[Client]:
    made = Client(bus)
    yield made
    made.socket.close()


def test_the_bus_answers_for_the_desktop(bus: AccessibilityBus, client: Client) -> None:
    assert client.greeting.startswith(b"OK ")
    assert client.call("Hello").body == (":1.1",)
    assert (client.receive().member, client.data) == ("NameAcquired", b"")
    assert client.call("NameHasOwner", "s", "org.a11y.Bus").body == (True,)
    assert client.call("NameHasOwner", "s", "org.example.Portal").body == (False,)
    assert client.call("GetNameOwner", "s", "org.example.Portal").kind == ERROR
    assert client.call("GetAddress").body == (bus.address,)
    assert client.call("Get", "ss", "org.a11y.Status", "IsEnabled").body == (("b", True),)
    assert client.call("OpenFile").kind == ERROR


def test_a_program_is_asked_once_it_has_shown_its_root(bus: AccessibilityBus, client: Client) -> None:
    client.call("Ping")
    assert bus.programs == ()
    client.call("Embed", "(so)", (":1.1", ROOT))
    bus.wait(600)
    (program,) = bus.programs
    assert program.root == ROOT
    heard = []

    def answer() -> None:
        first, second = client.receive(), client.receive()
        heard.extend([(first.path, first.member), (second.path, second.body)])
        # Not in the order of the questions.
        client.send(RETURN, "u", 7, reply_to=second.serial)
        client.send(ERROR, "s", "no", reply_to=first.serial, error="a.b")

    helper = threading.Thread(target=answer)
    helper.start()
    answers = program.ask([Ask("/1", "i.f", "GetRole"), Ask("/2", "i.f", "Get", "i", (3,))], 60)
    helper.join()
    assert answers == [None, (7,)]
    assert heard == [("/1", "GetRole"), ("/2", (3,))]


def test_who_has_gone_does_not_answer(bus: AccessibilityBus, client: Client) -> None:
    client.call("Embed", "(so)", (":1.1", ROOT))
    bus.wait(600)
    (program,) = bus.programs
    client.socket.close()
    began = time.monotonic()
    assert program.ask([Ask("/1", "i.f", "GetRole")], 600) == [None]
    assert time.monotonic() - began < 300


def test_who_sends_no_messages_is_let_go(client: Client) -> None:
    client.socket.sendall(b"GET / HTTP/1.1\r\n\r\n")
    assert client.socket.recv(10) == b""


def test_other_users_are_sent_away(bus: AccessibilityBus, monkeypatch: pytest.MonkeyPatch) -> None:
    user = os.getuid()
    monkeypatch.setattr("os.getuid", lambda: user + 1)
    with socket.socket(socket.AF_UNIX) as other:
        other.settimeout(60)
        other.connect("\0" + bus.address.removeprefix("unix:abstract="))
        assert other.recv(10) == b""


def test_the_environment_leads_to_the_bus(bus: AccessibilityBus) -> None:
    given = {"NO_AT_BRIDGE": "1", "DBUS_SESSION_BUS_ADDRESS": "disabled:", "LANG": "C"}
    made = bus.environment(given)
    assert made["DBUS_SESSION_BUS_ADDRESS"] == bus.address
    assert made["LANG"] == "C"
    assert "NO_AT_BRIDGE" not in made
