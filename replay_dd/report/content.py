"""The content of a file for people: text line by line, all else as a hexadecimal dump.

Rules of this module:

* A file is binary if control characters are too many of its bytes. So a text in another encoding than UTF-8, or with a
  stray byte, stays a text.
* A binary file may be reduced to a text, and a text to one stray byte: both are shown as text.
* A dump has the layout of `hexdump -C`, so that it looks familiar and can be compared with one of the whole file.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from replay_dd.input.levels import has_controls
from replay_dd.input.space import lines_shown
from replay_dd.report.isolation import counted

_ROW = 16
_HALF = _ROW // 2
_HEX_WIDTH = 3 * _ROW  # with one more blank between both halves


def is_binary(left: bytes, whole: bytes) -> bool:
    """Whether what is left of a file is better shown as a dump than as text.

    Args:
        left: what is left of it.
        whole: all of it.
    """
    return has_controls(left) and has_controls(whole)


def content_as_text(left: bytes, whole: bytes, most: int) -> Iterator[str]:
    """The beginning of what is left of a file, line by line, and how much more there is.

    Args:
        left: what is left of it.
        whole: all of it, which tells whether it is binary.
        most: how many lines to show of it, at most.
    """
    if is_binary(left, whole):
        yield from dump_as_text(left, most)
        return
    lines = lines_shown(left, most)
    yield from lines
    more = len(left.splitlines()) - len(lines)
    if more > 0:
        yield f"... and {counted(more, 'more line')}"


def dump_as_text(content: bytes, most: int) -> Iterator[str]:
    """The beginning of a hexadecimal dump, line by line, and how many bytes more there are.

    Args:
        content: the bytes.
        most: how many rows to show, at most.
    """
    rows = _rows(content)
    yield from (row for _, row in islice(rows, most))
    for offset, _ in islice(rows, 1):
        yield f"... and {counted(len(content) - offset, 'more byte')}"


def _rows(content: bytes) -> Iterator[tuple[int, str]]:
    """Offsets and rows; of rows that repeat the one before them, one asterisk, but the last row shows where it ends."""
    before, repeats = b"", False
    for offset in range(0, len(content), _ROW):
        row = content[offset : offset + _ROW]
        if row != before or offset + _ROW >= len(content):
            yield offset, _row(offset, row)
            repeats = False
        elif not repeats:
            yield offset, "*"
            repeats = True
        before = row


def _row(offset: int, row: bytes) -> str:
    halves = f"{row[:_HALF].hex(' ')}  {row[_HALF:].hex(' ')}"
    text = "".join(chr(byte) if 0x20 <= byte < 0x7F else "." for byte in row)
    return f"{offset:08x}  {halves:<{_HEX_WIDTH}}  |{text}|"
