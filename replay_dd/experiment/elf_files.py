"""What a program file says of where its bytes are in memory, and what they are.

Source: System V ABI, chapter 4, "Sections" and "Symbol Table", and chapter 5, "Program Header".
"""

from __future__ import annotations

import os
import struct
from typing import BinaryIO, NamedTuple

_MAGIC = b"\x7fELF\x02"  # with addresses of 64 bits
LOADED = 1
FRAMES = 0x6474E550  # PT_GNU_EH_FRAME: the table that finds the call frames
_HEADER = struct.Struct("=16xHHIQQQIHHHHHH")
_SEGMENT = struct.Struct("=IIQQQQQQ")
_SECTION = struct.Struct("=IIQQQQIIQQ")
_SYMBOL = struct.Struct("=IBBHQQ")
_LONGEST_NAME = 64
_CODE = {0, 2, 10}  # no type, function, function that is chosen when the program starts


class Segment(NamedTuple):
    """A stretch of an ELF file.

    Attributes:
        kind: its type.
        offset: where it is in the file, in bytes.
        address: what address it is linked for.
        size: its length in the file, in bytes.
    """

    kind: int
    offset: int
    address: int
    size: int


def segments_of(file: BinaryIO) -> list[Segment]:
    """The segments of an ELF file with addresses of 64 bits; none if it is no such file.

    Raises:
        struct.error: it is damaged.
    """
    header = file.read(_HEADER.size)
    if not header.startswith(_MAGIC):
        return []
    fields = _HEADER.unpack(header)
    start, size, amount = fields[4], fields[8], fields[9]
    found = []
    for number in range(amount):
        file.seek(start + number * size)
        kind, _, offset, address, _, length, *_ = _SEGMENT.unpack(file.read(_SEGMENT.size))
        found.append(Segment(kind, offset, address, length))
    return found


def section_of(file: BinaryIO, name: bytes) -> Segment | None:
    """The section of an ELF file that has a name; None if there is none.

    Raises:
        struct.error: it is damaged.
    """
    file.seek(0)
    header = file.read(_HEADER.size)
    if not header.startswith(_MAGIC):
        return None
    fields = _HEADER.unpack(header)
    start, size, amount, names = fields[5], *fields[10:13]

    def section(number: int) -> tuple[int, ...]:
        file.seek(start + number * size)
        return _SECTION.unpack(file.read(_SECTION.size))

    names_at = section(names)[4] if names < amount else 0
    for number in range(amount):
        at, kind, _, address, offset, length, *_ = section(number)
        file.seek(names_at + at)
        if file.read(_LONGEST_NAME).partition(b"\0")[0] == name:
            return Segment(kind, offset, address, length)
    return None


def has_function_at(file: BinaryIO, address: int) -> bool:
    """Whether an address, as linked, is within a function that an ELF file names: from its start, as long as it is.

    Raises:
        struct.error: the file is damaged.
    """
    # The second one is what a stripped file keeps: the names that others use, with large gaps.
    table = section_of(file, b".symtab") or section_of(file, b".dynsym")
    if table is None:
        return False
    end = file.seek(0, os.SEEK_END)
    file.seek(table.offset)
    for _, kind, _, section, start, size in _SYMBOL.iter_unpack(file.read(min(table.size, end))):
        if start <= address < start + size and section and kind & 0xF in _CODE:
            return True
    return False


def address_of(segments: list[Segment], offset: int) -> int | None:
    """What address the byte at an offset of a file is linked for; None if it is not loaded."""
    for one in segments:
        if one.kind == LOADED and one.offset <= offset < one.offset + one.size:
            return one.address + offset - one.offset
    return None


def offset_of(segments: list[Segment], address: int) -> int | None:
    """Where the byte of an address is in a file; None if it is not loaded from there."""
    for one in segments:
        if one.kind == LOADED and one.address <= address < one.address + one.size:
            return one.offset + address - one.address
    return None
