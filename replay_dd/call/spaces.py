"""The arguments of a call as deltas, level by level.

Rules of this module:

* Level 0 has the elements of the arguments themselves, level 1 the elements of what is inside these, and so on. All
  elements of one level are searched together, whichever argument they are in.
* Numbers and other values without parts stay as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

from replay_dd.call.containers import Container, container_of, has_axes
from replay_dd.call.fields import fields_of, with_fields
from replay_dd.dd import EMPTY, IntervalSet

Arguments = Mapping[str, Any]
# Deeper data are taken as they are, so that no walk through them overflows the stack.
DEEPEST = 60


class Space:
    """Parts of arguments, one delta for each.

    Attributes:
        all: every delta.
        unit: a noun in the singular for one delta.
        arguments: the arguments with all parts.
    """

    all: IntervalSet
    unit: str
    arguments: Arguments

    def build(self, deltas: IntervalSet) -> dict[str, Any]:
        """The arguments with these parts only."""
        raise NotImplementedError  # each kind of space has its own

    def words(self, delta: int) -> str:
        """Where a part is."""
        raise NotImplementedError  # as above


class Level(Space):
    """The elements at one depth.

    Args:
        arguments: the arguments.
        depth: how deep; 0 for the elements of the arguments themselves.
        names: the arguments to look at; the others stay whole.

    Attributes:
        has_containers: whether there is any container at this depth; without one, there is none below.
    """

    def __init__(self, arguments: Arguments, depth: int, names: Collection[str]) -> None:
        self.arguments = arguments
        self.unit = "part" if depth == 0 else f"part at depth {depth + 1}"
        self._depth = depth
        self._names = [name for name in arguments if name in names]
        # In the order of the walk; None where there are no parts of this kind.
        self._found: list[tuple[str, Container | None]] = []

        def note(container: Container, path: str) -> Any:
            self._found.append((path, self._as_parts(container)))
            return container.value

        for name in self._names:
            rewritten(arguments[name], depth, note, name)
        self.has_containers = bool(self._found)
        self.all = IntervalSet.range(0, sum(container.size for _, container in self._found if container))

    def _as_parts(self, container: Container) -> Container | None:
        """The parts of a container that this level has; None if it has none of them."""
        return container

    def build(self, deltas: IntervalSet) -> dict[str, Any]:
        """The arguments with these elements of this level, and all that belongs to other levels."""
        cursor, found = _Cursor(deltas), iter(self._found)

        def keep(container: Container, path: str) -> Any:
            _, parts = next(found)
            if parts is None:
                return container.value
            kept = cursor.next(parts.size)
            return container.value if kept.count == parts.size else parts.keep(kept)

        built = {name: rewritten(self.arguments[name], self._depth, keep) for name in self._names}
        return {name: built.get(name, value) for name, value in self.arguments.items()}

    def words(self, delta: int) -> str:
        """The place of the element."""
        start = 0
        for path, container in self._found:
            if container is None:
                continue
            if delta < start + container.size:
                return path + container.words(delta - start)
            start += container.size
        raise IndexError(delta)


class Whole(Space):
    """Whole arguments; one that is left out is empty.

    Args:
        arguments: the arguments.
        names: those that may be left out.
    """

    unit = "argument"

    def __init__(self, arguments: Arguments, names: Collection[str]) -> None:
        self.arguments = arguments
        self._names = [name for name in arguments if name in names and has_parts(arguments[name])]
        self.all = IntervalSet.range(0, len(self._names))

    def build(self, deltas: IntervalSet) -> dict[str, Any]:
        """The arguments, of which only these are not empty."""
        emptied = {name for number, name in enumerate(self._names) if number not in deltas}
        return {name: empty(value) if name in emptied else value for name, value in self.arguments.items()}

    def words(self, delta: int) -> str:
        """The name of the argument."""
        return self._names[delta]


def levels_below(left: Callable[[], Arguments], names: Collection[str]) -> Iterator[Level]:
    """The levels below the elements of the arguments themselves, of what is left at that moment."""
    for depth in range(1, DEEPEST):
        level = Level(left(), depth, names)
        if level.all:
            yield level
        elif not level.has_containers:
            return


def rewritten(
    value: Any, depth: int, visit: Callable[[Container, str], Any], path: str = "", level: int = 0, above: Any = ()
) -> Any:
    """A value with other containers at one depth.

    Args:
        value: the value.
        depth: how deep the containers are.
        visit: makes the new value of a container, which stands at that path.
        path: where the value stands.
        level: how deep that is.
        above: the identities of the values around this one, so that none is looked for inside itself.
    """
    if isinstance(value, str) and depth != level:
        return value
    if level > DEEPEST or id(value) in above:
        return value
    fields = fields_of(value)
    if fields is not None:
        inner = (*above, id(value))
        made = {name: rewritten(one, depth, visit, f"{path}.{name}", level, inner) for name, one in fields.items()}
        changed = {name: one for name, one in made.items() if one is not fields[name]}
        return with_fields(value, changed) if changed else value
    if has_axes(value):
        container = container_of(value, depth - level)
        return value if container is None else visit(container, path)
    container = container_of(value)
    if container is None:
        return value
    if depth == level:
        return visit(container, path)
    inside = container.inside()
    inner = (*above, id(value))
    new = [
        rewritten(one, depth, visit, path + container.words(number) if _has_inside(one) else "", level + 1, inner)
        for number, one in enumerate(inside)
    ]
    same = all(one is other for one, other in zip(new, inside, strict=True))
    return value if same else container.with_inside(new)


def empty(value: Any) -> Any:
    """The value without any of its elements."""
    return rewritten(value, 0, lambda container, path: container.keep(EMPTY))


def has_parts(value: Any) -> bool:
    """Whether anything can be left out of a value."""
    return bool(Level({"": value}, 0, [""]).all)


def size_of(arguments: Arguments, names: Collection[str]) -> int:
    """How many parts the arguments have, at all depths."""
    total = 0
    for depth in range(DEEPEST):
        level = Level(arguments, depth, names)
        total += level.all.count
        if not level.has_containers:
            break
    return total


def _has_inside(value: Any) -> bool:
    return not isinstance(value, int | float | complex | None)


class _Cursor:
    """Walks through deltas that are numbered in one go over several containers."""

    def __init__(self, deltas: IntervalSet) -> None:
        self._intervals = deltas.intervals
        self._next = 0
        self._start = 0

    def next(self, size: int) -> IntervalSet:
        """Those of the next container, numbered from 0."""
        start, stop = self._start, self._start + size
        self._start = stop
        found: list[tuple[int, int]] = []
        while self._next < len(self._intervals):
            first, last = self._intervals[self._next]
            if first >= stop:
                break
            found.append((max(first, start) - start, min(last, stop) - start))
            if last > stop:
                break
            self._next += 1
        return IntervalSet.from_intervals(found)
