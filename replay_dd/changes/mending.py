"""The nearest mixture that parses: what to run in the place of one that does not.

Rules of this module:

* A file that parses in both versions, and not in a mixture, has changes there without others that they need. Near the
  first line that does not parse, the hunk is applied or left out whole, then the function, then the file, whichever is
  the first that parses, or breaks further down only.
* No run is needed for that. What is run in the place of a mixture lies between the same ends, and is told to the
  search.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import NamedTuple

from replay_dd.changes.difference import Difference
from replay_dd.changes.levels import LEVELS
from replay_dd.dd import EMPTY, IntervalSet

_SCOPES = ("hunk", "function")
_MOST_PLACES = 12


class Break(NamedTuple):
    """A file of a mixture that does not parse, though it does in both versions.

    Attributes:
        path: the file.
        line: the first line that does not parse, from 0; None if that is not known.
        told: what is wrong with it.
    """

    path: str
    line: int | None
    told: str


Breaks = Callable[[IntervalSet], Collection[Break]]
"""Tells which files of a mixture do not parse."""


class Mending:
    """Finds mixtures that parse.

    Args:
        difference: the two versions.
        breaks: tells which files of a mixture do not parse.
    """

    def __init__(self, difference: Difference, breaks: Breaks) -> None:
        self._difference = difference
        self._breaks = breaks

    def nearest(self, asked: IntervalSet, low: IntervalSet, high: IntervalSet) -> IntervalSet:
        """A mixture between two others that parses, near the one asked for; that one if there is none.

        Args:
            asked: the mixture.
            low: its deltas stay.
            high: others than these are not added.
        """
        found = asked
        for _ in range(_MOST_PLACES):
            broken = next(iter(self._breaks(found)), None)
            if broken is None:
                return found
            found = self._mended(found, broken, low, high)
            if found == EMPTY:
                break
        return asked

    def near_breaks(self, deltas: IntervalSet, among: IntervalSet) -> IntervalSet:
        """Of some changes, those to apply or leave out together where a mixture breaks; none if it does not."""
        found = EMPTY
        for broken in self._breaks(deltas):
            found = found | next(self._scopes(deltas, broken, among), EMPTY)
        return found

    def _scopes(self, deltas: IntervalSet, broken: Break, among: IntervalSet) -> Iterator[IntervalSet]:
        """The changes near the place where a mixture breaks, in ever larger parts of its file."""
        within = self._difference.deltas_at([broken.path]) & among
        near = self._near(deltas, broken)
        for level in _SCOPES:
            group_of = LEVELS[level]
            place = group_of(self._difference, near) if near >= 0 else None
            part = IntervalSet.of([delta for delta in within if group_of(self._difference, delta) == place])
            if part:
                yield part
        if within:
            yield within

    def _mended(self, deltas: IntervalSet, broken: Break, low: IntervalSet, high: IntervalSet) -> IntervalSet:
        """The same with a part of the file as it is in one of the ends; nothing if that does not help."""
        for part in self._scopes(deltas, broken, high - low):
            for made in (deltas | part, deltas - part):
                if made in (deltas, low, high):
                    continue
                again = next((one for one in self._breaks(made) if one.path == broken.path), None)
                if again is None or self._near(made, again) > max(part):
                    return made
        return EMPTY

    def _near(self, deltas: IntervalSet, broken: Break) -> int:
        """The change of a line nearest before the place where a mixture breaks; -1 for none, or where unknown."""
        if broken.line is None:
            return -1
        return self._difference.line_change_before(deltas, broken.path, broken.line)
