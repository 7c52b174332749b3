"""Messages of D-Bus, as bytes (D-Bus Specification 0.41, "Message Protocol" and "Marshaling").

Rules of this module:

* Only what is written here is little-endian; what is read says itself how it is.
* Values are Python's: arrays are lists, structures and the entries of dictionaries tuples, and a variant is the pair of
  its signature and its value.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from typing import Any

CALL, RETURN, ERROR, SIGNAL = 1, 2, 3, 4
NO_REPLY = 1
_LITTLE, _BIG = ord("l"), ord("B")
_VERSION = 1
# Numbers of fixed size by their type code. A boolean is four bytes.
_NUMBERS = {"y": "B", "b": "I", "n": "h", "q": "H", "i": "i", "u": "I", "x": "q", "t": "Q", "d": "d", "h": "I"}
_ALIGNMENT = {"(": 8, "{": 8, "a": 4, "s": 4, "o": 4, "g": 1, "v": 1}
# The fields of a header: their codes and their types.
_FIELDS = {
    "path": (1, "o"),
    "interface": (2, "s"),
    "member": (3, "s"),
    "error": (4, "s"),
    "reply_to": (5, "u"),
    "destination": (6, "s"),
    "sender": (7, "s"),
    "signature": (8, "g"),
}
_FIELD_NAMES = {code: name for name, (code, _) in _FIELDS.items()}
_FIXED_HEADER_BYTES = 16
_LARGEST_BYTES = 1 << 27


class BadMessageError(ValueError):
    """Bytes that are no message."""


@dataclass(frozen=True)
class Message:
    """One message.

    Attributes:
        kind: ``CALL``, ``RETURN``, ``ERROR`` or ``SIGNAL``.
        serial: its number; each side counts its own.
        fields: those of its header, by name: path, interface, member, error, reply_to, destination, sender.
        signature: the types of its values.
        body: its values.
        flags: ``NO_REPLY``, or 0.
    """

    kind: int
    serial: int
    fields: dict[str, Any] = field(default_factory=dict)
    signature: str = ""
    body: tuple[Any, ...] = ()
    flags: int = 0

    def __getattr__(self, name: str) -> Any:
        if name in _FIELDS:
            return self.fields.get(name)
        raise AttributeError(name)


def types_in(signature: str) -> list[str]:
    """The single complete types of a signature.

    Raises:
        BadMessageError: it is none.
    """
    found, at = [], 0
    while at < len(signature):
        end = _end_of_type(signature, at)
        found.append(signature[at:end])
        at = end
    return found


def _end_of_type(signature: str, at: int) -> int:
    code = signature[at : at + 1]
    if code == "a":
        return _end_of_type(signature, at + 1)
    if code in ("(", "{"):
        close = ")" if code == "(" else "}"
        at += 1
        while signature[at : at + 1] != close:
            at = _end_of_type(signature, at)
        return at + 1
    if code and (code in _NUMBERS or code in "sogv"):
        return at + 1
    raise BadMessageError(f"no type at {at} of the signature {signature!r}")


def to_bytes(message: Message) -> bytes:
    """A message as it is sent."""
    body = _Writer()
    for kind, value in zip(types_in(message.signature), message.body, strict=True):
        body.put(kind, value)
    told = dict(message.fields)
    if message.signature:
        told["signature"] = message.signature
    fields = [(_FIELDS[name][0], (_FIELDS[name][1], value)) for name, value in told.items()]
    header = _Writer()
    start = (_LITTLE, message.kind, message.flags, _VERSION)
    for kind, value in zip("yyyyuu", (*start, len(body.data), message.serial), strict=True):
        header.put(kind, value)
    header.put("a(yv)", fields)
    header.align(8)
    return bytes(header.data + body.data)


def length_of(data: bytes) -> int | None:
    """How many bytes the message takes that some bytes begin with; None where too few are there to tell.

    Raises:
        BadMessageError: it is no message, or a very large one.
    """
    if len(data) < _FIXED_HEADER_BYTES:
        return None
    order = _order(data)
    body, _, fields = struct.unpack_from(f"{order}III", data, 4)
    length = int(-(-(_FIXED_HEADER_BYTES + fields) // 8) * 8 + body)
    if length > _LARGEST_BYTES:
        raise BadMessageError("a message of more than 128 MiB")
    return length


def from_bytes(data: bytes) -> Message:
    """The message of these bytes.

    Raises:
        BadMessageError: they are none.
    """
    reader = _Reader(data, _order(data))
    try:
        _, kind, flags, _, _, serial = (reader.take(code) for code in "yyyyuu")
        named = reader.take("a(yv)")
        fields = {_FIELD_NAMES[code]: value for code, (_, value) in named if code in _FIELD_NAMES}
        signature = fields.pop("signature", "")
        reader.align(8)
        body = tuple(reader.take(one) for one in types_in(signature))
    except (struct.error, IndexError, UnicodeDecodeError, RecursionError) as error:
        raise BadMessageError(str(error)) from error
    return Message(kind, serial, fields, signature, body, flags)


def _order(data: bytes) -> str:
    if data[:1] not in (b"l", b"B"):
        raise BadMessageError("no byte order")
    return "<" if data[0] == _LITTLE else ">"


def _alignment(kind: str) -> int:
    return _ALIGNMENT.get(kind[0]) or struct.calcsize(f"<{_NUMBERS[kind[0]]}")


class _Writer:
    def __init__(self) -> None:
        self.data = bytearray()

    def align(self, size: int) -> None:
        self.data += bytes(-len(self.data) % size)

    def put(self, kind: str, value: Any) -> None:
        self.align(_alignment(kind))
        code = kind[0]
        if code in _NUMBERS:
            self.data += struct.pack(f"<{_NUMBERS[code]}", value)
        elif code in "sog":
            text = value.encode()
            self.data += struct.pack("<B" if code == "g" else "<I", len(text)) + text + b"\0"
        elif code == "v":
            self.put("g", value[0])
            self.put(value[0], value[1])
        elif code == "a":
            at = len(self.data)
            self.data += bytes(4)
            self.align(_alignment(kind[1:]))
            start = len(self.data)
            for item in value:
                self.put(kind[1:], item)
            struct.pack_into("<I", self.data, at, len(self.data) - start)
        else:
            for one, item in zip(types_in(kind[1:-1]), value, strict=True):
                self.put(one, item)


class _Reader:
    def __init__(self, data: bytes, order: str) -> None:
        self._data = data
        self._order = order
        self._at = 0

    def align(self, size: int) -> None:
        self._at += -self._at % size

    def take(self, kind: str) -> Any:
        self.align(_alignment(kind))
        code = kind[0]
        if code in _NUMBERS:
            value = self._number(_NUMBERS[code])
            return bool(value) if code == "b" else value
        if code in "sog":
            length = self._number("B" if code == "g" else "I")
            text = self._data[self._at : self._at + length]
            self._at += length + 1
            return text.decode()
        if code == "v":
            inner = self.take("g")
            if types_in(inner) != [inner]:
                raise BadMessageError(f"a variant of the signature {inner!r}")
            return inner, self.take(inner)
        if code == "a":
            length = self._number("I")
            self.align(_alignment(kind[1:]))
            end = self._at + length
            if end > len(self._data):
                raise BadMessageError("an array that is longer than its message")
            items = []
            while self._at < end:
                items.append(self.take(kind[1:]))
            return items
        return tuple(self.take(one) for one in types_in(kind[1:-1]))

    def _number(self, code: str) -> Any:
        (value,) = struct.unpack_from(f"{self._order}{code}", self._data, self._at)
        self._at += struct.calcsize(f"<{code}")
        return value
