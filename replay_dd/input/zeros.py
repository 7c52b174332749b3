"""Bytes that do not matter become zeros, where none can be left out.

Databases, fonts, programs and pictures tell where what comes later in them is. Nearly every byte that is left out moves
that away, and all tests end in complaints about the file. Zeros move nothing, and a file of zeros is as good as a
small one: a dump of it has few rows.

Rules of this module:

* A byte stays as it is or becomes zero; where it stands never changes.
* When bytes are left out after that, zeros in a row are one unit: there are thousands of them, and what was not left
  out in parts of equal size before is hardly left out byte by byte.
"""

from __future__ import annotations

import re

from replay_dd.dd import IntervalSet
from replay_dd.input.space import Left, shown
from replay_dd.input.trees import Cut
from replay_dd.input.units import BYTES, Edges, Level

_ROW = re.compile(rb"\0+|[^\0]")


class Zeroed(Left):
    """The bytes of a file that are not zero; those that are not kept become so.

    Args:
        content: the file.
    """

    unit = BYTES.unit

    def __init__(self, content: bytes) -> None:
        super().__init__(content)
        self._places = [place for place, byte in enumerate(content) if byte]
        self.all = IntervalSet.range(0, len(self._places))

    def kept(self, configuration: IntervalSet) -> IntervalSet:
        """All bytes: each stays where it is."""
        return IntervalSet.range(0, len(self.content))

    def build(self, configuration: IntervalSet) -> bytes:
        """The file with zeros in the place of the other bytes."""
        content = bytearray(len(self.content))
        for number in configuration:
            place = self._places[number]
            content[place] = self.content[place]
        return bytes(content)

    def stretch(self, delta: int) -> Cut:
        """The byte."""
        place = self._places[delta]
        return place, place + 1

    def words(self, delta: int) -> str:
        """The byte, with its place."""
        start, stop = self.stretch(delta)
        return f"{self.unit} {start + 1}: {shown(self.content[start:stop])}"


def has_zeros_for(content: bytes, other: bytes) -> bool:
    """Whether another content is the same but for bytes that are zero there."""
    return len(other) == len(content) and all(new in (old, 0) for old, new in zip(content, other, strict=True))


def _rows(content: bytes) -> Edges:
    return [0, *(row.end() for row in _ROW.finditer(content))]


ROWS = Level("rows", "byte", _rows)
"""Bytes, with zeros in a row as one unit."""
