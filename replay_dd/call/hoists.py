"""Containers in the place of those that they are inside of: levels of nesting that no failure needs.

Rules of this module:

* A container gives way to the nearest ones of its sort inside it, whatever is between: a node of a tree to a node below
  it. Sorts are mappings, sequences, sets, and each transparent class. It also gives way to any that is directly inside.
* No text or number takes the place of a container: what a function expects to hold values should go on holding some.
* Of each container, only the first few that could take its place are tried.
* What holds the arguments ``*args`` and ``**kwargs`` stays. So do arguments that are deeper than levels are searched.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from types import NoneType
from typing import Any

from replay_dd.call.containers import container_of, has_axes
from replay_dd.call.fields import fields_of, with_fields
from replay_dd.call.spaces import DEEPEST, Arguments, Space
from replay_dd.dd import IntervalSet

_MOST_TRIED = 8  # of the containers inside of one
_SIMPLE = (str, bytes, bytearray, int, float, complex, NoneType)
_SORTS = (Mapping, Set, Sequence, object)


class _TooDeepError(Exception):
    pass


class Hoists(Space):
    """Containers that may give way to one inside them.

    Args:
        arguments: the arguments.
        names: those to look into; the others stay whole.
        spread: those that hold several arguments, as ``*args`` does.
        rank: which of those inside takes the place, in order.
    """

    unit = "container"

    def __init__(self, arguments: Arguments, names: Collection[str], spread: Collection[str], rank: int = 0) -> None:
        self.arguments = arguments
        self._paths: list[str] = []
        self._nodes: dict[str, _Node] = {}
        for name in (name for name in arguments if name in names):
            with suppress(_TooDeepError):
                self._nodes |= _present({name: _node(arguments[name])})
        for name, node in self._nodes.items():
            self._number(node, name, rank, may_go=name not in spread)
        self.all = IntervalSet.range(0, len(self._paths))

    def build(self, deltas: IntervalSet) -> dict[str, Any]:
        """The arguments in which these containers still stand around those inside them."""
        return {
            name: self._nodes[name].build(deltas) if name in self._nodes else value
            for name, value in self.arguments.items()
        }

    def words(self, delta: int) -> str:
        """Where the container is that would give way."""
        return self._paths[delta]

    def _number(self, node: _Node, path: str, rank: int, *, may_go: bool) -> None:
        node.instead = next(islice(_substitutes(node), rank, rank + 1), None) if may_go else None
        if node.instead is not None:
            node.number = len(self._paths)
            self._paths.append(path)
        for child in node.children.values():
            self._number(child, path + child.place, rank, may_go=True)


def hoists(left: Callable[[], Arguments], names: Collection[str], spread: Collection[str]) -> Iterator[Hoists]:
    """The containers that may give way, rank by rank, of what is left of the arguments at that moment."""
    for rank in range(_MOST_TRIED):
        found = Hoists(left(), names, spread, rank)
        if not found.all:
            return
        yield found


def nesting_of(arguments: Arguments, names: Collection[str]) -> int:
    """How many containers have others inside them."""
    return Hoists(arguments, names, ()).all.count


@dataclass(slots=True, eq=False)
class _Node:
    """A container.

    Attributes:
        value: the container.
        place: where it is in the one around it.
        sort: what it can give way to, whatever is between.
        made: the container with others inside, by number or name.
        children: the containers directly inside, by number or name.
        number: the delta that keeps it, if anything can take its place.
        instead: what takes its place; None if it always stays.
    """

    value: Any
    place: str
    sort: object
    made: Callable[[Mapping[Any, Any]], Any]
    children: dict[Any, _Node]
    number: int = -1
    instead: _Node | None = None

    def build(self, deltas: IntervalSet) -> Any:
        """The container if these deltas stay."""
        if self.instead is not None and self.number not in deltas:
            return self.instead.build(deltas)
        built = {key: child.build(deltas) for key, child in self.children.items()}
        changed = {key: one for key, one in built.items() if one is not self.children[key].value}
        return self.made(changed) if changed else self.value


def _substitutes(node: _Node) -> Iterator[_Node]:
    """What can take the place of a container: the nearest ones of its sort, then what is directly inside it."""
    waiting = list(reversed(node.children.values()))
    while waiting:
        below = waiting.pop()
        if below.sort == node.sort:
            yield below
        else:
            waiting += reversed(below.children.values())
    yield from (child for child in node.children.values() if child.sort != node.sort)


def _node(value: Any, place: str = "", above: tuple[int, ...] = ()) -> _Node | None:
    """A container, and those inside it; None for any other value."""
    if isinstance(value, _SIMPLE) or id(value) in above:
        return None
    if len(above) > DEEPEST:
        raise _TooDeepError
    inner = (*above, id(value))
    fields = fields_of(value)
    if fields is not None:
        named = {name: _node(one, f".{name}", inner) for name, one in fields.items()}
        return _Node(value, place, type(value), lambda changed: with_fields(value, changed), _present(named))
    container = container_of(value)
    if container is None:
        return None
    inside = () if has_axes(value) else container.inside()
    found = {number: _node(one, container.words(number), inner) for number, one in enumerate(inside)}

    def made(changed: Mapping[Any, Any]) -> Any:
        return container.with_inside([changed.get(number, one) for number, one in enumerate(inside)])

    return _Node(value, place, next(sort for sort in _SORTS if isinstance(value, sort)), made, _present(found))


def _present(nodes: Mapping[Any, _Node | None]) -> dict[Any, _Node]:
    return {key: node for key, node in nodes.items() if node is not None}
