"""How files are cut into units."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replay_dd.errors.user import UsageError
from replay_dd.input.levels import default_levels, levels_named
from replay_dd.input.units import BYTES, CHARACTERS, LINES, WORDS, Level, delimited

pytestmark = pytest.mark.once


def cut(level: Level, content: bytes) -> list[bytes]:
    return [content[start:stop] for start, stop in pairwise(level.edges(content))]


@given(
    st.one_of(st.binary(), st.text().map(str.encode)),
    st.sampled_from([LINES, WORDS, CHARACTERS, BYTES, delimited("[,;]")]),
)
def test_nothing_gets_lost(content: bytes, level: Level) -> None:
    pieces = cut(level, content)
    assert b"".join(pieces) == content
    assert all(pieces)


def test_lines_keep_their_ends() -> None:
    assert cut(LINES, b"a\r\nb\nc\rd") == [b"a\r\n", b"b\n", b"c\r", b"d"]


def test_characters_are_whole_and_what_is_no_text_is_single_bytes() -> None:
    assert cut(CHARACTERS, "aé€😀".encode()) == [b"a", "é".encode(), "€".encode(), "😀".encode()]
    assert cut(CHARACTERS, b"\xe9\xff\x80a") == [b"\xe9", b"\xff", b"\x80", b"a"]
    assert cut(BYTES, "é".encode()) == [b"\xc3", b"\xa9"]


def test_a_delimiter_ends_a_unit() -> None:
    assert cut(delimited(", *"), b"a, b,c") == [b"a, ", b"b,", b"c"]
    assert cut(delimited("€"), "a€b".encode()) == ["a€".encode(), b"b"]


@pytest.mark.parametrize("wrong", ["(", "x*"])
def test_a_delimiter_that_cannot_be_used(wrong: str) -> None:
    with pytest.raises(UsageError):
        delimited(wrong)


def test_levels_by_name() -> None:
    assert levels_named("lines, bytes", "a.txt") == (LINES, BYTES)
    with pytest.raises(UsageError, match="`sentences`"):
        levels_named("lines,sentences", "a.txt")


def test_what_is_no_text_is_reduced_by_bytes() -> None:
    assert default_levels(b"\0\1") == (BYTES,)
    assert [level.name for level in default_levels("é\n".encode("latin-1"))] == ["brackets", "words", "characters"]
    assert default_levels(b"a", isolate=True) == (LINES, CHARACTERS)
