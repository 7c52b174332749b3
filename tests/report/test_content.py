"""The content of a file for people: text stays text, and what is binary becomes a dump."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from replay_dd.input.folder import packed
from replay_dd.input.reduce import reduce_input
from replay_dd.input.target import Target
from replay_dd.input.units import LINES
from replay_dd.report.content import content_as_text, dump_as_text
from replay_dd.report.input import input_as_text
from replay_dd.report.page.answer import input_page

BINARY = b"SQLite format 3\0\n\n\x01\xff"


def test_a_dump_has_offsets_and_a_text_column() -> None:
    assert list(dump_as_text(BINARY, 20)) == [
        "00000000  53 51 4c 69 74 65 20 66  6f 72 6d 61 74 20 33 00  |SQLite format 3.|",
        "00000010  0a 0a 01 ff                                       |....|",
    ]
    assert list(dump_as_text(b"", 20)) == []


def test_equal_rows_become_an_asterisk_and_the_last_row_stays() -> None:
    rows = list(dump_as_text(bytes(64) + b"a" * 16 + bytes(48), 20))
    assert [row.split("  ")[0] for row in rows] == ["00000000", "*", "00000040", "00000050", "*", "00000070"]


@pytest.mark.parametrize(
    ("size", "more"), [(32, []), (33, ["... and 1 more byte"]), (4000, ["... and 3,968 more bytes"])]
)
def test_what_is_not_shown_of_a_dump_is_counted(size: int, more: list[str]) -> None:
    content = b"".join(number.to_bytes(2, "big") for number in range(2000))[:size]
    assert list(dump_as_text(content, 2))[2:] == more


@pytest.mark.parametrize(
    ("left", "whole", "shown"),
    [
        (b"a\tb\x0c\x1b\n\xe9", b"a\tb\x0c\x1b\n\xe9" * 9, [r"a       b", r"\x1b", r"\xe9"]),
        (b"n/a\n", BINARY, ["n/a"]),
        (b"\0", b"a text with one stray byte" * 9 + b"\0", [r"\x00"]),
        (b"\0\n", BINARY, ["00000000  00 0a                                             |..|"]),
    ],
    ids=["text", "text in a binary file", "a stray byte in a text", "binary"],
)
def test_what_is_binary(left: bytes, whole: bytes, shown: list[str]) -> None:
    assert list(content_as_text(left, whole, 20)) == shown


def test_lines_that_are_not_shown_are_counted() -> None:
    assert list(content_as_text(b"a\nb\nc\n", b"", 2)) == ["a", "b", "... and 1 more line"]


def test_the_answer_and_its_page_show_the_same_dump() -> None:
    found = reduce_input(BINARY * 2, Target(("sh", "-c", "! grep -q SQL {}"), "a.db"), levels=[LINES])
    row = next(dump_as_text(found.failing, 1))
    assert row.endswith("|SQLite format 3.|")
    assert f"  {row}" in list(input_as_text(found, "a.db", {}))
    assert f'tabindex="0">{row}' in str(input_page(found, "a.db", {}).sections)


def test_each_file_of_a_folder_is_binary_or_text() -> None:
    text = b"a text with one stray byte" * 9
    packing, whole = packed([("a.db", 0o644, BINARY), ("b.txt", 0o644, text + b"\0")])
    found = reduce_input(b"SQL", Target(("sh", "-c", "! grep -q S {}"), "a"), levels=[LINES])
    found = replace(found, whole=whole, failing=whole.replace(text, b""))
    row = next(dump_as_text(BINARY, 1))
    lines = list(input_as_text(found, "a", {}, packing))
    assert lines[1:3] == ["  a.db", f"    {row}"]
    assert lines[4:6] == ["  b.txt", r"    \x00"]
    page = "".join(map(str, input_page(found, "a", {}, packing).sections))
    assert f"a.db:\n{row}" in page
    assert "b.txt:\n00000000" not in page


@pytest.mark.parametrize(
    ("says", "was"),
    [
        ("int(lines[0])", ["was          ValueError: invalid literal for int() with base 10: 'n/a'"]),
        ("int('n/a')", []),
        ("sys.exit(f\"/tmp/{os.getpid()}/a: '/tmp/{os.getpid()}/a' is bad\")", []),
        ("sys.exit(\"bad 'n/a'\" if 'n/a' in lines else 'wrong')", []),
    ],
    ids=["another value", "the same value", "a folder of each run", "other words, of which a note tells"],
)
def test_a_value_that_got_lost_in_the_message(says: str, was: list[str], tmp_path: Path) -> None:
    reads = "import os, sys\nlines = open(sys.argv[1]).read().splitlines()\nif not lines:\n    sys.exit()\n"
    (tmp_path / "sums.py").write_text(f"{reads}{says}\n")
    target = Target((sys.executable, "sums.py", "{}"), "a.txt", directory=tmp_path)
    found = reduce_input(b"n/a\n5\n", target)
    lines = list(input_as_text(found, "a.txt", {}))
    assert [line for line in lines if line.startswith("was ")] == was
    if was:
        assert lines[lines.index(was[0]) - 1].startswith("failure      ValueError: invalid literal for int()")
