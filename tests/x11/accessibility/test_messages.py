"""Messages of D-Bus as bytes."""

from __future__ import annotations

import struct

import pytest

from replay_dd.events.x11.accessibility.messages import (
    CALL,
    BadMessageError,
    Message,
    from_bytes,
    length_of,
    to_bytes,
    types_in,
)

EVERY_TYPE = Message(
    CALL,
    7,
    {"path": "/a", "interface": "b.c", "member": "D", "destination": ":1.1"},
    "ybnqiuxtdsoga(so)(iiii)a{sv}vau",
    (
        *(200, True, -2, 3, -4, 5, -6, 7, 0.5, "text", "/path", "a{sv}"),
        [("one", "/two"), ("three", "/four")],
        (-1, 2, -3, 4),
        [("key", ("u", 9))],
        ("as", ["in", "a", "variant"]),
        [],
    ),
)


def test_a_message_is_read_as_it_was_written() -> None:
    data = to_bytes(EVERY_TYPE)
    assert length_of(data) == len(data)
    assert length_of(data + b"the next one") == len(data)
    assert length_of(data[:15]) is None
    assert from_bytes(data) == EVERY_TYPE


def test_the_other_byte_order_is_read() -> None:
    fields = b"\x06\x01s\0" + struct.pack(">I", 4) + b":1.2\0"
    head = struct.pack(">BBBBIII", ord("B"), 2, 0, 1, 4, 3, len(fields))
    data = head + fields + bytes(-(len(head) + len(fields)) % 8) + struct.pack(">I", 5)
    assert length_of(data) == len(data)
    read = from_bytes(data)
    assert (read.kind, read.serial, read.destination) == (2, 3, ":1.2")


def test_types_of_a_signature() -> None:
    assert types_in("sa(ua(so))a{s(iv)}y") == ["s", "a(ua(so))", "a{s(iv)}", "y"]


@pytest.mark.parametrize("signature", ["(", "a", "(s", "z", "a{s"])
def test_no_signatures(signature: str) -> None:
    with pytest.raises(BadMessageError):
        types_in(signature)


def test_damaged_messages_are_told() -> None:
    data = to_bytes(EVERY_TYPE)
    for place in range(len(data)):
        for damaged in (data[:place], data[:place] + b"\xff\xff\xff\xff" + data[place + 4 :]):
            try:
                length_of(damaged)
                from_bytes(damaged)
            except BadMessageError:
                pass
    with pytest.raises(BadMessageError):
        length_of(b"x" * 16)
    with pytest.raises(BadMessageError):
        length_of(b"l" + b"\xff" * 15)
