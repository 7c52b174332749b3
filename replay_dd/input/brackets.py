"""A tree of any text with brackets, without a grammar.

Rules of this module:

* Brackets are (), [] and {}, and quotes on one line. Those inside quotes do not count, nor do those without a partner.
* Where fewer than half of the brackets have a partner, they are no brackets: such a text has only lines.
* What is inside brackets, and the whole file, is a sequence of items that commas, semicolons and line ends separate.
"""

from __future__ import annotations

import re

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
                groups.pop()
                starts.pop()
                inside.pop()
    end_item(len(content))
    return root


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
