"""Chains of records in a stretch of a file: each begins with its length, and the last one ends where the stretch does.

Rules of this module:

* No format is known here. Every way to find the length of a record and the next record is a rule, and all rules are
  tried. Rules that chance cannot explain come first; whether one holds, tests must show.
* A chain of one record counts, too: a number that is right about the rest of a file, or of a record.
* A file may go on in another way behind its records, as a picture does behind its header. Such a chain ends where a
  record would be longer than the file; it must be so surprising that chance cannot explain it without its end.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from replay_dd.input.numbers import BINARY, TEXT, Form
from replay_dd.input.trees import Cut

_LAST_PLACE = 8  # of the length in a record
_MOST_MORE = 12  # bytes of a record that its length does not count
_MOST_SHORT_MORE = 4
_LAST_START = 16  # of the first record inside another one
_LAST_START_OF_FILE = 40
_MOST_HEADER = 4096  # bytes of a text, of which each line may be the first record
_MOST_RECORDS, _MOST_SHORT = 3000, 300
_LONGEST_LOOSE = 4096
_LAST_SHORT_PLACE = 2
_COST_OF_A_GAP = 2  # for each byte; a record costs 1
_FEW_EMPTY = 4
_MOST_LEFT = 4  # bytes of a record behind what is in it, such as a checksum
_BITS_OF_A_KIND = 3  # for each record of a binary file that begins like another one
_BITS_OF_A_MARK = 8  # for each record that has the same byte in the same place as all others
_FEWEST_BEFORE_MORE = 4  # records of a chain that other bytes follow
_LEAST_BITS_BEFORE_MORE = 20.0


class Rule(NamedTuple):
    """Where the length of a record stands, and where the record ends.

    Attributes:
        form: how the length is written.
        place: how many bytes are before it.
        more: bytes of the record that it does not count, besides these and itself.
        counts_all: whether it counts the whole record, these and itself included.
        unit: sizes are rounded up to a multiple of this.
        counts_itself: whether it counts itself, but not these.
    """

    form: Form
    place: int
    more: int = 0
    counts_all: bool = False
    unit: int = 1
    counts_itself: bool = False

    def record(self, content: bytes, start: int) -> tuple[Cut, int, int] | None:
        """The bytes of the length of a record, the length, and where the record ends; None if there is no length."""
        place = start + self.place
        read = self.form.read(content, place)
        if read is None:
            return None
        value, stop = read
        if self.counts_all or self.counts_itself:
            size = value + self.place * self.counts_itself
            if start + size < stop:
                return None
        else:
            size = stop - start + value + self.more
        return (place, stop), value, start + size + -size % self.unit


class Chain(NamedTuple):
    """Records that follow each other.

    Attributes:
        rule: how one leads to the next.
        skipped: bytes of the stretch before the first one.
        left: bytes of the stretch behind the last one.
        edges: where records begin, and where the last one ends.
        bits: how surprising it is that they end there.
        loose: whether there may be other bytes between them.
        goes_on: whether there may be any other bytes behind the last one.
    """

    rule: Rule
    skipped: int
    left: int
    edges: tuple[int, ...]
    bits: float
    loose: bool = False
    goes_on: bool = False


def follow(
    content: bytes, stretch: Cut, rule: Rule, skipped: int, left: int = 0, *, goes_on: bool = False
) -> Chain | None:
    """The chain of records of this kind in a stretch; None if they do not end where it does.

    Args:
        content: the file.
        stretch: where to look.
        rule: how one record leads to the next.
        skipped: how many bytes of the stretch come before the first one.
        left: how many of its bytes come behind the last one.
        goes_on: whether any others may do so.
    """
    start, stop = stretch[0] + skipped, stretch[1] - left
    if start >= stop:
        return None
    chance = math.log2(stop - start + 1)
    edges, bits, empty = [start], 0.0, 0
    kinds: list[bytes] = []
    values: set[int] = set()
    here = start
    most = _MOST_SHORT if rule.form.short else _MOST_RECORDS
    while here < stop:
        record = rule.record(content, here)
        if record is None or not here < record[2] <= stop or len(edges) > most:
            if goes_on and len(edges) > 1 and 2 * empty <= len(edges):
                bits += _bits_of_marks(kinds)
                return Chain(rule, skipped, 0, tuple(edges), bits - _bits_of_choice(rule, 0), goes_on=True)
            return None
        (first, last), value, here = record
        if value:
            bits += max(rule.form.bits * (last - first) - chance, 0)
        else:
            empty += 1
            if 2 * empty > len(edges) + _FEW_EMPTY:
                return None  # rather a row of zeros
        kinds.append(content[edges[-1] : first])
        values.add(value)
        edges.append(here)
    if 2 * empty > len(edges):
        return None  # rather a row of zeros
    # The end of the stretch is one of so many places where the last record could have ended.
    bits += math.log2((stop - start) / (len(edges) - 1) + 1)
    # Lines that are alike have the same number of the same letters in the same place.
    bits += rule.form.found_bits * (len(values) - 1)
    if rule.place and not rule.form.found_bits:
        bits += _BITS_OF_A_KIND * (len(edges) - 1 - len(set(kinds)))
    bits -= _bits_of_choice(rule, left)
    # A file often has a header, a record has one less often.
    bits -= (1 if stretch == (0, len(content)) else 2) * math.log2(1 + skipped)
    return Chain(rule, skipped, left, tuple(edges), bits)


def _bits_of_choice(rule: Rule, left: int) -> float:
    """How many other rules there are that are no more complicated than this one."""
    return 2 * math.log2((1 + left) * (1 + rule.place) * (1 + rule.more) * rule.unit)


def _bits_of_marks(kinds: Sequence[bytes]) -> float:
    """How surprising it is that all records have the same bytes, other than zeros, before their lengths."""
    marks: int = sum(len({*column}) == 1 and column[0] != 0 for column in zip(*kinds, strict=False))
    return _BITS_OF_A_MARK * marks * (len(kinds) - 1)


def chains(content: bytes, stretch: Cut, *, is_text: bool, more: int = 0) -> list[Chain]:
    """All chains in a stretch, the most surprising ones first; of those with the same records, one.

    Args:
        content: the file.
        stretch: where to look; the whole file may have a longer header than a record.
        is_text: whether lengths are written in digits.
        more: how many bytes of the stretch may come behind the last record.
    """
    found: dict[tuple[int, ...], Chain] = {}
    may_go_on = not is_text and stretch == (0, len(content))
    for rule, skipped in _openings(content, stretch, TEXT if is_text else BINARY):
        for left in range(min(more, _MOST_LEFT) + 1):
            chain = follow(content, stretch, rule, skipped, left, goes_on=may_go_on and not rule.form.short)
            if chain is None or (chain.goes_on and not _is_surprising(chain)):
                continue
            if chain.edges not in found or found[chain.edges].bits < chain.bits:
                found[chain.edges] = chain
    return sorted(found.values(), key=lambda chain: -chain.bits)


def _is_surprising(chain: Chain) -> bool:
    """Whether chance cannot lead from one record to the next so often."""
    return len(chain.edges) > _FEWEST_BEFORE_MORE and chain.bits > _LEAST_BITS_BEFORE_MORE


def loose_chains(content: bytes, stretch: Cut, rules: Sequence[Rule]) -> list[Chain]:
    """Records with other bytes between them, as where only some kinds have lengths; those that cover most come first.

    Args:
        content: the file.
        stretch: where to look.
        rules: how records are read.
    """
    if stretch[1] - stretch[0] > _LONGEST_LOOSE:
        return []
    found = {chain.edges: chain for rule in rules if (chain := follow_loosely(content, stretch, rule))}
    return sorted(found.values(), key=lambda chain: -chain.bits)


def follow_loosely(content: bytes, stretch: Cut, rule: Rule) -> Chain | None:
    """The records of a stretch that leave as little as possible between them; None if there are none.

    Its last edge is where the last record ends.
    """
    start, stop = stretch
    costs, ends = [0] * (stop - start + 1), [0] * (stop - start + 1)
    for here in reversed(range(start, stop)):
        costs[here - start] = costs[here - start + 1] + _COST_OF_A_GAP
        record = rule.record(content, here)
        if record is not None and record[1] and here < record[2] <= stop:
            cost = costs[record[2] - start] + 1
            if cost <= costs[here - start]:
                costs[here - start], ends[here - start] = cost, record[2]
    edges, here = [], start
    while here < stop:
        end = ends[here - start]
        if end:
            edges.append(here)
            last = here = end
        else:
            here += 1
    return Chain(rule, 0, 0, (*edges, last), float(-costs[0]), loose=True) if edges else None


def _openings(content: bytes, stretch: Cut, forms: Sequence[Form]) -> Iterator[tuple[Rule, int]]:
    """The rules after which a first record ends in the stretch, and where it begins."""
    start, stop = stretch
    whole = stretch == (0, len(content))
    starts = range(min(_LAST_START_OF_FILE if whole else _LAST_START, stop - start - 1) + 1)
    lines = [match.end() for match in re.finditer(rb"\n", content[:_MOST_HEADER])] if whole and forms is TEXT else []
    for skipped in sorted({*starts, *(line for line in lines if line < stop)}):
        for place in range(_LAST_PLACE + 1):
            for form in forms:
                read = form.read(content, start + skipped + place)
                if read is None or (form.short and (place > _LAST_SHORT_PLACE or skipped > _LAST_START)):
                    continue
                value, end = read
                room = stop - end - value
                if start + skipped + value <= stop and value > end - start - skipped:
                    yield Rule(form, place, counts_all=True), skipped
                if place and not form.short and forms is not TEXT and end - start - skipped - place <= value:
                    yield Rule(form, place, counts_itself=True), skipped
                for more in range(min(_MOST_SHORT_MORE if form.short else _MOST_MORE, room) + 1):
                    yield Rule(form, place, more), skipped
                if forms is not TEXT and not form.short:
                    yield Rule(form, place, unit=2), skipped
