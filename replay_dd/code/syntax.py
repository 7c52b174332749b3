"""The concrete syntax of Python: a tree with the place of every token.

Rules of this module:

* The tree comes from tree-sitter, which is optional. It covers each byte of the text, takes syntax that is newer or
  older than this interpreter, and costs 5 µs a line.
* Nothing is ever printed from a tree: edits cut the text itself, so what they do not touch stays as it is.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from replay_dd.errors.machine import SoftwareMissingError


@dataclass(slots=True, eq=False)
class Node:
    """A node or a token.

    Attributes:
        kind: what it is, in the words of the grammar; the text of a keyword or sign.
        start: its first byte.
        stop: the byte after its last one.
        named: whether it is more than a keyword or sign.
        role: what it is to its parent, if the grammar has a name for that.
        parent: None for the root.
        children: in order.
    """

    kind: str
    start: int
    stop: int
    named: bool = True
    role: str = ""
    parent: Node | None = field(default=None, repr=False)
    children: list[Node] = field(default_factory=list, repr=False)

    def child(self, name: str) -> Node | None:
        """The first child with this role."""
        return next((child for child in self.children if child.role == name), None)

    def walk(self) -> Iterator[Node]:
        """It and all nodes below it, in order of their starts."""
        waiting = [self]
        while waiting:
            node = waiting.pop()
            yield node
            waiting += reversed(node.children)


def parse(content: bytes) -> Node:
    """The tree of a text in UTF-8.

    Raises:
        SoftwareMissingError: tree-sitter or its grammar of Python is not installed.
    """
    cursor = _parser().parse(content).walk()
    root = _made(cursor.node, "", None)
    parent = root
    if not cursor.goto_first_child():
        return root
    while True:
        made = _made(cursor.node, cursor.field_name, parent)
        parent.children.append(made)
        if cursor.goto_first_child():
            parent = made
            continue
        while not cursor.goto_next_sibling():
            cursor.goto_parent()
            if parent.parent is None:
                return root
            parent = parent.parent


def is_well_formed(content: bytes) -> bool:
    """Whether a text in UTF-8 is Python as far as the grammar goes; errors as for :func:`parse`."""
    return not _parser().parse(content).root_node.has_error


def check_installed() -> None:
    """Check that trees can be made.

    Raises:
        SoftwareMissingError: something is not installed.
    """
    _language()


def _made(node: Any, name: str | None, parent: Node | None) -> Node:
    return Node(node.type, node.start_byte, node.end_byte, node.is_named, name or "", parent)


def _parser() -> Any:
    # One for each use: several threads parse at the same time.
    return importlib.import_module("tree_sitter").Parser(_language())


@functools.cache
def _language() -> Any:
    try:
        tree_sitter = importlib.import_module("tree_sitter")
        grammar = importlib.import_module("tree_sitter_python")
    except ImportError as error:
        raise SoftwareMissingError(
            "The syntax of Python is not installed.", "Install it with `pip install 'replay-dd[syntax]'`."
        ) from error
    return tree_sitter.Language(grammar.language())
