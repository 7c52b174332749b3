"""Edits of statements: leave them out, or put what is inside a compound statement in its place.

Rules of this module:

* Statements stand in depths: those of the module, those inside them, and so on. A clause (``else``, ``except``,
  ``case``) is as deep as the statements of the block before it.
* Where all statements of a block go, ``pass`` stays.
* Blocks that lose their statement are indented as that was. Lines inside strings keep their blanks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from replay_dd.code.edits import Cut, Edit, Group, end_of_line, single, whole_lines
from replay_dd.code.syntax import Node

_CLAUSES = frozenset(
    ("elif_clause", "else_clause", "except_clause", "except_group_clause", "finally_clause", "case_clause")
)
_BLOCKS = frozenset(("block", "module"))


@dataclass(frozen=True, eq=False)
class Statements(Group):
    """The statements of one block.

    Attributes:
        content: the text of the file.
        nodes: the statements and comments.
        is_module: whether the block may become empty.
    """

    content: bytes
    nodes: Sequence[Node]
    is_module: bool

    def cuts(self, members: Sequence[int]) -> Iterable[Cut]:
        """The statements with their lines; those that share a line with the signs between them."""
        gone = set(members)
        stays = any(node.kind != "comment" for number, node in enumerate(self.nodes) if number not in gone)
        first = next((number for number in members if self.nodes[number].kind != "comment"), None)
        if not stays and not self.is_module and first is not None:
            gone.remove(first)
            yield Cut(self.nodes[first].start, self.nodes[first].stop, b"pass")
        for row in self._rows():
            yield from self._cuts_of_row(row, gone)

    def _rows(self) -> Iterator[list[int]]:
        """The numbers of the statements, those of one line together."""
        row: list[int] = []
        for number, node in enumerate(self.nodes):
            if row and b"\n" in self.content[self.nodes[row[-1]].stop : node.start]:
                yield row
                row = []
            row.append(number)
        if row:
            yield row

    def _cuts_of_row(self, row: Sequence[int], gone: set[int]) -> Iterator[Cut]:
        nodes = self.nodes
        of_row = [number for number in row if nodes[number].kind != "comment"]
        if all(number in gone for number in of_row or row):  # a comment goes with its statement
            yield whole_lines(self.content, nodes[row[0]].start, self._end(row[-1]))
            return
        for number in row:
            if number not in gone:
                continue
            if nodes[number].kind == "comment":
                yield whole_lines(self.content, nodes[number].start, nodes[number].stop)
            elif number == row[0]:
                yield Cut(nodes[number].start, nodes[number + 1].start)
            else:
                yield Cut(nodes[number - 1].stop, nodes[number].stop)

    def _end(self, number: int) -> int:
        """Where a statement ends, with a semicolon after it."""
        stop = self.nodes[number].stop
        rest = self.content[stop : end_of_line(self.content, stop)]
        return stop + rest.index(b";") + 1 if rest.lstrip().startswith(b";") else stop


def blocks_of(statement: Node) -> Iterator[Node]:
    """The blocks of a compound statement, those of its clauses included."""
    for child in statement.children:
        if child.kind == "block":
            yield child
        elif child.kind in _CLAUSES or child.role == "definition":
            yield from blocks_of(child)


def statements_of(block: Node) -> list[Node]:
    """The statements and comments of a block."""
    return [child for child in block.children if child.named and child.kind != "ERROR"]


def leave_out_statements(file: int, content: bytes, tree: Node, depth: int) -> list[Edit]:
    """Edits that leave out the statements and clauses at one depth, 0 for those of the module."""
    blocks, clauses = [tree], list[Node]()
    for _ in range(depth):
        statements = [statement for block in blocks for statement in statements_of(block)]
        clauses = [clause for statement in statements for clause in _clauses_of(statement)]
        blocks = [block for statement in statements for block in blocks_of(statement)]
    edits = []
    for block in blocks:
        nodes = statements_of(block)
        group = Statements(content, nodes, block.kind == "module")
        for number, node in enumerate(nodes):
            # A `pass` that must stay has nothing to give; several statements of which all go leave one.
            if len(nodes) > 1 or node.kind not in ("pass_statement", "comment") or block.kind == "module":
                edits.append(Edit(file, node.start, node.stop, ((file, group, number),)))
    for clause in clauses:
        cut = whole_lines(content, clause.start, clause.stop)
        edits.append(single(file, clause.start, clause.stop, cut))
    return sorted(edits, key=lambda edit: edit.start)


def _clauses_of(statement: Node) -> Iterator[Node]:
    for child in statement.children:
        if child.kind in _CLAUSES and child.kind != "case_clause":  # these are the statements of their block
            yield child
        elif child.role == "definition":
            yield from _clauses_of(child)


def unwrap(file: int, content: bytes, tree: Node, rank: int) -> list[Edit]:
    """Edits that put one of its blocks in the place of each compound statement.

    Args:
        file: the number of the file.
        content: its text.
        tree: its tree.
        rank: which of the blocks, in order.
    """
    strings = [(node.start, node.stop) for node in tree.walk() if node.kind == "string"]
    edits = []
    for node in tree.walk():
        if node.parent is None or node.parent.kind not in _BLOCKS or node.kind == "case_clause":
            continue
        block = next((block for number, block in enumerate(blocks_of(node)) if number == rank), None)
        if block is None or not block.children:
            continue
        cuts = [Cut(node.start, block.start), *_dedented(content, node, block, strings), Cut(block.stop, node.stop)]
        edits.append(single(file, node.start, node.stop, *(cut for cut in cuts if cut.start < cut.stop)))
    return edits


def _dedented(content: bytes, statement: Node, block: Node, strings: Sequence[tuple[int, int]]) -> Iterator[Cut]:
    outer, inner = _indentation(content, statement.start), _indentation(content, block.start)
    if outer is None or inner is None or not inner.startswith(outer):
        return
    inside = [(start, stop) for start, stop in strings if start < block.stop and stop > block.start]
    line = content.find(b"\n", block.start, block.stop) + 1
    while line:
        if content.startswith(inner, line) and not any(start < line <= stop for start, stop in inside):
            yield Cut(line + len(outer), line + len(inner))
        line = content.find(b"\n", line, block.stop) + 1


def _indentation(content: bytes, place: int) -> bytes | None:
    """What a line begins with up to a place; None if that is more than blanks."""
    before = content[content.rfind(b"\n", 0, place) + 1 : place]
    return None if before.strip(b" \t\f") else before


def leave_out_blank_lines(file: int, content: bytes, tree: Node) -> list[Edit]:
    """Edits that leave out lines without any sign, those side by side together."""
    strings = [(node.start, node.stop) for node in tree.walk() if node.kind == "string"]
    edits = []
    place = 0
    lines = content.splitlines(keepends=True)
    for blank, together in groupby(lines, key=lambda line: not line.strip()):
        length = sum(map(len, together))
        if blank and not any(start < place < stop for start, stop in strings):
            edits.append(single(file, place, place + length, Cut(place, place + length)))
        place += length
    return edits


def pass_instead(file: int, content: bytes, tree: Node) -> list[Edit]:
    """Edits that put ``pass`` in the place of each statement."""
    return [
        single(file, node.start, node.stop, Cut(node.start, node.stop, b"pass"))
        for node in tree.walk()
        if node.parent is not None
        and node.parent.kind in _BLOCKS
        and node.named
        and node.kind not in ("pass_statement", "comment", "case_clause", "ERROR")
        and node.stop - node.start > len(b"pass")
    ]
