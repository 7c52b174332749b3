"""Reads from a program file how each of its functions can be left: the call frame information in `.eh_frame`.

Compilers write it for C++ exceptions, and on Linux for all other code as well. Source: Linux Standard Base Core 5.0,
sections 10.6 and 10.6.2 ("Exception Frames", "The .eh_frame_hdr section"), and DWARF 5, section 6.4.

Rules of this module:

* Whatever is damaged or in a form that no compiler of today writes has no answer. It is never guessed.
"""

from __future__ import annotations

import bisect
import functools
import mmap
import os
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

from replay_dd.experiment.elf_files import (
    FRAMES,
    Segment,
    address_of,
    offset_of,
    section_of,
    segments_of,
)

_SORTED_TABLE = b"\x01\x1b\x03\x3b"  # version 1; numbers of 4 bytes, relative as all linkers write them
_ENTRY = struct.Struct("=ii")
_SIZES = {0x0: 8, 0x2: 2, 0x3: 4, 0x4: 8, 0xA: 2, 0xB: 4, 0xC: 8}  # DW_EH_PE_*, without LEB128
_SIGNED = 0x8
_RELATIVE = 0x10
_OMITTED = 0xFF
_LONGEST_LEB = 10  # bytes, for 64 bits

Rule: TypeAlias = "tuple[Literal['at', 'is', 'in'], int] | tuple[Literal['at expression', 'is expression'], bytes]"
"""Where the caller's value of a register is: at an offset from the frame's address, it is that address itself plus an
offset, it is in another register, at the address that an expression computes, or it is what that computes."""


@dataclass(frozen=True)
class Frame:
    """How to leave a function at some address.

    Attributes:
        base: the frame's address: a register and an offset, or an expression.
        rules: where the caller's values of registers are; those that are missing have not changed, and None is lost.
        return_register: which of them holds the address to return to.
        is_signal: whether a signal has interrupted the caller, which then stands at the very instruction.
    """

    base: tuple[int, int] | bytes
    rules: dict[int, Rule | None]
    return_register: int
    is_signal: bool


class _Common(NamedTuple):
    """What several functions have in common (a CIE)."""

    code_unit: int
    data_unit: int
    return_register: int
    encoding: int
    has_size: bool
    is_signal: bool
    program: bytes


class Reader:
    """Reads numbers from bytes, one after the other.

    Raises:
        ValueError: the bytes end too early, or a number is longer than any that a compiler writes.
    """

    def __init__(self, data: bytes | mmap.mmap, place: int = 0) -> None:
        self.data = data
        self.place = place

    def number(self, size: int, *, signed: bool = False) -> int:
        """A number of so many bytes."""
        taken = self.bytes(size)
        return int.from_bytes(taken, "little", signed=signed)

    def bytes(self, size: int) -> bytes:
        """So many bytes."""
        taken = self.data[self.place : self.place + size] if size >= 0 else b""
        if len(taken) != size:
            raise ValueError("it ends too early")
        self.place += size
        return taken

    def leb(self, *, signed: bool = False) -> int:
        """A number in LEB128 (DWARF 5, section 7.6)."""
        value = 0
        for shift in range(0, 7 * _LONGEST_LEB, 7):
            byte = self.number(1)
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value - (1 << shift + 7) if signed and byte & 0x40 else value
        raise ValueError("a number is too long")

    def encoded(self, encoding: int) -> int:
        """A number in one of the encodings of pointers, without what it is relative to."""
        return self.number(_SIZES[encoding & 0xF], signed=bool(encoding & _SIGNED))


