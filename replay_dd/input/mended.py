"""A space whose files stay sound inside: numbers that count what was left out are corrected.

Rules of this module:

* Only what is left is changed: a number of which any byte was left out counts nothing any more.
* Inner numbers come first, since a smaller one may need fewer bytes, which outer ones count. Its first bytes are those
  that are not needed. So a file has as many bytes as are kept of the content, though some of them differ.
* Checksums come last: they are about what the numbers then are.
"""

from __future__ import annotations

import zlib
from bisect import bisect_right
from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

from replay_dd.dd import IntervalSet
from replay_dd.input.numbers import Form
from replay_dd.input.space import Left, joined
from replay_dd.input.trees import Cut

CHECKSUM_SIZE = 4
CHECKSUMS: tuple[Callable[[bytes], int], ...] = (zlib.crc32, zlib.adler32)


class Length(NamedTuple):
    """A number that says how many bytes something has.

    Attributes:
        number: the bytes of the number.
        form: how it is written.
        counted: the bytes that it counts, and perhaps some more.
    """

    number: Cut
    form: Form
    counted: Cut


class Count(NamedTuple):
    """A number that says how many elements something has.

    Attributes:
        number: the bytes of the number.
        form: how it is written.
        counted: the bytes of the elements.
        elements: where each of them is.
    """

    number: Cut
    form: Form
    counted: Cut
    elements: tuple[Cut, ...]


class Checksum(NamedTuple):
    """A checksum.

    Attributes:
        place: its first byte.
        order: of its bytes.
        of: makes it.
        about: the bytes that it is about.
    """

    place: int
    order: Literal["big", "little"]
    of: Callable[[bytes], int]
    about: Cut


class Mended(Left):
    """Another space, with lengths and checksums that are right for what is left.

    Args:
        content: the file.
        space: the other space on it.
        lengths: numbers that count some of its bytes, or elements.
        checksums: checksums of some of its bytes.
    """

    def __init__(
        self, content: bytes, space: Left, lengths: Sequence[Length | Count], checksums: Sequence[Checksum]
    ) -> None:
        super().__init__(content)
        self._space = space
        self.unit = space.unit
        self.all = space.all
        self.coarse, self.dense = space.coarse, space.dense
        self._lengths = sorted(lengths, key=lambda length: length.counted[1] - length.counted[0])
        self._checksums = sorted(checksums, key=lambda checksum: checksum.about[1] - checksum.about[0])

    def kept(self, configuration: IntervalSet) -> IntervalSet:
        """What the other space keeps, without bytes that smaller numbers do not need."""
        return self._mend(self._space.kept(configuration))[0]

    def stretch(self, delta: int) -> Cut:
        """The unit."""
        return self._space.stretch(delta)

    def words(self, delta: int) -> str:
        """The unit."""
        return self._space.words(delta)

    def build(self, configuration: IntervalSet) -> bytes:
        """These bytes, with numbers and checksums that are right."""
        kept, mended = self._mend(self._space.kept(configuration))
        if not mended:
            return joined(self.content, kept)
        content = bytearray(self.content)
        for place, text in mended.items():
            content[place : place + len(text)] = text
        for checksum in self._checksums:
            about = IntervalSet.range(*checksum.about)
            its = IntervalSet.range(checksum.place, checksum.place + CHECKSUM_SIZE)
            changed = not about <= kept or any(place in about for place in mended)
            if its <= kept and changed:
                value = checksum.of(joined(content, kept & about))
                content[its.first : its.last + 1] = value.to_bytes(CHECKSUM_SIZE, checksum.order)
        return joined(content, kept)

    def _mend(self, kept: IntervalSet) -> tuple[IntervalSet, dict[int, bytes]]:
        """What is kept in the end, and what stands where."""
        mended: dict[int, bytes] = {}
        cuts = (IntervalSet.range(0, len(self.content)) - kept).intervals
        ends = [stop for _, stop in cuts]
        for length in self._lengths:
            (start, stop), form, (first, last) = length[:3]
            nearest = bisect_right(ends, first)
            if nearest == len(cuts) or cuts[nearest][0] >= last:
                continue  # there may be thousands of them, of which few matter
            left = kept & IntervalSet.range(first, last)
            if isinstance(length, Count):
                gone = sum(not left & IntervalSet.range(*element) for element in length.elements)
            else:
                gone = last - first - left.count
            number = IntervalSet.range(start, stop)
            read = form.read(self.content, start)
            if not gone or not number <= kept or read is None or read[0] < gone:
                continue
            text = form.write(read[0] - gone, self.content[start:stop])
            begins = stop - len(text)
            mended[begins] = text
            kept -= IntervalSet.range(start, begins)
        return kept, mended
