"""Edits of everything that has one name: shorten it, put a constant in its place, take a parameter from all calls.

Rules of this module:

* Names are compared by their letters, in all files: a tool that fails must say whether a shorter one will do.
* A new name is no word of the language and no name that the program has.
"""

from __future__ import annotations

import itertools
import keyword
import string
from collections.abc import Iterator, Mapping, Sequence

from replay_dd.code.edits import Cut, Edit, Group, single, whole_lines
from replay_dd.code.expressions import Elements, elements_of, is_value
from replay_dd.code.syntax import Node

Trees = Sequence[tuple[bytes, Node] | None]
"""For each file its text and tree; None for what is not Python."""

_LITERALS = frozenset(("integer", "float", "string", "true", "false", "none", "ellipsis"))


def shorten_names(trees: Trees) -> list[Edit]:
    """Edits that give each name a shorter one."""
    places = _places(trees)
    new = _short_names(places)
    edits = []
    for name, nodes in places.items():
        short = next(new)
        if len(short) >= len(name):
            continue
        first_file, first, _ = nodes[0]
        parts = tuple(part for file, node, _ in nodes for part in _cut(file, node, short))
        edits.append(Edit(first_file, first.start, first.stop, parts))
    return edits


def inline_variables(trees: Trees) -> list[Edit]:
    """Edits that put a constant in the place of each variable, and leave out its assignment."""
    edits = []
    for nodes in _places(trees).values():
        bound = [(file, node, content) for file, node, content in nodes if _assignment(node) is not None]
        if len(bound) != 1:
            continue
        file, target, content = bound[0]
        assignment = _assignment(target)
        assert assignment is not None
        value = assignment.child("right")
        text = b"0"
        if value is not None and value.kind in _LITERALS:
            text = content[value.start : value.stop]
        used = [(other, node) for other, node, _ in nodes if node is not target and is_value(node)]
        if not used:
            continue
        statement = assignment.parent if assignment.parent is not None else assignment
        gone = whole_lines(content, statement.start, statement.stop)
        if _is_alone(statement):
            gone = Cut(statement.start, statement.stop, b"pass")
        parts = [part for other, node in used for part in _cut(other, node, text)]
        whole = single(file, target.start, target.stop, gone)
        edits.append(Edit(file, target.start, target.stop, (*whole.parts, *parts)))
    return edits


def leave_out_parameters(trees: Trees) -> list[Edit]:
    """Edits that leave out a parameter together with its arguments in all calls of functions of that name."""
    calls: dict[bytes, list[tuple[int, bytes, Node, bool]]] = {}
    groups: dict[Node, Elements | None] = {}
    for file, content, node in _nodes(trees):
        arguments = node.child("arguments")
        function = node.child("function")
        if node.kind == "call" and arguments is not None and function is not None:
            method = function.child("attribute")
            called = _text(content, function if method is None else method)
            calls.setdefault(called, []).append((file, content, arguments, method is not None))
            groups[arguments] = elements_of(arguments)
    edits = []
    for file, content, node in _nodes(trees):
        parameters, name = node.child("parameters"), node.child("name")
        if node.kind != "function_definition" or parameters is None or name is None:
            continue
        group = elements_of(parameters)
        if group is None:
            continue
        called = content[name.start : name.stop]
        if called == b"__init__":
            called = _class_of(content, node)
        for number, (start, stop) in enumerate(group.spans):
            parts: list[tuple[int, Group, int]] = [(file, group, number)]
            for other, text, arguments, is_method in calls.get(called, []):
                passed = groups[arguments]
                at = _argument(text, passed, content[start:stop], number, is_method or called != _text(content, name))
                if passed is not None and at is not None:
                    parts.append((other, passed, at))
            if len(parts) > 1:
                edits.append(Edit(file, start, stop, tuple(parts)))
    return edits


def _argument(content: bytes, arguments: Elements | None, parameter: bytes, position: int, bound: bool) -> int | None:
    """Which argument of a call belongs to a parameter: the one with its name, or at its position."""
    if arguments is None:
        return None
    name = parameter.split(b":")[0].split(b"=")[0].strip()
    given = [content[start:stop] for start, stop in arguments.spans]
    for number, text in enumerate(given):
        left, sign, _ = text.partition(b"=")
        if sign and left.strip() == name:
            return number
    position -= bound
    if 0 <= position < len(given) and b"=" not in given[position]:
        return position
    return None


def _text(content: bytes, node: Node) -> bytes:
    return content[node.start : node.stop]


def _class_of(content: bytes, function: Node) -> bytes:
    node: Node | None = function.parent
    while node is not None and node.kind != "class_definition":
        node = node.parent
    name = None if node is None else node.child("name")
    return b"" if name is None else _text(content, name)


def _nodes(trees: Trees) -> Iterator[tuple[int, bytes, Node]]:
    for file, tree in enumerate(trees):
        if tree is not None:
            content, root = tree
            for node in root.walk():
                yield file, content, node


def _places(trees: Trees) -> Mapping[bytes, list[tuple[int, Node, bytes]]]:
    """Where each name is."""
    found: dict[bytes, list[tuple[int, Node, bytes]]] = {}
    for file, content, node in _nodes(trees):
        if node.kind == "identifier":
            found.setdefault(content[node.start : node.stop], []).append((file, node, content))
    return found


def _short_names(taken: Mapping[bytes, object]) -> Iterator[bytes]:
    for length in itertools.count(1):
        for letters in itertools.product(string.ascii_lowercase, repeat=length):
            name = "".join(letters)
            if name.encode() not in taken and not keyword.iskeyword(name):
                yield name.encode()


def _cut(file: int, node: Node, text: bytes) -> tuple[tuple[int, Group, int], ...]:
    return single(file, node.start, node.stop, Cut(node.start, node.stop, text)).parts


def _assignment(node: Node) -> Node | None:
    """The assignment that gives a name its value, if it is the only name that it gives one to."""
    above = node.parent
    if above is None or above.kind != "assignment" or node.role != "left" or above.parent is None:
        return None
    return above if above.parent.kind == "expression_statement" else None


def _is_alone(statement: Node) -> bool:
    block = statement.parent
    return block is not None and block.kind == "block" and sum(child.named for child in block.children) == 1