class FrameTable:
    """The call frames of one program file.

    Args:
        path: of a program or a library.

    Raises:
        KeyError, OSError, ValueError, struct.error: it has none, or none that can be read.
    """

    def __init__(self, path: str) -> None:
        with open(path, "rb") as file:
            self._segments: list[Segment] = segments_of(file)
            header = next((one for one in self._segments if one.kind == FRAMES), None)
            section = section_of(file, b".eh_frame") if header is None else None
            self._data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        self._sorted = sorted(self._described(section)) if section else []
        self._start = self._amount = self._table = 0
        if header is None:
            if not self._sorted:
                raise ValueError("it has no call frames")
            return
        if self._data[header.offset : header.offset + 4] != _SORTED_TABLE:
            raise ValueError("it has no sorted table of call frames")
        self._start = header.address
        self._amount = int.from_bytes(self._data[header.offset + 8 : header.offset + 12], "little")
        self._table = header.offset + 12

    def frame(self, offset: int) -> Frame | None:
        """How to leave the function at an offset in the file; None if that is not known.

        Raises:
            KeyError, ValueError, struct.error: the table is damaged, or in an unusual form.
        """
        address = address_of(self._segments, offset)
        place = None if address is None else self._description_of(address)
        return None if address is None or place is None else self._frame(place, address)

    def function_at(self, offset: int) -> int | None:
        """The address at which the function at an offset in the file begins; None if that is not known.

        Raises:
            KeyError, ValueError, struct.error: the table is damaged, or in an unusual form.
        """
        address = address_of(self._segments, offset)
        place = None if address is None else self._description_of(address)
        if address is None or place is None:
            return None
        reader = Reader(self._data, place + 4)
        begins, size = self._range(reader, self._common(place + 4 - reader.number(4)))
        return begins if begins <= address < begins + size else None

    def _description_of(self, address: int) -> int | None:
        """Where the last function that begins at or before an address is described."""
        if self._sorted:
            number = bisect.bisect_right(self._sorted, (address, len(self._data))) - 1
            return self._sorted[number][1] if number >= 0 else None
        low, high = 0, self._amount
        while low < high:
            middle = (low + high) // 2
            if self._entry(middle)[0] <= address:
                low = middle + 1
            else:
                high = middle
        return offset_of(self._segments, self._entry(low - 1)[1]) if low else None

    def _described(self, section: Segment) -> Iterator[tuple[int, int]]:
        """Which functions a section describes, and where: programs that need no libraries have no table for that."""
        place = section.offset
        while place < section.offset + section.size:
            reader = Reader(self._data, place)
            size, kind_at = reader.number(4), reader.place
            if size == 0:  # the end of what came from one file
                place = kind_at
                continue
            if kind := reader.number(4):
                begins, _ = self._range(reader, self._common(kind_at - kind))
                yield begins, place
            place = kind_at + size

    def _range(self, reader: Reader, common: _Common) -> tuple[int, int]:
        """Where a function begins, and how long it is."""
        at = address_of(self._segments, reader.place)
        begins = reader.encoded(common.encoding)
        if common.encoding & 0x70 == _RELATIVE:
            begins += at or 0
        return begins, reader.encoded(common.encoding & 0x7)

    def _entry(self, number: int) -> tuple[int, int]:
        begins, described = _ENTRY.unpack_from(self._data, self._table + number * _ENTRY.size)
        return self._start + begins, self._start + described

    def _frame(self, place: int, address: int) -> Frame | None:
        reader = Reader(self._data, place)
        stop = reader.number(4) + place + 4
        common = self._common(place + 4 - reader.number(4))
        begins, size = self._range(reader, common)
        if not begins <= address < begins + size:
            return None
        if common.has_size:
            reader.bytes(reader.leb())
        return _executed(common, reader.bytes(stop - reader.place), begins, address)

    def _common(self, place: int) -> _Common:
        reader = Reader(self._data, place)
        stop = reader.number(4) + place + 4
        if reader.number(4) != 0:
            raise ValueError("no description begins here")
        version = reader.number(1)
        augmentation = bytes(iter(lambda: reader.number(1), 0)).decode("latin-1")
        code_unit, data_unit = reader.leb(), reader.leb(signed=True)
        return_register = reader.number(1) if version == 1 else reader.leb()
        encoding = 0
        if augmentation[:1] == "z":
            program = reader.leb() + reader.place
            for letter in augmentation[1:]:
                if letter == "R":
                    encoding = reader.number(1)
                elif letter == "P":
                    reader.encoded(reader.number(1))
                elif letter == "L":
                    reader.number(1)
            reader.place = program
        elif augmentation:
            raise ValueError(f"what {augmentation} means is not known")
        if encoding == _OMITTED:
            raise ValueError("functions have no beginning")
        program_bytes = reader.bytes(stop - reader.place)
        return _Common(
            *(code_unit, data_unit, return_register, encoding),
            has_size=augmentation[:1] == "z",
            is_signal="S" in augmentation,
            program=program_bytes,
        )


