"""Numbers that tell where something in a file begins, counted from the start of the file.

Rules of this module:

* Such a number counts the bytes before what it leads to. So it is a length like others, and is corrected like them.
* In a binary file of zeros, a number is taken for a place if it leads to a byte that is none, or to just before it.
  One try for each way to write numbers shows whether that holds: a long row of zeros before such a byte goes.
* In a text, places are numbers of fixed width, with zeros in front, that lead to beginnings of lines, as in PDF;
  chance does not do that several times. If there are some, other numbers that do so are places, too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from replay_dd.input.mended import Length
from replay_dd.input.numbers import DIGITS, FIXED, Form
from replay_dd.input.trees import Cut
from replay_dd.input.zeros import ROWS

_FIRST = 8  # bytes of a binary file, to which no place leads: what begins there need not be told
_BEGINS = 4  # bytes, of which one is not zero: a number may begin there
_NUMBER = re.compile(rb"(?<![0-9.])[0-9]{2,20}(?![0-9.])")
_PADDED = re.compile(rb"(?<![0-9.])0[0-9]{5,}")
_FEWEST_PADDED = 4
_SHORTEST_ROW = 16


def tells_places(content: bytes) -> bool:
    """Whether a text tells places: several are of a fixed width, and so are few numbers that are none."""
    padded = len(_PADDED.findall(content))
    if padded < _FEWEST_PADDED:
        return False
    found = sum(bool(_PADDED.fullmatch(content, *one.number)) for one in text_places(content))
    return found >= max(_FEWEST_PADDED, padded / 2)


def text_places(content: bytes) -> list[Length]:
    """The places that a text tells, if it is one that does: numbers that lead to the beginning of a line."""
    found = []
    for match in _NUMBER.finditer(content):
        place = int(match[0])
        if 0 < place < len(content) and content[place - 1] in b"\r\n" and not content[place : place + 1].isspace():
            found.append(Length(match.span(), DIGITS, (0, place)))
    return found


def binary_places(content: bytes, form: Form) -> list[Length]:
    """The numbers of a file of zeros that lead to what is not zero.

    Args:
        content: the file.
        form: one of :data:`~replay_dd.input.numbers.FIXED`.
    """
    size = FIXED[form]
    starts = {start for place, byte in enumerate(content) if byte for start in range(place - size + 1, place + 1)}
    found = []
    for start in starts:
        read = form.read(content, start) if start >= 0 else None
        if read is not None and _FIRST <= read[0] < len(content) and any(content[read[0] : read[0] + _BEGINS]):
            found.append(Length((start, read[1]), form, (0, read[0])))
    # A number can be read at several places that overlap: at the one that has most of its bytes.
    found.sort(key=lambda one: (content[slice(*one.number)].count(0), one.number))
    taken: set[int] = set()
    chosen = []
    for one in found:
        bytes_of = range(*one.number)
        if taken.isdisjoint(bytes_of):
            taken.update(bytes_of)
            chosen.append(one)
    return chosen


def rows_between(content: bytes, places: Sequence[Length]) -> list[int]:
    """The edges of rows of zeros and of other bytes; numbers, and what they lead to, have edges of their own."""
    edges = {place for one in places for place in (*one.number, one.counted[1])}
    return sorted(edges.union(ROWS.edges(content)))


def guesses(content: bytes) -> Iterator[tuple[Form, Cut]]:
    """Ways to write places, if a file of zeros has some; for each, the longest row of zeros before one of them."""
    for form in FIXED:
        places = binary_places(content, form)
        last = max((one.counted[1] for one in places), default=0)
        rows = [row for row in pairwise(rows_between(content, places)) if row[1] <= last]
        longest = max(rows, key=lambda row: row[1] - row[0], default=(0, 0))
        if longest[1] - longest[0] >= _SHORTEST_ROW:
            yield form, longest
