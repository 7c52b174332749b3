"""Files of values that say themselves what they are, and how many are inside: MessagePack and CBOR.

Rules of this module:

* A value is a head, and what is behind it: bytes, or other values, or pairs of them. A format is a function that reads
  a head; nothing else here knows formats.
* A file is taken for one of a format if it is read as such to its last byte, as lists and mappings. Later, when parts
  have been left out, it is read as far as that goes.
* Numbers are corrected as lengths are: with a head that is as short as possible.

Sources: the specification of MessagePack; RFC 8949, section 3.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from replay_dd.input.mended import Count, Length, Mended
from replay_dd.input.numbers import Form
from replay_dd.input.space import Left
from replay_dd.input.trees import Cut
from replay_dd.input.without_values import DEEPEST, Value, is_enough

_ENDLESS = -1
_END = b"\xff"


class Head(NamedTuple):
    """What stands at the beginning of a value.

    Attributes:
        stop: where it ends.
        number: of what it counts.
        data: how many bytes follow that are no values.
        values: how many values follow; :data:`_ENDLESS` if an end mark does.
        paired: whether two of them are one element.
        form: how another number is written; None if it counts nothing that can be left out.
    """

    stop: int
    number: int = 0
    data: int = 0
    values: int = 0
    paired: bool = False
    form: Form | None = None


Read = Callable[[bytes, int], Head | None]


@dataclass(slots=True, kw_only=True)
class Counting(Value):
    """A value that says how many are in it.

    Attributes:
        head: how it begins.
        is_whole: whether all of it is there.
    """

    head: Head
    is_whole: bool = False

    def elements(self) -> list[Cut]:
        """What can be left out of it: its values, or pairs of them."""
        if self.head.form is None and self.head.values != _ENDLESS:
            return []
        step = 1 + self.head.paired
        groups = [self.inside[number : number + step] for number in range(0, len(self.inside), step)]
        return [(group[0].start, group[-1].stop) for group in groups]


class Values:
    """What is known of the values of a file.

    Args:
        read: its format.
    """

    def __init__(self, read: Read) -> None:
        self._read = read

    @classmethod
    def of(cls, content: bytes) -> Values | None:
        """What a file consists of, if that is lists or mappings of a format."""
        for read in FORMATS:
            values = cls(read)
            top = values.top(content)
            whole = top and top[-1].stop == len(content) and all(one.is_whole and one.head.values for one in top)
            if whole and is_enough(top):
                return values
        return None

    def plain(self, content: bytes) -> tuple[()]:
        """No other way, as no value refers to others."""
        return ()

    def top(self, content: bytes) -> list[Counting]:
        """The outermost values, as far as they can be read."""
        root = Counting(0, 0, head=Head(0, values=sys.maxsize))
        self._look_inside(content, root, 0)
        return root.inside

    def mended(self, space: Left) -> Left:
        """A space whose files have numbers that are right for what is left."""
        found: list[Length | Count] = []
        for value in (value for one in self.top(space.content) for value in one.all()):
            head, number = value.head, (value.start, value.head.stop)
            if head.form is None or (not value.inside and not head.data):
                continue
            if head.data:
                found.append(Length(number, head.form, (value.stop - head.number, value.stop)))
            else:
                found.append(Count(number, head.form, (head.stop, value.stop), tuple(value.elements())))
        return Mended(space.content, space, found, ()) if found else space

    def _look_inside(self, content: bytes, around: Counting, depth: int) -> None:
        """Read the values inside of one, whose head was read."""
        if depth > DEEPEST:
            return
        head = around.head
        while head.values == _ENDLESS or len(around.inside) < head.values:
            place = around.stop
            if head.values == _ENDLESS and content[place : place + 1] == _END:
                around.stop += 1
                break
            found = self._read(content, place) if place < len(content) else None
            if found is None:
                return
            value = Counting(place, min(found.stop + found.data, len(content)), head=found)
            around.inside.append(value)
            if found.stop + found.data <= len(content):
                self._look_inside(content, value, depth + 1)
            around.stop = value.stop
            if not value.is_whole:
                return
        around.is_whole = True


def _cbor(content: bytes, place: int) -> Head | None:
    kind, short = content[place] >> 5, content[place] & 0x1F
    if short == 31:
        stop = place + 1
        return Head(stop, values=_ENDLESS, paired=kind == 5) if kind in (2, 3, 4, 5) else None
    size = 0 if short < 24 else 1 << short - 24
    stop = place + 1 + size
    if short > 27 or stop > len(content):
        return None
    number = int.from_bytes(content[place + 1 : stop], "big") if size else short
    if kind in (2, 3):
        return Head(stop, number, data=number, form=_CBOR_FORM)
    if kind in (4, 5):
        return Head(stop, number, values=number * (kind - 3), paired=kind == 5, form=_CBOR_FORM)
    return Head(stop, values=int(kind == 6))


def _write_cbor(number: int, old: bytes) -> bytes:
    kind = old[0] & 0xE0
    if number < 24:
        return bytes([kind | number])
    size = next(size for size in (1, 2, 4, 8) if number < 1 << 8 * size)
    return bytes([kind | 23 + size.bit_length(), *number.to_bytes(size, "big")])


_PACKED = {
    **dict.fromkeys((0xC0, 0xC2, 0xC3), 0),
    **dict(enumerate((4, 8, 1, 2, 4, 8, 1, 2, 4, 8), 0xCA)),
    **dict(enumerate((2, 3, 5, 9, 17), 0xD4)),
}
"""First bytes of values of MessagePack that count nothing, and how many bytes follow."""
_PACKED_DATA = {0xC4: 1, 0xC5: 2, 0xC6: 4, 0xC7: 1, 0xC8: 2, 0xC9: 4, 0xD9: 1, 0xDA: 2, 0xDB: 4}
_PACKED_VALUES = {0xDC: 2, 0xDD: 4, 0xDE: 2, 0xDF: 4}
_EXTENSIONS = (0xC7, 0xC8, 0xC9)
_MAPPINGS = (0xDE, 0xDF)


def _message_pack(content: bytes, place: int) -> Head | None:
    first = content[place]
    stop = place + 1
    if first < 0x80 or first >= 0xE0:
        return Head(stop)
    if first < 0xC0:
        number = first & (0x0F if first < 0xA0 else 0x1F)
        if first >= 0xA0:
            return Head(stop, number, data=number, form=_PACKED_FORM)
        is_mapping = first < 0x90
        return Head(stop, number, values=number << is_mapping, paired=is_mapping, form=_PACKED_FORM)
    if first in _PACKED:
        return Head(stop + _PACKED[first])
    size = _PACKED_DATA.get(first) or _PACKED_VALUES.get(first, 0)
    stop += size
    if not size or stop > len(content):
        return None
    number = int.from_bytes(content[place + 1 : stop], "big")
    if first in _PACKED_DATA:
        return Head(stop, number, data=number + (first in _EXTENSIONS), form=_PACKED_FORM)
    is_mapping = first in _MAPPINGS
    return Head(stop, number, values=number << is_mapping, paired=is_mapping, form=_PACKED_FORM)


_SHORT = {0xD9: (0xA0, 32), 0xDA: (0xA0, 32), 0xDB: (0xA0, 32)} | {
    first: (0x80 if first in _MAPPINGS else 0x90, 16) for first in _PACKED_VALUES
}
"""What the first byte is if it has the number in it, and how large that may not be."""


def _write_packed(number: int, old: bytes) -> bytes:
    if len(old) == 1:
        return bytes([old[0] & (0xE0 if old[0] >= 0xA0 else 0xF0) | number])
    short, limit = _SHORT.get(old[0], (0, 0))
    return bytes([short | number]) if number < limit else old[:1] + number.to_bytes(len(old) - 1, "big")


def _form(name: str, read: Read, write: Callable[[int, bytes], bytes]) -> Form:
    def number(content: bytes, place: int) -> tuple[int, int] | None:
        head = read(content, place)
        return None if head is None else (head.number, head.stop)

    return Form(name, number, write)


_CBOR_FORM = _form("CBOR", _cbor, _write_cbor)
_PACKED_FORM = _form("MessagePack", _message_pack, _write_packed)
FORMATS: tuple[Read, ...] = (_message_pack, _cbor)