def _executed(common: _Common, program: bytes, begins: int, address: int) -> Frame | None:
    """The frame at an address, after the instructions of DWARF 5, section 6.4.2, up to there."""
    state = _State((0, 0), {})
    for _ in _steps(common, common.program, state, begins, {}):
        pass
    for reached in _steps(common, program, state, begins, dict(state.rules)):
        if reached > address:
            break
    return Frame(state.base, state.rules, common.return_register, common.is_signal) if state.base else None


@dataclass
class _State:
    base: tuple[int, int] | bytes
    rules: dict[int, Rule | None]


def _steps(
    common: _Common, program: bytes, state: _State, location: int, initial: dict[int, Rule | None]
) -> Iterator[int]:
    """Execute instructions; before the state changes for a later address, tell which one."""
    reader, kept = Reader(program), []
    while reader.place < len(program):
        code = reader.number(1)
        high, low = code & 0xC0, code & 0x3F
        if high == 0x40 or code in (0x01, 0x02, 0x03, 0x04):  # advance_loc, set_loc
            if code == 0x01:
                raise ValueError("instructions for places that are not relative")
            location += common.code_unit * (low if high else reader.number({2: 1, 3: 2, 4: 4}[code]))
            yield location
        elif high == 0x80:  # offset
            state.rules[low] = "at", reader.leb() * common.data_unit
        elif high == 0xC0 or code == 0x06:  # restore
            register = low if high else reader.leb()
            state.rules.pop(register, None)
            if register in initial:
                state.rules[register] = initial[register]
        elif code == 0x0A:  # remember_state
            kept.append((state.base, dict(state.rules)))
        elif code == 0x0B:  # restore_state
            state.base, state.rules = kept.pop()
        elif code == 0x0C:  # def_cfa
            state.base = reader.leb(), reader.leb()
        elif code == 0x12:  # def_cfa_sf
            state.base = reader.leb(), reader.leb(signed=True) * common.data_unit
        elif code == 0x0D:  # def_cfa_register
            state.base = reader.leb(), _offset(state)
        elif code in (0x0E, 0x13):  # def_cfa_offset
            offset = reader.leb() if code == 0x0E else reader.leb(signed=True) * common.data_unit
            state.base = _register(state), offset
        elif code == 0x0F:  # def_cfa_expression
            state.base = reader.bytes(reader.leb())
        elif code == 0x2E:  # GNU_args_size
            reader.leb()
        elif code not in (0x00, 0x2D):  # nop; on this machine, 0x2d changes nothing that is looked at
            _rule(common, state, reader, code)


def _rule(common: _Common, state: _State, reader: Reader, code: int) -> None:
    """Execute an instruction that says where one register is."""
    register = reader.leb()
    if code in (0x05, 0x11):  # offset_extended
        offset = reader.leb() if code == 0x05 else reader.leb(signed=True)
        state.rules[register] = "at", offset * common.data_unit
    elif code in (0x14, 0x15):  # val_offset
        offset = reader.leb() if code == 0x14 else reader.leb(signed=True)
        state.rules[register] = "is", offset * common.data_unit
    elif code == 0x07:  # undefined
        state.rules[register] = None
    elif code == 0x08:  # same_value
        state.rules.pop(register, None)
    elif code == 0x09:  # register
        state.rules[register] = "in", reader.leb()
    elif code == 0x10:  # expression
        state.rules[register] = "at expression", reader.bytes(reader.leb())
    elif code == 0x16:  # val_expression
        state.rules[register] = "is expression", reader.bytes(reader.leb())
    else:
        raise ValueError(f"instruction {code:#x} is not known")


def _register(state: _State) -> int:
    if isinstance(state.base, bytes):
        raise ValueError("an expression has no register")
    return state.base[0]


def _offset(state: _State) -> int:
    if isinstance(state.base, bytes):
        raise ValueError("an expression has no offset")
    return state.base[1]


def table_of(path: str) -> FrameTable | None:
    """The call frames of a program file; None if it has none that can be read."""
    try:
        return _table_of(path, os.stat(path).st_mtime_ns)
    except OSError:
        return None


@functools.lru_cache(maxsize=64)
def _table_of(path: str, _changed: int) -> FrameTable | None:
    try:
        return FrameTable(path)
    except (IndexError, KeyError, OSError, ValueError, struct.error):
        return None
