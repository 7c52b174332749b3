"""A tree of any text with brackets, without a grammar.

Rules of this module:

* Brackets are (), [] and {}, and quotes on one line. Those inside quotes do not count, nor do those without a partner.
* Where fewer than half of the brackets have a partner, they are no brackets: such a text has only lines.
* What is inside brackets, and the whole file, is a sequence of items that commas, semicolons and line ends separate.
* Where such a sequence has several lines, items that share a line belong together: the line goes before its items do,
  as a row of a table does before its cells.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from replay_dd.input.trees import Node

_PARTS = re.compile(rb"\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|[()\[\]{}]|[,;\n]")
_TEXT_OF_LINE = re.compile(rb"\S(?:[^\n]*\S)?")
_CLOSING = {b"(": b")", b"[": b"]", b"{": b"}"}
_QUOTES = b"\"'"
_SEPARATORS = (b",", b";", b"\n")


def bracket_tree(content: bytes) -> Node:
    """The tree of a text."""
    partners = _partners(content)
    brackets = sum(map(content.count, (*_CLOSING.keys(), *_CLOSING.values())))
    if 2 * len(partners) < brackets:
        lines = (match.span() for match in _TEXT_OF_LINE.finditer(content))
        return Node(0, len(content), "brackets", [Node(*line, "item") for line in lines])
    root = Node(0, len(content), "brackets")
    # Groups that are open, each with the item that it is filling: where that begins, and the groups in it.
    groups, starts, inside = [root], [0], [list[Node]()]

    def end_item(stop: int) -> None:
        start = starts[-1]
        while start < stop and content[start : start + 1].isspace():
            start += 1
        while stop > start and content[stop - 1 : stop].isspace():
            stop -= 1
        if start < stop:
            groups[-1].children.append(Node(start, stop, "item", inside[-1]))
        inside[-1] = []

    for match in _PARTS.finditer(content):
        part, place = match[0], match.start()
        if part[0] in _QUOTES:
            inside[-1].append(_quoted(place, match.end()))
        elif part in _SEPARATORS:
            end_item(place)
            starts[-1] = match.end()
        elif place in partners:
            if part in _CLOSING:
                group = Node(place, partners[place] + 1, "brackets")
                inside[-1].append(group)
                groups.append(group)
                starts.append(match.end())
                inside.append([])
            else:
                end_item(place)
                ended = groups.pop()
                ended.children = _by_lines(content, ended.children)
                starts.pop()
                inside.pop()
    end_item(len(content))
    root.children = _by_lines(content, root.children)
    return root


def _by_lines(content: bytes, items: Sequence[Node]) -> list[Node]:
    """Items, those that share a line as one item; all as they are if that would be a single one."""
    rows: list[list[Node]] = []
    for item in items:
        if rows and b"\n" not in content[rows[-1][-1].stop : item.start]:
            rows[-1].append(item)
        else:
            rows.append([item])
    if len(rows) == 1:
        return list(items)
    return [row[0] if len(row) == 1 else Node(row[0].start, row[-1].stop, "line", row) for row in rows]


def _quoted(start: int, stop: int) -> Node:
    text = [Node(start + 1, stop - 1, "text")] if stop - start > 2 else []
    return Node(start, stop, "quotes", text)


def _partners(content: bytes) -> dict[int, int]:
    """For each bracket that has a partner, where that is."""
    found: dict[int, int] = {}
    waiting: list[tuple[bytes, int]] = []
    for match in _PARTS.finditer(content):
        part, place = match[0], match.start()
        if part in _CLOSING:
            waiting.append((_CLOSING[part], place))
        elif part in _CLOSING.values():
            closes = next((at for at in reversed(range(len(waiting))) if waiting[at][0] == part), None)
            if closes is not None:
                found[waiting[closes][1]] = place
                found[place] = waiting[closes][1]
                del waiting[closes:]
    return found
