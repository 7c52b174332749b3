"""Records of a binary file: stretches that say themselves how long they are, as chunks of PNG, WAV, MP4 or pcap do.

Rules of this module:

* A bit of a record is of no use: what is left breaks at once, since a length is wrong or what follows is read from the
  wrong place. So whole records are left out before bytes are.
* No format is known here. A file has records if the same rule leads from one to the next up to its end: somewhere near
  the beginning of each stands a number, and the record is that many bytes long and a few more.
* Chance also leads to the end now and then, above all where small numbers stand in a row. So where there are many
  records, they must be of few kinds, by the bytes around their lengths. If chance fools that, only some tests are lost.
  The first records tell that already; else chance would be followed through all of a large file, again and again.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from replay_dd.input.units import Edges, Level

_NUMBERS = tuple(struct.Struct(form) for form in (">H", "<H", ">I", "<I"))
_LAST_START = 40  # of the first record, behind a header of the file
_LAST_PLACE = 8  # of the length in a record
_MOST_MORE = 24  # bytes of a record that its length does not count
_LEAST_SIZE = 4
_FEWEST = 4  # records
_MANY = 16  # records, from which on chance alone may lead from one to the next
_ENOUGH_BEFORE_A_BREAK = 12  # records that show the rule though a later one breaks it, as a damaged length does
_TELLING = 64  # records, by which their kinds are told
_KIND = 4  # bytes right before or behind the length that may tell the kind


class _Rule(NamedTuple):
    """How one record leads to the next: the number at ``place`` plus ``more``, rounded up to a multiple of ``unit``."""

    number: struct.Struct
    place: int
    more: int
    unit: int


@lru_cache(maxsize=1)  # a large file takes seconds, and is asked about by those who choose and who cut
def record_edges(content: bytes) -> Edges:
    """Where the records of a file begin, and what is before and behind them; its two ends if it has none."""
    best: list[int] = []
    best_rank = (0, False)
    for start in range(min(_LAST_START, len(content)) + 1):
        for rule in _rules(content, start):
            edges = _chain(content, start, rule)
            count, whole = len(edges) - 1, edges[-1] == len(content)
            enough = _FEWEST if whole else _ENOUGH_BEFORE_A_BREAK
            if count >= enough and (count, whole) > best_rank and _is_of_few_kinds(content, edges[:-1], rule, whole):
                best, best_rank = edges, (count, whole)
    return tuple(sorted({0, *best, len(content)}))


RECORDS = Level("records", "record", record_edges)


def _rules(content: bytes, start: int) -> Iterator[_Rule]:
    """The rules after which a first record that starts here ends inside the file."""
    for number in _NUMBERS:
        for place in range(_LAST_PLACE + 1):
            if start + place + number.size > len(content):
                break
            (length,) = number.unpack_from(content, start + place)
            room = len(content) - start - length
            for more in range(max(0, _LEAST_SIZE - length), min(_MOST_MORE, room) + 1):
                for unit in (1, 2):
                    yield _Rule(number, place, more, unit)


def _chain(content: bytes, start: int, rule: _Rule) -> list[int]:
    """The starts of records that follow each other, and where the last one ends."""
    number, place, more, unit = rule
    edges, empty = [start], 0
    here = start
    while here + place + number.size <= len(content):
        (length,) = number.unpack_from(content, here + place)
        empty += not length
        size = length + more
        here += size + -size % unit
        # Many empty records are rather a row of zeros.
        if here > len(content) or size < max(_LEAST_SIZE, place + number.size) or 2 * empty > len(edges) + 2:
            break
        edges.append(here)
        if len(edges) == _TELLING and not _is_of_few_kinds(content, edges, rule, whole=False):
            break
    return edges


def _is_of_few_kinds(content: bytes, starts: list[int], rule: _Rule, whole: bool) -> bool:
    if whole and len(starts) < _MANY:
        return True
    before = {content[max(start, start + rule.place - _KIND) : start + rule.place] for start in starts}
    behind = rule.place + rule.number.size
    after = {content[start + behind : start + behind + _KIND] for start in starts}
    kinds = [len(one) for one in (before, after) if one != {b""}]
    return 4 * min(kinds, default=len(starts)) <= len(starts)
