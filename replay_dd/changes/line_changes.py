"""Which lines of a file are replaced, removed or inserted between two versions.

Rules of this module:

* Where functions or classes begin at other places of a hunk than before, or other names are imported or assigned
  outside of them, no old line is replaced by a new one: the new ones follow the old ones. Otherwise one name could not
  come before the other one has gone.
* Where functions come and go, a line stays only within its function. Equal lines of others, such as blank ones, would
  tie functions together that have nothing to do with each other: neither could come or go without the other one.
* Quotes that open a string of several lines and those that close it look alike, but one never stays as the other:
  between the two versions, the code in between would be text, or the text code.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass

from replay_dd.changes.outlines import parts_of_strings, symbols_of
from replay_dd.dd.alignment import Match, align

_HEAD = re.compile(
    rb"\s*(?:async\s+def|def|class|function)\b|(?:static|struct|enum|union|typedef)\b|[A-Za-z_][^;=#]*\)\s*\{?\s*$"
)
_BINDS = re.compile(rb"(?P<all>(?:from|import)\s.*|#\s*include\b.*)|(?P<name>[A-Za-z_]\w*)\s*(?::[^=\n]+)?=(?!=)")


@dataclass(frozen=True, slots=True)
class LineChange:
    """One line that is replaced, removed or inserted.

    Attributes:
        old: its number in the old version, from 0; for an insertion, that of the line it comes before.
        old_stop: ``old`` for an insertion, otherwise the next number.
        new: its number in the new version; for a removal, that of the line that follows there.
        new_stop: ``new`` for a removal, otherwise the next number.
        hunk: the number of its hunk in the file.
    """

    old: int
    old_stop: int
    new: int
    new_stop: int
    hunk: int


def line_changes(path: str, before: Sequence[bytes], after: Sequence[bytes]) -> Iterator[LineChange]:
    """What leads from the lines of one version of a file to those of another.

    Args:
        path: where the file is, which tells its language.
        before: the lines of the old version.
        after: those of the new version.
    """
    old = new = hunk = 0
    for match in (*_aligned(path, before, after), (len(before), len(after), 0)):
        left, right = match[0], match[1]
        if old < left or new < right:
            one_side, other_side = before[old:left], after[new:right]
            if _heads(one_side) != _heads(other_side) or _bound(one_side) != _bound(other_side):
                yield from (LineChange(one, one + 1, new, new, hunk) for one in range(old, left))
                yield from (LineChange(left, left, one, one + 1, hunk) for one in range(new, right))
            else:
                for number in range(max(left - old, right - new)):
                    one, other = min(number, left - old), min(number, right - new)
                    removes, adds = number < left - old, number < right - new
                    yield LineChange(old + one, old + one + removes, new + other, new + other + adds, hunk)
            hunk += 1
        old, new = left + match[2], right + match[2]


def _heads(lines: Sequence[bytes]) -> list[int]:
    """Where functions or classes begin among some lines."""
    return [number for number, line in enumerate(lines) if _HEAD.match(line)]


def _bound(lines: Sequence[bytes]) -> list[bytes]:
    """What is imported, and which names are assigned, outside of functions."""
    return [(found["all"] or found["name"]).strip() for line in lines if (found := _BINDS.match(line))]


def _aligned(path: str, before: Sequence[bytes], after: Sequence[bytes]) -> list[Match]:
    """What both versions have; a function that only one of them has may be one of the other that was renamed."""
    versions = before, after
    keys: list[Sequence[Hashable]] = list(versions)
    if _quotes(before) != _quotes(after):
        parts = [parts_of_strings(path, lines) for lines in versions]
        keys = [list(zip(found, lines, strict=True)) for found, lines in zip(parts, keys, strict=True)]
    if {line for line in before if _HEAD.match(line)} != {line for line in after if _HEAD.match(line)}:
        symbols = [symbols_of(path, lines) for lines in versions]
        in_both = set(symbols[0]) & set(symbols[1])
        keys = [
            [(symbol if symbol in in_both else None, line) for symbol, line in zip(names, lines, strict=True)]
            for names, lines in zip(symbols, keys, strict=True)
        ]
    return align(*keys)


def _quotes(lines: Sequence[bytes]) -> list[bytes]:
    """The lines that may open or close strings of several lines."""
    return [line for line in lines if b'"""' in line or b"'''" in line]
