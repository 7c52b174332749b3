"""How functions can be left, as program files say it, and what expressions in there compute."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Literal

import pytest

from replay_dd.experiment import frame_tables, unwinding
from replay_dd.experiment.frame_tables import Frame, Reader, _Common, _executed, table_of

COMMON = _Common(1, -8, 16, 0x1B, True, False, bytes([0x0C, 7, 8, 0x90, 1]))
"""The frame is 8 bytes above register 7, and the address to return to is the first word of it."""


@pytest.mark.parametrize(
    "address, base, saved",
    [(0, (7, 8), None), (1, (7, 16), ("at", -16)), (5, (6, 16), ("at", -16)), (9, (7, 16), ("at", -16))],
)
def test_instructions_count_up_to_the_address(
    address: int, base: tuple[int, int], saved: tuple[Literal["at"], int] | None
) -> None:
    """After `push %rbp`, after `mov %rsp,%rbp`, and in a part behind an early return."""
    program = bytes([0x41, 0x0E, 16, 0x86, 2, 0x0A, 0x43, 0x0D, 6, 0x45, 0x0B, 0x41, 0xC6, 0x0E, 8])
    frame = _executed(COMMON, program, 0, address)
    assert frame == Frame(base, {16: ("at", -8), **({6: saved} if saved else {})}, 16, False)


def test_a_restored_register_is_where_it_was_at_first() -> None:
    frame = _executed(COMMON, bytes([0x90, 3, 0x86, 2, 0x41, 0xD0, 0xC6]), 0, 1)
    assert frame == Frame((7, 8), {16: ("at", -8)}, 16, False)


@pytest.mark.parametrize(
    "program, base, rules",
    [
        (bytes([0x07, 16]), (7, 8), {16: None}),
        (bytes([0x12, 6, 0x7E]), (6, 16), {16: ("at", -8)}),
        (bytes([0x0F, 2, 0x77, 8]), b"\x77\x08", {16: ("at", -8)}),
        (bytes([0x10, 3, 2, 0x77, 0]), (7, 8), {16: ("at", -8), 3: ("at expression", b"\x77\x00")}),
        (bytes([0x09, 3, 4, 0x2E, 16, 0x14, 5, 1]), (7, 8), {16: ("at", -8), 3: ("in", 4), 5: ("is", -8)}),
        (bytes([0x05, 3, 2, 0x08, 3]), (7, 8), {16: ("at", -8)}),
    ],
)
def test_rare_instructions(program: bytes, base: object, rules: object) -> None:
    frame = _executed(COMMON, program, 0, 0)
    assert frame is not None
    assert (frame.base, frame.rules) == (base, rules)


def test_an_unknown_instruction_has_no_answer() -> None:
    with pytest.raises(ValueError, match="0x1f is not known"):
        _executed(COMMON, bytes([0x1F, 0]), 0, 0)


@pytest.mark.parametrize("counter, base", [(0x1005, 1008), (0x100B, 1016)])
def test_what_linkers_write_for_calls_of_libraries(counter: int, base: int) -> None:
    """8 bytes above the stack pointer, and 8 more from the eleventh of 16 bytes on."""
    expression = bytes([0x77, 8, 0x80, 0, 0x3F, 0x1A, 0x3B, 0x2A, 0x33, 0x24, 0x22])
    assert unwinding._computed(expression, {7: 1000, 16: counter}, lambda place, size: b"", []) == base


def test_what_the_c_library_writes_for_signals() -> None:
    memory = {1168: 7}.get
    expression = bytes([0x77, 0xA0, 1, 0x06])
    words = unwinding._computed(expression, {7: 1008}, lambda place, size: bytes([memory(place, 0), *[0] * 7]), [])
    assert words == 7


@pytest.mark.parametrize("content", [b"", b"#!/bin/sh\n", b"\x7fELF\x02" + bytes(100), b"\x7fELF\x02" + b"\xff" * 100])
def test_other_files_have_no_frames(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(content)
    assert table_of(str(tmp_path / "file")) is None
    assert table_of(str(tmp_path / "missing")) is None
    assert table_of("[vdso]") is None


def test_damaged_tables_never_crash() -> None:
    """Each byte of the instructions of a real function is changed in turn; there is some answer, or a clear error."""
    program = bytes([0x41, 0x0E, 16, 0x86, 2, 0x0A, 0x43, 0x0D, 6, 0x45, 0x0B, 0x0F, 2, 0x77, 8])
    for place in range(len(program)):
        for value in range(256):
            changed = program[:place] + bytes([value]) + program[place + 1 :]
            try:
                _executed(COMMON, changed, 0, 1000)
            except (IndexError, KeyError, ValueError):
                continue


def test_a_python_has_frames() -> None:
    table = table_of(str(Path(sys.executable).resolve()))
    assert table is None or isinstance(table, frame_tables.FrameTable)


def test_numbers_and_lengths_that_no_compiler_writes_are_refused() -> None:
    assert Reader(b"\x80\x01").leb() == 128
    assert Reader(b"\x7f").leb(signed=True) == -1
    with pytest.raises(ValueError, match="too long"):
        Reader(b"\x80" * 1_000).leb()
    with pytest.raises(ValueError, match="too early"):
        Reader(b"abc", 2).bytes(-1)
