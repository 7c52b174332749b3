"""Lines of texts, and what brackets enclose in them, as parts: what no single character can be left out of.

Rules of this module:

* Brackets are paired without a grammar: those without a partner, and those around them, enclose nothing.
* A block goes with the comma or semicolon after it, and the space after that.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from typing import Any

from replay_dd.call.containers import Container, is_text
from replay_dd.call.spaces import Arguments, Level
from replay_dd.dd import IntervalSet

_DEEPEST = 20
_PAIRS = {")": "(", "]": "[", "}": "{"}
_BRACKETS = re.compile(r"[()\[\]{}]")
_AFTER = re.compile(r"\s*[,;]?\s*")


class _Blocks(Container):
    """A text with some spans that can be left out."""

    def __init__(self, value: Any, spans: list[tuple[int, int]]) -> None:
        self.value = value
        self.size = len(spans)
        self._spans = spans

    def keep(self, parts: IntervalSet) -> Any:
        pieces, done = [], 0
        for number, (start, stop) in enumerate(self._spans):
            if number not in parts:
                pieces.append(self.value[done:start])
                done = stop
        pieces.append(self.value[done:])
        return type(self.value)(type(self.value[:0])().join(pieces))

    def words(self, part: int) -> str:
        start, stop = self._spans[part]
        return f"[{start}:{stop}]"


class Blocks(Level):
    """The blocks of the texts at one depth of the arguments.

    Args:
        arguments: the arguments.
        depth: how deep the texts are.
        names: the arguments to look at.
        nesting: how many brackets are around a block and its own; 0 for lines.
    """

    def __init__(self, arguments: Arguments, depth: int, names: Collection[str], nesting: int) -> None:
        self._nesting = nesting
        super().__init__(arguments, depth, names)
        self.unit = "line" if nesting == 0 else "block"

    def _as_parts(self, container: Container) -> Container | None:
        if not is_text(container.value):
            return None
        spans = spans_of(container.value, self._nesting)
        return _Blocks(container.value, spans) if spans else None


def blocks(left: Callable[[], Arguments], depth: int, names: Collection[str]) -> Iterator[Blocks]:
    """The blocks at one depth, outer ones first, of what is left of the arguments at that moment."""
    for nesting in range(_DEEPEST):
        found = Blocks(left(), depth, names, nesting)
        if found.all:
            yield found
        elif nesting:
            return


def spans_of(text: Any, nesting: int) -> list[tuple[int, int]]:
    """Disjoint parts of a text, in order: its lines, if there are several, or the blocks at one depth of brackets."""
    if isinstance(text, bytes | bytearray):
        text = text.decode("latin-1")  # a character for each byte
    if nesting == 0:
        lines = [(found.start(), found.end()) for found in re.finditer(r"[^\n]*\n|[^\n]+", text)]
        return lines if len(lines) > 1 else []
    spans: list[tuple[int, int]] = []
    opened: list[int] = []
    for found in _BRACKETS.finditer(text):
        sign = found[0]
        if sign not in _PAIRS:
            opened.append(found.start())
        elif opened and text[opened[-1]] == _PAIRS[sign]:
            start = opened.pop()
            if len(opened) == nesting - 1:
                after = _AFTER.match(text, found.end())
                spans.append((start, after.end() if after else found.end()))
        else:
            opened.clear()
    return spans
