"""What the deltas of one search are, and what a configuration of them is as a file.

Rules of this module:

* A space is made for one content (or two) and one level; the next level gets a space of its own, made from the answer.
* To simplify, a delta is a unit that is kept. To isolate, a delta changes the passing content into the failing one.
* Building a file costs as much as its size and the intervals of the configuration, never a list of all units.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from itertools import pairwise

from replay_dd.dd import IntervalSet
from replay_dd.dd.changes import Change, Changes, deltas_between
from replay_dd.input.trees import Cut, Node, around, cuts_without, left_of, ways_out
from replay_dd.input.units import Edges, Level, decoded

_SHOWN = 60
_LONGEST_LINE = 1000
_NO_TEXT = re.compile(r"\\udc([89a-f][0-9a-f])")  # how a byte that is not UTF-8 looks in a repr


class Space(ABC):
    """The configurations of one search.

    Attributes:
        unit: a noun in the singular for one delta.
        all: all deltas.
        coarse: whether a finer search of all that is left comes next.
        dense: whether most units are expected to be needed.
    """

    coarse = False
    dense = False
    unit: str
    all: IntervalSet

    @abstractmethod
    def build(self, configuration: IntervalSet) -> bytes:
        """The file that a configuration stands for."""

    @abstractmethod
    def words(self, delta: int) -> str:
        """Describe one delta."""


class Left(Space):
    """A space whose configurations are stretches of one file.

    Args:
        content: the file.

    Attributes:
        content: the same.
    """

    def __init__(self, content: bytes) -> None:
        self.content = content

    @abstractmethod
    def kept(self, configuration: IntervalSet) -> IntervalSet:
        """The numbers of the bytes that a configuration keeps."""

    @abstractmethod
    def stretch(self, delta: int) -> Cut:
        """The bytes of a unit: start and stop."""

    def touched(self, these: IntervalSet) -> Iterator[int]:
        """The units that hold any of these bytes."""
        return (delta for delta in self.all if IntervalSet.range(*self.stretch(delta)) & these)

    def build(self, configuration: IntervalSet) -> bytes:
        """These bytes."""
        return joined(self.content, self.kept(configuration))


class Kept(Left):
    """Units of a file, of which some are kept.

    Args:
        content: the file.
        level: how to cut it.
    """

    def __init__(self, content: bytes, level: Level) -> None:
        super().__init__(content)
        self.unit = level.unit
        self._edges: Edges = level.edges(content)
        self.all = IntervalSet.range(0, len(self._edges) - 1)

    def kept(self, configuration: IntervalSet) -> IntervalSet:
        """The bytes of these units."""
        edges = self._edges
        return IntervalSet.from_intervals((edges[start], edges[stop]) for start, stop in configuration.intervals)

    def stretch(self, delta: int) -> Cut:
        """The unit."""
        return self._edges[delta], self._edges[delta + 1]

    def words(self, delta: int) -> str:
        """The unit, with its number."""
        start, stop = self.stretch(delta)
        return f"{self.unit} {delta + 1}: {shown(self.content[start:stop])}"


class Inside(Left):
    """Units in parts of a file, of which some are kept; what is around these parts stays.

    Args:
        content: the file.
        parts: where the parts begin and end, in order, and how to cut each of them.
    """

    def __init__(self, content: bytes, parts: Sequence[tuple[Cut, Level]]) -> None:
        super().__init__(content)
        units = {level.unit for _, level in parts}
        self.unit = units.pop() if len(units) == 1 else "unit"
        self._units: list[Cut] = []
        for (first, last), level in parts:
            edges = level.edges(content[first:last])
            self._units += ((first + start, first + stop) for start, stop in pairwise(edges))
        self.all = IntervalSet.range(0, len(self._units))

    def kept(self, configuration: IntervalSet) -> IntervalSet:
        """All bytes but those of the units that are not kept."""
        cuts = IntervalSet.from_intervals(self._units[number] for number in self.all - configuration)
        return IntervalSet.range(0, len(self.content)) - cuts

    def stretch(self, delta: int) -> Cut:
        """The unit."""
        return self._units[delta]

    def words(self, delta: int) -> str:
        """The unit."""
        start, stop = self._units[delta]
        return f"{self.unit}: {shown(self.content[start:stop])}"


class Cuts(Left):
    """Cuts of a file, of which some are not made.

    Args:
        content: the file.
        unit: a noun in the singular for what a delta cuts out.
        cuts: what each delta cuts out, which may overlap with what others do.
    """

    def __init__(self, content: bytes, unit: str, cuts: Sequence[Sequence[Cut]]) -> None:
        super().__init__(content)
        self.unit = unit
        self._cuts = cuts
        self.all = IntervalSet.range(0, len(cuts))

    def kept(self, configuration: IntervalSet) -> IntervalSet:
        """All bytes but those that the other deltas cut out."""
        cuts = IntervalSet.from_intervals(cut for number in self.all - configuration for cut in self._cuts[number])
        return IntervalSet.range(0, len(self.content)) - cuts

    def stretch(self, delta: int) -> Cut:
        """From the first byte to the last one that it cuts out."""
        cuts = self._cuts[delta]
        return min(start for start, _ in cuts), max(stop for _, stop in cuts)

    def words(self, delta: int) -> str:
        """What it cuts out."""
        return f"{self.unit}: {shown(b''.join(self.content[start:stop] for start, stop in self._cuts[delta]))}"


class Subtrees(Left):
    """Nodes of a tree, of which some are kept.

    Args:
        content: the file.
        families: the nodes, as the children of one node each.
    """

    unit = "subtree"

    def __init__(self, content: bytes, families: Sequence[Sequence[Node]]) -> None:
        super().__init__(content)
        self._ways_out = [ways_out(content, family) for family in families]
        self._nodes = [node for family in families for node in family]
        self.all = IntervalSet.range(0, len(self._nodes))

    def kept(self, configuration: IntervalSet) -> IntervalSet:
        """All bytes but those of the nodes that are not kept."""
        left_out = [True] * len(self._nodes)
        for start, stop in configuration.intervals:
            left_out[start:stop] = [False] * (stop - start)
        cuts: list[Cut] = []
        first = 0
        for ways in self._ways_out:
            cuts += cuts_without(ways, left_out[first : first + len(ways)])
            first += len(ways)
        return IntervalSet.from_intervals(left_of(self.content, cuts))

    def stretch(self, delta: int) -> Cut:
        """The node."""
        node = self._nodes[delta]
        return node.start, node.stop

    def words(self, delta: int) -> str:
        """The kind of the node, and its text."""
        node = self._nodes[delta]
        return f"{node.kind}: {shown(self.content[node.start : node.stop])}"


class Replaced(Left):
    """Nodes of a tree; those that are not kept are replaced by one of their descendants.

    Args:
        content: the file.
        pairs: the nodes, each with the descendant.
    """

    unit = "subtree"

    def __init__(self, content: bytes, pairs: Sequence[tuple[Node, Node]]) -> None:
        super().__init__(content)
        self._pairs = pairs
        self.all = IntervalSet.range(0, len(pairs))

    def kept(self, configuration: IntervalSet) -> IntervalSet:
        """All bytes but those that surround what replaces the nodes that are not kept."""
        cuts = [cut for number in self.all - configuration for cut in around(*self._pairs[number])]
        return IntervalSet.range(0, len(self.content)) - IntervalSet.from_intervals(cuts)

    def stretch(self, delta: int) -> Cut:
        """The node."""
        node, _ = self._pairs[delta]
        return node.start, node.stop

    def words(self, delta: int) -> str:
        """The kind of the node, and its text."""
        node, _ = self._pairs[delta]
        return f"{node.kind}: {shown(self.content[node.start : node.stop])}"


class Rewritten(Space):
    """A file that is written in another way, as a whole or not.

    Args:
        content: the file.
        other: the same in the other way.
        unit: a noun in the singular for what it consists of.
    """

    def __init__(self, content: bytes, other: bytes, unit: str) -> None:
        self._ways = other, content
        self.unit = unit
        self.all = IntervalSet.range(0, 1)
        self.coarse = True

    def build(self, configuration: IntervalSet) -> bytes:
        """As it was, or in the other way."""
        return self._ways[configuration.count]

    def words(self, delta: int) -> str:
        """All of it."""
        return f"all {self.unit}s as they were written"


class Changed(Space):
    """Changes that lead from a passing file to a failing one.

    Args:
        passing: the passing file.
        failing: the failing file.
        level: how to cut both.
        hunks: whether changes that follow each other without a common unit in between are one delta.
    """

    def __init__(self, passing: bytes, failing: bytes, level: Level, *, hunks: bool = False) -> None:
        self._before = _pieces(passing, level)
        self._changes: Changes[list[bytes]] = deltas_between(self._before, _pieces(failing, level))
        self._starts: Edges = _hunks(self._changes) if hunks else range(len(self._changes) + 1)
        self.unit = "hunk" if hunks else level.unit
        self.all = IntervalSet.range(0, len(self._starts) - 1)

    def build(self, configuration: IntervalSet) -> bytes:
        """The passing file with these changes."""
        starts = self._starts
        changes = IntervalSet.from_intervals((starts[first], starts[end]) for first, end in configuration.intervals)
        return b"".join(self._changes.apply(changes))

    def words(self, delta: int) -> str:
        """The change, with its place in the passing file."""
        changes = [self._changes[number] for number in range(*self._starts[delta : delta + 2])]
        removed, inserted = (b"".join(map(b"".join, parts)) for parts in zip(*map(_parts, changes), strict=True))
        where = self._place(changes[0].position)
        if not removed:
            return f"{where}: {shown(inserted)} inserted"
        if not inserted:
            return f"{where}: {shown(removed)} removed"
        return f"{where}: {shown(removed)} becomes {shown(inserted)}"

    def _place(self, position: int) -> str:
        """Where a unit of the passing file is, for people."""
        before = b"".join(self._before[:position])
        line, column = before.count(b"\n") + 1, len(decoded(before[before.rfind(b"\n") + 1 :])) + 1
        return f"line {line}" if column == 1 and self.unit in ("hunk", "line") else f"line {line}, column {column}"


def _parts(change: Change[list[bytes]]) -> tuple[list[bytes], list[bytes]]:
    return change.removed, change.inserted


def _pieces(content: bytes, level: Level) -> list[bytes]:
    edges = level.edges(content)
    return [content[start:stop] for start, stop in pairwise(edges)]


def _hunks(changes: Changes[list[bytes]]) -> Edges:
    """Where groups of changes begin that touch each other; and the number of changes."""
    starts, end = [], -1
    for number, change in enumerate(changes):
        if change.position != end:
            starts.append(number)
        end = change.position + len(change.removed)
    return [*starts, len(changes)]


def joined(content: bytes | bytearray, kept: IntervalSet) -> bytes:
    """These bytes of a file."""
    return b"".join(content[start:stop] for start, stop in kept.intervals)


def shown(content: bytes) -> str:
    """A part of a file in quotes, in one short line without control characters."""
    text = _harmless(repr(decoded(content[: 4 * _SHOWN])))
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 4]}...{text[0]}"


def lines_shown(content: bytes, most: int) -> Sequence[str]:
    """The first lines of a file for a terminal, without control characters."""
    lines = decoded(content[: most * _LONGEST_LINE]).splitlines()[:most]
    return ["".join(c if c.isprintable() else _harmless(repr(c)[1:-1]) for c in line.expandtabs()) for line in lines]


def _harmless(text: str) -> str:
    return _NO_TEXT.sub(r"\\x\1", text)
