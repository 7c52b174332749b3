"""How files write numbers that say how long something is.

Rules of this module:

* A number is read at a place, and a smaller one can be written in its place. That takes as many bytes or fewer, never
  more; so what is written is never longer than what was there.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Literal, NamedTuple

_MOST_DIGITS = 9
_MOST_GROUPS = 5  # bytes of a number of variable size
_HIGH_BIT, _LOW_BITS, _GROUP_BITS = 0x80, 0x7F, 7


class Form(NamedTuple):
    """A way to write numbers.

    Attributes:
        name: what to call it.
        read: the number at a place of a content and the byte after it; None if there is none.
        write: a smaller number in the place of these bytes.
        bits: how many bits one of its bytes tells.
        short: whether one of its bytes may be all, so that almost everything looks like such a number.
        found_bits: how many bits it tells that there is such a number at all.
    """

    name: str
    read: Callable[[bytes, int], tuple[int, int] | None]
    write: Callable[[int, bytes], bytes]
    bits: int = 8
    short: bool = False
    found_bits: float = 0.0


def _fixed(size: int, order: Literal["big", "little"]) -> Form:
    def read(content: bytes, place: int) -> tuple[int, int] | None:
        stop = place + size
        return (int.from_bytes(content[place:stop], order), stop) if stop <= len(content) else None

    name = f"{size} bytes, {order}"
    return Form(name, read, lambda value, old: value.to_bytes(size, order), short=size == 1)


def _read_groups(content: bytes, place: int) -> tuple[int, int] | None:
    value = 0
    for number, byte in enumerate(content[place : place + _MOST_GROUPS]):
        value |= (byte & _LOW_BITS) << _GROUP_BITS * number
        if byte < _HIGH_BIT:
            return value, place + number + 1
    return None


def _write_groups(value: int, old: bytes) -> bytes:
    groups = bytearray()
    while value >= _HIGH_BIT:
        groups.append(value & _LOW_BITS | _HIGH_BIT)
        value >>= _GROUP_BITS
    return bytes([*groups, value])


def _in_digits(name: str, pattern: bytes, base: int) -> Form:
    digits = re.compile(pattern)

    def read(content: bytes, place: int) -> tuple[int, int] | None:
        found = digits.match(content, place)
        return (int(found[0], base), found.end()) if found else None

    def write(value: int, old: bytes) -> bytes:
        text = f"{value:d}" if base == 10 else f"{value:x}" if old == old.lower() else f"{value:X}"
        # Zeros in front mean that it has a fixed width.
        return (text.zfill(len(old)) if old.startswith(b"0") else text).encode()

    return Form(name, read, write, bits=3, found_bits=2.5)


_ORDERS: tuple[Literal["big", "little"], ...] = ("big", "little")
FIXED = {_fixed(size, order): size for size in (4, 8, 2, 3) for order in _ORDERS}
"""Numbers of several bytes, and how many these are."""

BINARY = (
    *FIXED,
    Form("groups of 7 bits", _read_groups, _write_groups, short=True),
    _fixed(1, "big"),
)
TEXT = (
    _in_digits("decimal digits", rb"[0-9]{1,%d}(?![0-9])" % _MOST_DIGITS, 10),
    _in_digits("hexadecimal digits", rb"[0-9a-fA-F]{1,%d}(?![0-9a-fA-F])" % (_MOST_DIGITS - 1), 16),
)

DIGITS = _in_digits("digits of a place", rb"[0-9]{1,20}(?![0-9])", 10)
"""Decimal numbers that tell where something is, which may have many zeros in front."""
