"""Elements that stand at the same place of several sequences: rows of a matrix with its columns, points with labels.

Rules of this module:

* What many functions take must have the same length: then nothing can be left out of one sequence alone. Here a delta
  is a place, which is left out of all sequences of that length together, at all depths, along all axes.
* Texts do not count, nor do sets and mappings: they have no places.
* Large sequences are searched first of all, where two arguments or two axes have one length: leaving anything out of
  one of them alone would be in vain. The others come last, when little is left.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator
from typing import Any

from replay_dd.call.containers import Container, is_sequence
from replay_dd.call.spaces import DEEPEST, Arguments, Space, rewritten
from replay_dd.dd import IntervalSet

_LARGE = 8
_DEPTHS_AT_FIRST = 2  # those of a matrix


class Aligned(Space):
    """The places of all sequences of one length.

    Args:
        arguments: the arguments.
        names: those to look at; the others stay whole.
        length: of the sequences.
        depths: how many depths to look at.
    """

    unit = "place"

    def __init__(self, arguments: Arguments, names: Collection[str], length: int, depths: int) -> None:
        self.arguments = arguments
        self.all = IntervalSet.range(0, length)
        self._names = names
        self._length = length
        self._depths = depths

    def build(self, deltas: IntervalSet) -> dict[str, Any]:
        """The arguments with these places only."""

        def keep(container: Container, path: str) -> Any:
            return container.keep(deltas) if self._is_one(container) else container.value

        built = dict(self.arguments)
        # From the inside: the length of what is outside is what tells whether its elements are places, too.
        for depth in reversed(range(self._depths)):
            built = {
                name: rewritten(value, depth, keep) if name in self._names else value for name, value in built.items()
            }
        return built

    def words(self, delta: int) -> str:
        """The place."""
        return f"[{delta}] of all that have {self._length} elements"

    def _is_one(self, container: Container) -> bool:
        return container.size == self._length and is_sequence(container.value)


def aligned(left: Callable[[], Arguments], names: Collection[str], *, large: bool = False) -> Iterator[Aligned]:
    """The places of sequences that have one length, long ones first, of what is left at that moment.

    Args:
        left: the arguments that are left.
        names: those to look at.
        large: only large sequences that are likely to belong together.
    """
    tried: set[int] = set()
    while True:
        of_depths = list(_lengths(left(), names, _DEPTHS_AT_FIRST if large else DEEPEST))
        if large:
            outer, inner = [*of_depths, Counter[int](), Counter[int]()][:2]
            found = {length for length in outer if length >= _LARGE and (outer[length] > 1 or length in inner)}
        else:
            lengths = sum(of_depths, Counter[int]())
            found = {length for length in lengths if length > 1 and lengths[length] > 1}
        if not found - tried:
            return
        length = max(found - tried)
        tried.add(length)
        yield Aligned(left(), names, length, len(of_depths))


def _lengths(arguments: Arguments, names: Collection[str], depths: int) -> Iterator[Counter[int]]:
    """How many sequences there are of each length, depth by depth, as far as there is anything."""
    for depth in range(depths):
        found, deepest = Counter[int](), True

        def note(container: Container, path: str, found: Counter[int] = found) -> Any:
            nonlocal deepest
            deepest = False
            if is_sequence(container.value):
                found[container.size] += 1
            return container.value

        for name in (name for name in arguments if name in names):
            rewritten(arguments[name], depth, note)
        if deepest:
            return
        yield found
