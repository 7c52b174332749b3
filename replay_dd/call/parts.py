"""All parts of arguments at all depths, numbered together, so that some of a part's inside can be there and some not.

Rules of this module:

* Parts are numbered in the order in which they are written: first a part, then what is inside it. A part whose
  surrounding one is left out is not there either.
* An array has only the parts of its first axis here.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from replay_dd.call.containers import container_of, has_axes
from replay_dd.call.fields import fields_of, with_fields
from replay_dd.call.spaces import DEEPEST, Arguments, Space
from replay_dd.dd import IntervalSet


class Parts:
    """The parts of some arguments.

    Args:
        arguments: the arguments.
        names: those to look into; the others stay whole.

    Attributes:
        top: the outermost parts.
    """

    def __init__(self, arguments: Arguments, names: Collection[str]) -> None:
        self._arguments = arguments
        # For each part: the first number after those of its inside, and the number of the part around it.
        self._ends: list[int] = []
        self._around: list[int | None] = []
        self._nodes = {name: self._node(value, None, 0, ()) for name, value in arguments.items() if name in names}
        self.top = list(self._children(0, len(self._ends)))

    def build(self, kept: IntervalSet) -> dict[str, Any]:
        """The arguments with these parts only."""
        chosen = _Chosen(kept)
        return {
            name: self._nodes[name].build(chosen) if name in self._nodes else value
            for name, value in self._arguments.items()
        }

    def whole(self, part: int) -> IntervalSet:
        """A part with all that is inside it."""
        return IntervalSet.range(part, self._ends[part])

    def emptied(self, part: int) -> IntervalSet:
        """A part without what is inside it."""
        return IntervalSet.range(part, part + 1)

    def has_inside(self, part: int) -> bool:
        """Whether anything is inside a part."""
        return self._ends[part] > part + 1

    def inside(self, part: int) -> Iterator[int]:
        """The parts that are directly inside one."""
        return self._children(part + 1, self._ends[part])

    def addable(self, kept: IntervalSet) -> list[int]:
        """The parts that are left out, and that nothing around them keeps from being added."""
        found = []
        left_out = IntervalSet.range(0, len(self._ends)) - kept
        for start, stop in left_out.intervals:
            for part in range(start, stop):
                around = self._around[part]
                if around is None or around in kept:
                    found.append(part)
        return found

    def with_surroundings(self, parts: IntervalSet) -> IntervalSet:
        """The parts, and all that they are inside of."""
        found = set(parts)
        for part in parts:
            around = self._around[part]
            while around is not None and around not in found:
                found.add(around)
                around = self._around[around]
        return IntervalSet.of(sorted(found))

    def _children(self, start: int, stop: int) -> Iterator[int]:
        while start < stop:
            yield start
            start = self._ends[start]

    def _node(self, value: Any, around: int | None, depth: int, above: tuple[int, ...]) -> _Node:
        start = len(self._ends)
        if depth > DEEPEST or id(value) in above:
            return _Node(start, start, value, lambda chosen: value)
        inner = (*above, id(value))
        fields = fields_of(value)
        if fields is not None:
            nodes = {name: self._node(one, around, depth, inner) for name, one in fields.items()}
            return _Node(start, len(self._ends), value, lambda chosen: _with_nodes(value, fields, nodes, chosen))
        container = container_of(value)
        if container is None:
            return _Node(start, start, value, lambda chosen: value)
        inside: Sequence[Any] = () if has_axes(value) or isinstance(value, str) else container.inside()
        if not inside:
            self._ends += range(start + 1, start + container.size + 1)
            self._around += [around] * container.size
            return _Node(
                start,
                len(self._ends),
                value,
                lambda chosen: container.keep(chosen.within(start, start + container.size)),
            )
        numbered: list[tuple[int, _Node]] = []
        for one in inside:
            number = len(self._ends)
            self._ends.append(0)
            self._around.append(around)
            numbered.append((number, self._node(one, number, depth + 1, inner)))
            self._ends[number] = len(self._ends)

        def rebuilt(chosen: _Chosen) -> Any:
            kept = [place for place, (number, _) in enumerate(numbered) if chosen.covers(number, number + 1)]
            values = [numbered[place][1].build(chosen) for place in kept]
            left = container_of(container.keep(IntervalSet.of(kept)))
            assert left is not None
            return left.with_inside(values)

        return _Node(start, len(self._ends), value, rebuilt)


class Additions(Space):
    """Parts that may be added to some that are there.

    Args:
        parts: all parts.
        base: those that are there.
        added: what each delta adds.
    """

    unit = "part"

    def __init__(self, parts: Parts, base: IntervalSet, added: Iterable[IntervalSet]) -> None:
        self._parts = parts
        self._base = base
        self._added = list(added)
        self.all = IntervalSet.range(0, len(self._added))
        self.arguments = self.build(self.all)

    def kept(self, deltas: IntervalSet) -> IntervalSet:
        """The parts of a configuration."""
        edges = sorted(interval for delta in deltas for interval in self._added[delta].intervals)
        return self._base | IntervalSet.from_intervals(edges)

    def build(self, deltas: IntervalSet) -> dict[str, Any]:
        """The arguments with these additions."""
        return self._parts.build(self.kept(deltas))


@dataclass(frozen=True, slots=True)
class _Node:
    """A value: the numbers of all parts in it, and how it is made anew from some of them."""

    start: int
    stop: int
    value: Any
    rebuilt: Callable[[_Chosen], Any]

    def build(self, chosen: _Chosen) -> Any:
        return self.value if chosen.covers(self.start, self.stop) else self.rebuilt(chosen)


class _Chosen:
    """Chosen numbers, for many questions about ranges of them."""

    def __init__(self, numbers: IntervalSet) -> None:
        self._intervals = numbers.intervals
        self._starts = [start for start, _ in self._intervals]

    def covers(self, start: int, stop: int) -> bool:
        """Whether all of a range are chosen."""
        at = bisect_right(self._starts, start) - 1
        return start == stop or (at >= 0 and self._intervals[at][1] >= stop)

    def within(self, start: int, stop: int) -> IntervalSet:
        """The chosen ones of a range, counted from its start."""
        found = []
        for first, last in self._intervals[max(0, bisect_right(self._starts, start) - 1) :]:
            if first >= stop:
                break
            if last > start:
                found.append((max(first, start) - start, min(last, stop) - start))
        return IntervalSet.from_intervals(found)


def _with_nodes(value: Any, fields: dict[str, Any], nodes: dict[str, _Node], chosen: _Chosen) -> Any:
    built = {name: node.build(chosen) for name, node in nodes.items()}
    changed = {name: one for name, one in built.items() if one is not fields[name]}
    return with_fields(value, changed) if changed else value
