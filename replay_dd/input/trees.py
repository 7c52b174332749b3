"""Trees over a file, and what can be left out of them.

Rules of this module:

* A node is a stretch of the file. Leaving out a node leaves out its bytes, with the separator that would be left over.
* Where a node could be replaced by one of its descendants, the bytes around the descendant are left out. So whatever is
  done, what is left is a subsequence of the file.
* A node that covers the same bytes as its only child is one with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

Cut = tuple[int, int]
"""Bytes that are left out: start and stop."""

_SEPARATORS = (b",", b";")
_BLANKS = b" \t"
# What can stand for each other: nodes whose kinds end in the same word, and everything that is a value.
_VALUES = frozenset(
    (
        *("array", "dictionary", "list", "object", "set", "tuple"),
        *("false", "float", "integer", "literal", "null", "none", "number", "string", "true"),
        *("attribute", "call", "comprehension", "element", "expression", "identifier", "item", "operator", "subscript"),
        "value",
    )
)


@dataclass(slots=True)
class Node:
    """A node of a tree.

    Attributes:
        start: its first byte.
        stop: the byte after its last one.
        kind: what it is, in the words of the grammar.
        children: in order; they do not overlap.
    """

    start: int
    stop: int
    kind: str
    children: list[Node] = field(default_factory=list)


Parse = Callable[[bytes], Node]


def families_at(root: Node, depth: int) -> list[list[Node]]:
    """The children of each node so many levels below the root, in order; without nodes that have none."""
    nodes = [_inside(root)]
    for _ in range(depth):
        nodes = [_inside(child) for node in nodes for child in node.children]
    return [node.children for node in nodes if node.children]


def _inside(node: Node) -> Node:
    """The node, or the innermost one with the same bytes."""
    while len(node.children) == 1 and (node.children[0].start, node.children[0].stop) == (node.start, node.stop):
        node = node.children[0]
    return node


def everything(root: Node) -> Iterator[Node]:
    """A node and all nodes below it, in order of their starts."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += reversed(node.children)


def substitutes(root: Node, rank: int) -> list[tuple[Node, Node]]:
    """For each node that has enough of them, one of its nearest descendants that could take its place.

    Args:
        root: the tree.
        rank: which of the descendants, in order.
    """
    found = []
    for node in everything(root):
        candidates = _nearest(node)
        substitute = next((one for number, one in enumerate(candidates) if number == rank), None)
        if substitute is not None:
            found.append((node, substitute))
    return found


def _nearest(node: Node) -> Iterator[Node]:
    sort = _sort_of(node)
    waiting = list(reversed(node.children))
    while waiting:
        below = waiting.pop()
        if _sort_of(below) == sort and (below.start, below.stop) != (node.start, node.stop):
            yield below
        else:
            waiting += reversed(below.children)


def _sort_of(node: Node) -> str:
    word = node.kind.rpartition("_")[2]
    return "value" if word in _VALUES else word


def cuts_without(content: bytes, siblings: Sequence[Node], left_out: Sequence[bool]) -> Iterator[Cut]:
    """What to leave out of a file for some of the children of one node.

    Args:
        content: the file.
        siblings: all children.
        left_out: which of them.
    """
    separated = [content[one.stop : other.start].strip() in _SEPARATORS for one, other in pairwise(siblings)]
    any_before = False
    for number, (node, goes) in enumerate(zip(siblings, left_out, strict=True)):
        if not goes:
            any_before = True
        elif any_before and separated[number - 1]:
            yield siblings[number - 1].stop, node.stop
        elif number < len(separated) and separated[number]:
            yield node.start, siblings[number + 1].start
        else:
            yield _with_blanks(content, node)


def _with_blanks(content: bytes, node: Node) -> Cut:
    """The node with the blanks before it; with its whole line, and empty ones after it, if nothing else is on it."""
    start, stop = node.start, node.stop
    while start and content[start - 1] in _BLANKS:
        start -= 1
    after = stop
    while after < len(content) and content[after] in _BLANKS:
        after += 1
    starts_line = start == 0 or content[start - 1] == ord("\n")
    for end in (b"\n", b"\r\n"):
        if starts_line and content.startswith(end, after):
            return start, _past_empty_lines(content, after + len(end))
    return (node.start, stop) if starts_line else (start, stop)


def around(node: Node, substitute: Node) -> tuple[Cut, Cut]:
    """What to leave out to replace a node by a descendant."""
    return (node.start, substitute.start), (substitute.stop, node.stop)


def left_of(content: bytes, cuts: Iterable[Cut]) -> Iterator[Cut]:
    """What is left of a file without these bytes, and without lines of which they leave only blanks; empty ones follow.

    Args:
        content: the file.
        cuts: may overlap.

    Returns:
        Starts and stops, in order.
    """
    stretches = list(_around(len(content), cuts))
    # The pieces of lines that were cut, by the start of the line.
    pieces: dict[int, list[Cut]] = {}
    for start, stop in stretches:
        line = content.rfind(b"\n", 0, start) + 1
        last = content.rfind(b"\n", 0, stop) + 1
        if line < start:
            pieces.setdefault(line, []).append((start, min(stop, _end_of_line(content, start))))
        if last < stop < _end_of_line(content, last) and last >= start:
            pieces.setdefault(last, []).append((last, stop))
    blank = [
        (start, _past_empty_lines(content, stop))
        for line in pieces.values()
        if not _text(content, line).strip()
        for start, stop in line
    ]
    return _around(len(content), [*_between(stretches, len(content)), *blank]) if blank else iter(stretches)


def _past_empty_lines(content: bytes, place: int) -> int:
    """Where the next line with anything on it begins; the same place if that is inside a line."""
    if content[place - 1 : place] == b"\n":
        while (length := 2 * content.startswith(b"\r\n", place) or content.startswith(b"\n", place)) > 0:
            place += length
    return place


def _end_of_line(content: bytes, place: int) -> int:
    return content.find(b"\n", place) + 1 or len(content)


def _text(content: bytes, pieces: Iterable[Cut]) -> bytes:
    return b"".join(content[start:stop] for start, stop in pieces)


def _between(stretches: Sequence[Cut], length: int) -> Iterator[Cut]:
    edges = [0, *(edge for stretch in stretches for edge in stretch), length]
    return zip(edges[::2], edges[1::2], strict=True)


def _around(length: int, cuts: Iterable[Cut]) -> Iterator[Cut]:
    place = 0
    for start, stop in sorted(cuts):
        if start > place:
            yield place, start
        place = max(place, stop)
    if place < length:
        yield place, length
