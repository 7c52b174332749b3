"""A tree of any text with brackets, without a grammar.

Rules of this module:

* Brackets are (), [] and {}, tags of markup such as <b> and </b>, and quotes on one line. Those inside quotes do not
  count, nor do those without a partner. Quotes and other brackets do not reach across tags: in text, they often
  have no partner.
* Lines that begin and end something by name, such as BEGIN:VCARD and END:VCARD, are tags, too.
* A tag that closes itself, such as <br/>, is a whole without a partner. The attributes of a tag are parts of it.
* Where fewer than half of the brackets have a partner, they are no brackets: such a text has only lines and
  tags.
* What is inside brackets, and the whole file, is a sequence of items that commas, semicolons and line ends separate.
* Where such a sequence has several lines, items that share a line belong together: the line goes before its items do,
  as a row of a table does before its cells.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from replay_dd.input.trees import Node

_PARTS = re.compile(rb"\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|[()\[\]{}]|[,;\n]")
_TAG = re.compile(rb"<(/?)([A-Za-z_][\w.:-]*)(?:[^<>\"']|\"[^<\"]*\"|'[^<']*')*>")
# As in vCard and iCalendar, PEM, LaTeX and scripts of databases.
_BLOCK = re.compile(
    rb"^[ \t]*(?:\\(begin|end)\{([^{}\n]+)\}|-*(begin|end)(?::|[ \t]+)([^\n]*[^\s-]))-*[ \t\r]*",
    re.IGNORECASE | re.MULTILINE,
)
_ATTRIBUTE = re.compile(rb"(?<=[\s\"'])[\w:.-]+(?:\s*=\s*(?:(\"[^<\"]*\"|'[^'<]*')|[^\s\"'<>/]+))?")
_CLOSES_ITSELF = b"/>"
_CLOSING = {b"(": b")", b"[": b"]", b"{": b"}"}
_QUOTES = b"\"'"
_END_OF_LINE = b"\n"
_SEPARATORS = (b",", b";", _END_OF_LINE)


class _Part(NamedTuple):
    """What ends an item, or may have a partner: a bracket, quotes, a separator, a tag.

    Attributes:
        start: where it begins.
        stop: where it ends.
        text: what it is; of tags, how they close.
        opens: whether it is an opening one.
        is_tag: whether it is a tag.
        closes_itself: whether it is a tag without a partner.
    """

    start: int
    stop: int
    text: bytes
    opens: bool
    is_tag: bool
    closes_itself: bool = False


def bracket_tree(content: bytes) -> Node:
    """The tree of a text."""
    parts = list(_parts(content))
    partners = _partners(parts)
    brackets = sum(map(content.count, (*_CLOSING.keys(), *_CLOSING.values())))
    if 2 * sum(not part.is_tag and part.start in partners for part in parts) < brackets:
        parts = [part for part in parts if part.is_tag or part.text == _END_OF_LINE]
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

    for part in parts:
        place = part.start
        if part.text[0] in _QUOTES:
            inside[-1].append(_quoted(place, part.stop))
        elif part.closes_itself:
            inside[-1].append(Node(place, part.stop, "tags", _attributes(content, part)))
        elif part.text in _SEPARATORS:
            end_item(place)
            starts[-1] = part.stop
        elif place in partners:
            if part.opens:
                group = Node(place, partners[place].stop, "tags" if part.is_tag else "brackets")
                inside[-1].append(group)
                groups.append(group)
                starts.append(part.stop)
                inside.append([])
            else:
                end_item(place)
                ended = groups.pop()
                attributes = _attributes(content, partners[place]) if part.is_tag else []
                ended.children = [*attributes, *_by_lines(content, ended.children)]
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


def _attributes(content: bytes, tag: _Part) -> list[Node]:
    """The attributes of a tag, each with its value in it if that is quoted."""
    if content[tag.start : tag.start + 1] != b"<":
        return []
    return [
        Node(*match.span(), "attribute", [_quoted(*match.span(1))] if match[1] else [])
        for match in _ATTRIBUTE.finditer(content, tag.start, tag.stop)
    ]


def _quoted(start: int, stop: int) -> Node:
    text = [Node(start + 1, stop - 1, "text")] if stop - start > 2 else []
    return Node(start, stop, "quotes", text)


def _parts(content: bytes) -> Iterator[_Part]:
    """All parts of a text, in order."""
    tags = _tags(content)
    for before, tag in pairwise([_Part(0, 0, b"", False, True), *tags, _Part(len(content), 0, b"", False, True)]):
        for match in _PARTS.finditer(content, before.stop, tag.start):
            yield _Part(match.start(), match.end(), match[0], match[0] in _CLOSING, False)
        if tag.stop:
            yield tag


def _tags(content: bytes) -> list[_Part]:
    """The tags that have a partner among each other, or need none."""
    tags = []
    if b"</" in content or _CLOSES_ITSELF in content:
        tags = [
            _Part(
                *match.span(), b"</" + match[2], not match[1], True, not match[1] and match[0].endswith(_CLOSES_ITSELF)
            )
            for match in _TAG.finditer(content)
        ]
    blocks = [
        _Part(*match.span(), b"end " + (match[2] or match[4]), (match[1] or match[3]).lower() == b"begin", True)
        for match in _BLOCK.finditer(content)
    ]
    # In a page, such a line is text.
    tags = tags or blocks
    partners = _partners(tags)
    return [tag for tag in tags if tag.closes_itself or tag.start in partners]


def _partners(parts: Sequence[_Part]) -> dict[int, _Part]:
    """For the start of each bracket or tag that has a partner, that."""
    found: dict[int, _Part] = {}
    waiting: list[tuple[bytes, _Part]] = []
    count: Counter[bytes] = Counter()  # of those that wait, so that none is looked for in vain
    closing = {*_CLOSING.values()}
    for part in parts:
        if part.closes_itself:
            continue
        if part.opens:
            waiting.append((part.text if part.is_tag else _CLOSING[part.text], part))
            count[waiting[-1][0]] += 1
        elif (part.is_tag or part.text in closing) and count[part.text]:
            closes = next(_open(waiting, part), None)
            if closes is not None:
                found[waiting[closes][1].start] = part
                found[part.start] = waiting[closes][1]
                count.subtract(text for text, _ in waiting[closes:])
                del waiting[closes:]
    return found


def _open(waiting: Sequence[tuple[bytes, _Part]], part: _Part) -> Iterator[int]:
    """Where the opening ones stand that a closing one may have as its partner; a bracket has none beyond a tag."""
    for at in reversed(range(len(waiting))):
        if waiting[at][0] == part.text:
            yield at
        if waiting[at][1].is_tag and not part.is_tag:
            return
