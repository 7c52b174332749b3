"""Edits of what has no further syntax: characters of strings, comments and numbers."""

from __future__ import annotations

import re

from replay_dd.code.edits import Cut, Edit, single
from replay_dd.code.syntax import Node

# An escape sequence, an interpolated brace, or one character; multi-byte ones as a whole.
_UNITS = re.compile(
    rb"\\(?:N\{[^}]*\}|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-7]{1,3}|\r\n|.)|\{\{|\}\}|"
    rb"[\xc0-\xff][\x80-\xbf]*|.",
    re.DOTALL,
)
_KINDS = frozenset(("string_content", "comment", "integer", "float", "identifier", "string_start"))


def leave_out_characters(file: int, content: bytes, tree: Node) -> list[Edit]:
    """Edits that leave out one character each."""
    edits = []
    for node in tree.walk():
        if node.kind not in _KINDS:
            continue
        if node.kind == "string_content":
            # Between its interpolations, which are no part of it.
            edits += _edits_of(file, content, node.start, node.stop)
        elif node.kind == "comment":
            edits += _edits_of(file, content, node.start + 1, node.stop)
        elif node.kind == "string_start":  # its prefix
            quotes = len(content[node.start : node.stop].lstrip(b"bfrtuBFRTU"))
            edits += _edits_of(file, content, node.start, node.stop - quotes)
        elif node.stop - node.start > 1:
            edits += _edits_of(file, content, node.start, node.stop)
    return edits


def _edits_of(file: int, content: bytes, start: int, stop: int) -> list[Edit]:
    return [
        single(file, start + unit.start(), start + unit.end(), Cut(start + unit.start(), start + unit.end()))
        for unit in _UNITS.finditer(content[start:stop])
    ]
