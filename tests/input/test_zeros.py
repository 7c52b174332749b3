"""Bytes become zeros where others are looked for at places that the file tells."""

from __future__ import annotations

import contextlib
import random
import struct
import sys
from pathlib import Path

import pytest

from replay_dd.dd import IntervalSet
from replay_dd.input.levels import course
from replay_dd.input.reduce import reduce_input
from replay_dd.input.target import Target
from replay_dd.input.zeros import ROWS, Zeroed, has_zeros_for
from tests.input.test_nested import reduced

pytestmark = pytest.mark.once

ENTRY = 6_000
FONT = b"\1\2FONT" + struct.pack("<I", ENTRY) + random.Random(1).randbytes(8_000)
FONT = FONT[:ENTRY] + b"GLYF" + struct.pack("<H", 7_001) + FONT[ENTRY + 6 :]
FONT = FONT[:7_001] + b"!" + FONT[7_002:]


def breaks(content: bytes) -> bool:
    """A program that follows two places, and fails at what it finds there."""
    if content[2:6] != b"FONT" or len(content) < 8_000:
        return False
    (at,) = struct.unpack_from("<I", content, 6)
    if content[at : at + 4] != b"GLYF":
        return False
    (glyph,) = struct.unpack_from("<H", content, at + 4)
    return content[glyph : glyph + 1] == b"!"


def test_what_places_lead_to_stays_where_it_is() -> None:
    left, tests = reduced(FONT, breaks)
    assert breaks(left)
    assert len(left) >= 8_000
    needed = {*range(2, 8), *range(ENTRY, ENTRY + 6), 7_001}
    assert {place for place, byte in enumerate(left) if byte} <= needed
    assert tests < 700


def test_a_file_that_loses_half_of_itself_is_left_out_byte_by_byte() -> None:
    content = random.Random(2).randbytes(5_000) + b"BOOM" + bytes(range(256)) * 4
    left, _ = reduced(content, lambda text: b"BOOM" in text)
    assert left == b"BOOM"


def test_a_small_file_is_searched_byte_by_byte_after_that() -> None:
    """Each row of zeros is needed as a whole, and no zero is."""
    content = b"\0\xff" + random.Random(3).randbytes(600) + b"!" + random.Random(4).randbytes(300)
    left, _ = reduced(content, lambda text: len(text) > 500 and b"!" in text[1:500])
    assert len(left) == 501
    assert len(left) - left.count(0) == 1


def test_a_file_that_is_no_larger_than_a_few_hundred_bytes_gets_no_zeros() -> None:
    searches = course(b"\0\xff" * 100, None, None)
    units = [next(searches).unit]
    with contextlib.suppress(StopIteration):
        while len(units) < 5:
            units.append(searches.send((b"", b"\0\xff" * 100)).unit)
    assert "part" not in units


def test_a_byte_becomes_zero_or_stays() -> None:
    space = Zeroed(b"a\0bc")
    assert space.all.count == 3
    assert space.build(IntervalSet.of([1])) == b"\0\0b\0"
    assert space.kept(IntervalSet.of([1])).count == 4
    assert space.stretch(1) == (2, 3)
    assert space.words(1) == "byte 3: 'b'"


def test_zeros_in_a_row_are_one_unit() -> None:
    assert list(ROWS.edges(b"a\0\0b\nc\0")) == [0, 1, 3, 4, 5, 6, 7]


@pytest.mark.parametrize(
    "other, told", [(b"a\0c", True), (b"abc", True), (b"\0bd", False), (b"ab", False), (b"\0abc", False)]
)
def test_zeros_for_bytes_are_told_from_other_changes(other: bytes, told: bool) -> None:
    assert has_zeros_for(b"abc", other) is told


def test_the_answer_says_that_bytes_became_zeros(tmp_path: Path) -> None:
    program = tmp_path / "read.py"
    program.write_text(
        "import sys\ncontent = open(sys.argv[1], 'rb').read()\n"
        "at = int.from_bytes(content[:4], 'little')\nassert content[at:at + 1] != b'!' or len(content) < 5000\n"
    )
    content = struct.pack("<I", 4_500) + b"\xff" * 4_496 + b"!" + b"\xfe" * 600
    found = reduce_input(content, Target((sys.executable, str(program), "{}"), "font"))
    assert len(found.failing) >= 5_000
    assert len(found.failing) - found.failing.count(0) == 3
    assert any(note.startswith("All but 3 of these bytes are zero") for note in found.notes), found.notes
