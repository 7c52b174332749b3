"""Bytes become zeros where others are looked for at places that the file tells."""

from __future__ import annotations

import random
import struct
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from replay_dd.dd import EMPTY, IntervalSet
from replay_dd.input.levels import course
from replay_dd.input.records import RECORDS
from replay_dd.input.reduce import reduce_input
from replay_dd.input.space import Kept, Space
from replay_dd.input.sweep import Sweep
from replay_dd.input.target import Target
from replay_dd.input.units import BYTES, Level
from replay_dd.input.zeros import ROWS, Zeroed, has_zeros_for
from replay_dd.outcome import Outcome
from tests.input.test_nested import reduced

pytestmark = pytest.mark.once

NO_LENGTHS = b"\xff\xfe"
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


def searched(
    content: bytes, fails: Callable[[bytes], bool], levels: Sequence[Level] | None = None
) -> tuple[list[Space], bytes]:
    """All spaces of a search that finds the smallest failing configuration of each, and what is left."""
    searches = course(content, None, levels)
    spaces = [next(searches)]
    while True:
        left = spaces[-1].build(EMPTY)
        if not fails(left):
            sweep = Sweep(spaces[-1].all)
            while (asked := sweep.ask()) is not None:
                sweep.tell(Outcome.FAIL if fails(spaces[-1].build(asked)) else Outcome.PASS)
            left = spaces[-1].build(sweep.c_fail)
        try:
            spaces.append(searches.send((b"", left)))
        except StopIteration:
            return spaces, left


def has_zeros(spaces: list[Space]) -> bool:
    return any(isinstance(space, Zeroed) for space in spaces)


def test_a_file_that_loses_half_of_itself_gets_no_zeros() -> None:
    content = b"\0" + NO_LENGTHS * 2_000 + b"BOOM" + NO_LENGTHS * 500
    spaces, left = searched(content, lambda text: b"BOOM" in text)
    assert left == b"BOOM"
    assert any(space.unit == "part" for space in spaces)
    assert not has_zeros(spaces)


def test_a_small_file_is_searched_byte_by_byte_after_that_and_a_large_one_is_not() -> None:
    large, _ = searched(FONT, breaks)
    small, left = searched(b"\0" + NO_LENGTHS * 400, lambda text: len(text) > 700)
    assert left == bytes(701)
    assert has_zeros(large)
    assert has_zeros(small)
    assert isinstance(small[-1], Kept)
    assert small[-1].all.count == len(small[-1].content)  # bytes
    assert isinstance(large[-1], Kept)
    assert large[-1].all.count < 100  # rows


def test_small_files_and_named_units_get_no_zeros() -> None:
    for content, levels in ((b"\0\xff" * 100, None), (FONT, [RECORDS, BYTES]), (FONT, [BYTES])):
        spaces, _ = searched(content, lambda text, content=content: len(text) > 0.9 * len(content), levels)  # type: ignore[misc]
        assert not has_zeros(spaces)


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
