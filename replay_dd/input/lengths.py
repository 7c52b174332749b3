"""The lengths and checksums of a file, as far as they are known: the tree of its records.

Rules of this module:

* A step says how records follow each other in a stretch. Each stretch inside of a record may hold records in turn, by
  any step that is known. A content is read by the steps anew each time, so they still hold when parts are left out.
* A checksum is known by its value alone: it is that of bytes of the record before it. Chance does not do that.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from replay_dd.input.chains import Chain, Rule, follow, follow_loosely
from replay_dd.input.mended import CHECKSUM_SIZE, CHECKSUMS, Checksum, Length, Mended
from replay_dd.input.numbers import TEXT, Form
from replay_dd.input.places import binary_places, text_places
from replay_dd.input.space import Left
from replay_dd.input.trees import Cut

_DEEPEST = 40
_LONGEST_CHECKED = 1 << 20
_MOST_BEFORE_DATA = 16  # bytes of a record that its checksum is not about
_ORDERS: tuple[Literal["big", "little"], ...] = ("big", "little")
_NUMBER = re.compile(rb"(?:^|[\s:=])([1-9][0-9]{0,8})(?=\r?\n)", re.MULTILINE)
_LINE_ENDS = (b"\n", b"\r\n")
_EMPTY_LINES = (b"\n\n", b"\r\n\r\n")
_MOST_HEADER = 4096


class Step(NamedTuple):
    """How records follow each other in a stretch; see :class:`~replay_dd.input.chains.Chain`."""

    rule: Rule
    skipped: int
    left: int
    loose: bool = False
    goes_on: bool = False

    def chain(self, content: bytes, stretch: Cut) -> Chain | None:
        """The records of a stretch; None if there are none."""
        if self.loose:
            return follow_loosely(content, stretch, self.rule)
        return follow(content, stretch, self.rule, self.skipped, self.left, goes_on=self.goes_on)


class Around(NamedTuple):
    """What has to be right about a stretch if bytes of it are left out."""

    lengths: tuple[Length, ...] = ()
    checksums: tuple[Checksum, ...] = ()


@dataclass
class Stretch:
    """A part of a file between lengths and checksums, and the records in it.

    Attributes:
        cut: where it is.
        around: what counts it.
        record: the record whose inside it is.
        depth: how many records it is in.
        more: how many of its bytes the length of the record does not count.
        records: the insides of its records, in order.
    """

    cut: Cut
    around: Around
    record: Cut
    depth: int = 0
    more: int = 0
    records: list[Stretch] = field(default_factory=list)

    def all(self) -> Iterator[Stretch]:
        """This one and all inside of it, outer ones first."""
        yield self
        for inside in self.records:
            yield from inside.all()


class Lengths:
    """What is known of the lengths of a file; more is learnt while it is reduced.

    Attributes:
        steps: how records follow each other.
        tail: whether numbers in a text count what is behind them up to its end.
        in_text: whether numbers in a text tell where its lines are.
        form: how numbers are written that tell where something is, if the file has such numbers.
    """

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self.tail = False
        self.in_text = False
        self.form: Form | None = None

    def __bool__(self) -> bool:
        return bool(self.steps) or self.tail or self.in_text or self.form is not None

    def places(self, content: bytes) -> list[Length]:
        """The numbers that tell where something is."""
        if self.form is not None:
            return binary_places(content, self.form)
        return text_places(content) if self.in_text else []

    def stretches(self, content: bytes) -> Stretch:
        """The tree of a file."""
        whole = (0, len(content))
        root = Stretch(whole, Around(checksums=tuple(_checksums(content, whole, 0))), whole)
        if self.tail:
            root.records = [_counted_tail(content, root, length) for length in tail_lengths(content)]
        for stretch in root.records or [root]:
            self._read(content, stretch)
        return root

    def _read(self, content: bytes, stretch: Stretch) -> None:
        if stretch.depth > _DEEPEST:
            return
        found = [step.chain(content, stretch.cut) for step in self.steps]
        chains = [chain for chain in found if chain is not None]
        best = max(chains, key=lambda chain: (not chain.loose, chain.bits), default=None)
        if best is not None:
            stretch.records = insides(content, stretch, best)
            for inside in stretch.records:
                self._read(content, inside)

    def mended(self, space: Left) -> Left:
        """A space that keeps the lengths and checksums of its content right, as far as they are known."""
        if not self:
            return space
        stretches = list(self.stretches(space.content).all())
        around = [one.around for one in stretches]
        return mended(space, [*around, Around(tuple(self.places(space.content)))])


def mended(space: Left, around: Sequence[Around]) -> Left:
    """A space that keeps these lengths and checksums right."""
    lengths = dict.fromkeys(length for one in around for length in one.lengths)
    checksums = dict.fromkeys(checksum for one in around for checksum in one.checksums)
    return Mended(space.content, space, list(lengths), list(checksums)) if lengths or checksums else space


def insides(content: bytes, stretch: Stretch, chain: Chain) -> list[Stretch]:
    """What is inside of each of the records of a chain."""
    found = []
    for start in chain.edges[:-1]:
        record = chain.rule.record(content, start)
        assert record is not None
        number, _, stop = record
        length = Length(number, chain.rule.form, (start if chain.rule.counts_all else number[1], stop))
        checksums = tuple(_checksums(content, (start, stop), number[1] - start))
        around = Around((*stretch.around.lengths, length), (*stretch.around.checksums, *checksums))
        ends = min((checksum.place for checksum in checksums), default=stop)
        more = 0 if checksums else chain.rule.more
        found.append(Stretch((number[1], ends), around, (start, stop), stretch.depth + 1, more))
    return found


def tail_lengths(content: bytes) -> list[Length]:
    """Numbers at the ends of lines of a text that count what comes behind their line, or behind an empty one."""
    found = []
    for match in _NUMBER.finditer(content[:_MOST_HEADER]):
        begins = len(content) - int(match[1])
        between = content[match.end() : max(begins, 0)]
        if between.startswith(_LINE_ENDS) and (between.endswith(_EMPTY_LINES) or not between.strip()):
            found.append(Length(match.span(1), TEXT[0], (begins, len(content))))
    return found


def _counted_tail(content: bytes, root: Stretch, length: Length) -> Stretch:
    """What such a number counts."""
    around = Around((*root.around.lengths, length), root.around.checksums)
    return Stretch(length.counted, around, length.counted, 1)


def _checksums(content: bytes, record: Cut, before: int) -> Iterator[Checksum]:
    """The checksum at the end of a record, if there is one.

    Args:
        content: the file.
        record: where the record is.
        before: how many bytes come before what its length counts.
    """
    start, stop = record
    place = stop - CHECKSUM_SIZE
    if place <= start or stop - start > _LONGEST_CHECKED:
        return
    orders = {int.from_bytes(content[place:stop], order): order for order in _ORDERS}
    for of in CHECKSUMS:
        for first in range(start, min(start + before + _MOST_BEFORE_DATA, place)):
            order = orders.get(of(content[first:place]))
            if order is not None:
                yield Checksum(place, order, of, (first, place))
                return
