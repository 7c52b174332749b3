"""Align two sequences: which stretches of one are stretches of the other.

Rules of this module:

* The same two sequences always give the same alignment, on every machine: effort is limited by counted steps, never by
  time, and no decision depends on the hash of an element.
* Where the sequences differ in few places the alignment is a longest common subsequence (E. W. Myers, "An O(ND)
  Difference Algorithm and Its Variations", Algorithmica 1, 1986, the greedy algorithm).
* Where they differ in many, stretches that occur exactly once on each side anchor the alignment, longest stretches
  first (after "patience diff" of Bram Cohen, which anchors at unique lines), and what lies between anchors is aligned
  in turn.
* Where neither helps, elements at equal distance from the start of the stretch are compared. An alignment that is not
  the best possible one costs a search some more tests; it never makes a mixture wrong.
* A hundred thousand elements take a second or two at worst.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Hashable, Iterator, Sequence
from typing import NamedTuple

ANCHOR_LENGTHS = (24, 6, 1)
"""How long the stretches are that may anchor an alignment; tried in this order."""

MOST_EDITS = 256
"""How many elements may be inserted and removed, together, in a stretch that is aligned as well as possible."""

MOST_STEPS = 2_000_000
"""How many comparisons an alignment may spend on stretches that are aligned as well as possible, all together."""


class Match(NamedTuple):
    """A common stretch: ``length`` elements from ``left`` in one sequence and from ``right`` in the other."""

    left: int
    right: int
    length: int


class _Stretch(NamedTuple):
    left: int
    left_end: int
    right: int
    right_end: int


def align(left: Sequence[Hashable], right: Sequence[Hashable]) -> list[Match]:
    """The common stretches of two sequences, in order; no two of them touch on both sides."""
    numbers: dict[Hashable, int] = {}
    a = [numbers.setdefault(element, len(numbers)) for element in left]
    b = [numbers.setdefault(element, len(numbers)) for element in right]
    joined: list[Match] = []
    for match in _Aligner(a, b).matches():
        if joined:
            last = joined[-1]
            if (last.left + last.length, last.right + last.length) == match[:2]:
                joined[-1] = last._replace(length=last.length + match.length)
                continue
        joined.append(match)
    return joined


class _Aligner:
    def __init__(self, a: list[int], b: list[int]) -> None:
        self._a = a
        self._b = b
        self._steps_left = MOST_STEPS

    def matches(self) -> Iterator[Match]:
        """Common stretches in order; some touch."""
        a, b = self._a, self._b
        # A stack, not recursion: there can be as many stretches as elements. Matches wait on it among the stretches.
        waiting: list[_Stretch | Match] = [_Stretch(0, len(a), 0, len(b))]
        while waiting:
            part = waiting.pop()
            if isinstance(part, Match):
                yield part
                continue
            left, left_end, right, right_end = part
            prefix = 0
            most = min(left_end - left, right_end - right)
            while prefix < most and a[left + prefix] == b[right + prefix]:
                prefix += 1
            if prefix:
                yield Match(left, right, prefix)
            left, right, most = left + prefix, right + prefix, most - prefix
            suffix = 0
            while suffix < most and a[left_end - suffix - 1] == b[right_end - suffix - 1]:
                suffix += 1
            left_end, right_end = left_end - suffix, right_end - suffix
            if suffix:
                waiting.append(Match(left_end, right_end, suffix))
            if left < left_end and right < right_end:
                waiting += reversed(self._divide(_Stretch(left, left_end, right, right_end)))

    def _divide(self, stretch: _Stretch) -> list[_Stretch] | list[Match]:
        """Align a stretch whose ends differ, or divide it into smaller ones."""
        found = self._fewest_edits(stretch)
        if found is not None:
            return found
        for length in ANCHOR_LENGTHS:
            anchors = self._anchors(stretch, length)
            if anchors:
                starts = [(stretch.left, stretch.right), *anchors]
                ends = [*anchors, (stretch.left_end, stretch.right_end)]
                return [_Stretch(start[0], end[0], start[1], end[1]) for start, end in zip(starts, ends, strict=True)]
        return self._in_step(stretch)

    def _fewest_edits(self, stretch: _Stretch) -> list[Match] | None:
        """A longest common subsequence; ``None`` where that would need too many edits or steps."""
        a, b = self._a, self._b
        left, left_end, right, right_end = stretch
        width, height = left_end - left, right_end - right
        if abs(width - height) > MOST_EDITS:
            return None
        # For each diagonal (left minus right), how far into `a` the best path with so many edits comes.
        furthest = {1: 0}
        history: list[dict[int, int]] = []
        for edits in range(min(width + height, MOST_EDITS) + 1):
            reached: dict[int, int] = {}
            for diagonal in range(-edits, edits + 1, 2):
                below, above = furthest.get(diagonal + 1, -1), furthest.get(diagonal - 1, -1) + 1
                if diagonal == -edits or (diagonal != edits and above <= below):
                    x = below
                else:
                    x = above
                y = start = x
                y -= diagonal
                while x < width and y < height and a[left + x] == b[right + y]:
                    x += 1
                    y += 1
                self._steps_left -= x - start + 1
                reached[diagonal] = x
                if x >= width and y >= height:
                    history.append(reached)
                    return self._path(stretch, history)
            if self._steps_left < 0:
                return None
            history.append(reached)
            furthest = reached
        return None

    def _path(self, stretch: _Stretch, history: list[dict[int, int]]) -> list[Match]:
        """Walk back from the end; ``history`` has one table of furthest points for each number of edits."""
        x = stretch.left_end - stretch.left
        y = stretch.right_end - stretch.right
        found: list[Match] = []
        for edits in range(len(history) - 1, -1, -1):
            diagonal = x - y
            if edits:
                before = history[edits - 1]
                below, above = before.get(diagonal + 1, -1), before.get(diagonal - 1, -1) + 1
                down = diagonal == -edits or (diagonal != edits and above <= below)
                start = below if down else above
            else:
                down, start = False, 0
            if x > start:
                found.append(Match(stretch.left + start, stretch.right + start - diagonal, x - start))
            if edits:
                x, y = (start, start - diagonal - 1) if down else (start - 1, start - diagonal)
        found.reverse()
        return found

    def _anchors(self, stretch: _Stretch, length: int) -> list[tuple[int, int]]:
        """Where stretches of that length start that occur once on each side: the longest chain of them in order."""
        in_a = _occurring_once(self._a, stretch.left, stretch.left_end, length)
        in_b = _occurring_once(self._b, stretch.right, stretch.right_end, length)
        pairs = [
            (position, other)
            for gram, position in in_a.items()
            if position >= 0
            and (other := in_b.get(gram, -1)) >= 0
            and self._a[position : position + length] == self._b[other : other + length]
        ]
        chain = _longest_increasing(pairs)
        # What follows its predecessor directly adds nothing: the common prefix of the stretch finds it.
        return [
            anchor
            for previous, anchor in zip([(-1, -1), *chain], chain, strict=False)
            if anchor != (previous[0] + 1, previous[1] + 1)
        ]

    def _in_step(self, stretch: _Stretch) -> list[Match]:
        a, b = self._a, self._b
        left, left_end, right, right_end = stretch
        return [
            Match(left + at, right + at, 1)
            for at in range(min(left_end - left, right_end - right))
            if a[left + at] == b[right + at]
        ]


def _occurring_once(numbers: list[int], start: int, stop: int, length: int) -> dict[int, int]:
    """Where each run of ``length`` numbers starts that occurs once; -1 for those that occur again."""
    found: dict[int, int] = {}
    for position in range(start, stop - length + 1):
        # Hashes of integers are the same in every process. Runs that share one by accident are no anchors.
        gram = hash(tuple(numbers[position : position + length]))
        found[gram] = -1 if gram in found else position
    return found


def _longest_increasing(pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The longest chain of pairs that increases on both sides; the pairs increase on the left, and none repeats."""
    ends: list[int] = []  # the smallest right end of a chain of each length
    at_end: list[int] = []  # which pair that is
    before: list[int] = []
    for number, (_, right) in enumerate(pairs):
        place = bisect_left(ends, right)
        before.append(at_end[place - 1] if place else -1)
        if place == len(ends):
            ends.append(right)
            at_end.append(number)
        else:
            ends[place], at_end[place] = right, number
    chain: list[tuple[int, int]] = []
    number = at_end[-1] if at_end else -1
    while number >= 0:
        chain.append(pairs[number])
        number = before[number]
    chain.reverse()
    return chain
