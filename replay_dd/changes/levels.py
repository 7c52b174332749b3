"""Groups of deltas, from folders down to lines, that are likely to make sense only together.

Rules of this module:

* A mixture with only some of the changes that belong together often cannot be built or does not run, which tells a
  search nothing. So whole folders come first, then files, functions and classes, hunks, and lines last (ESEC/FSE 1999,
  section 5).
* Groups of one level are disjoint, contain every delta, and never cross those of the level above.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence

from replay_dd.changes.difference import Difference, FileChange
from replay_dd.dd import IntervalSet

# What `git diff` shows after a hunk's line numbers by default: a line that begins with a letter, `_` or `$`.
_HEADING = re.compile(rb"[A-Za-z_$]")


def by_folder(difference: Difference, delta: int) -> Hashable:
    """The folder of the delta's file."""
    return difference.files[difference.file_of(delta)].path.rpartition("/")[0]


def by_file(difference: Difference, delta: int) -> Hashable:
    """The delta's file."""
    return difference.file_of(delta)


def by_symbol(difference: Difference, delta: int) -> Hashable:
    """The function or class around the delta."""
    return difference.file_of(delta), symbol_of(difference, delta)


def by_hunk(difference: Difference, delta: int) -> Hashable:
    """The neighbouring changed lines."""
    change = difference.line_change(delta)
    # A function that is moved away and one that comes in its place may share a hunk.
    number = -1 - difference.local(delta) if change is None else change.hunk
    return by_symbol(difference, delta), number


def by_statement(difference: Difference, delta: int) -> Hashable:
    """The statement of Python (the head of a compound one) around the delta; elsewhere the delta itself."""
    change = difference.line_change(delta)
    file = difference.files[difference.file_of(delta)]
    if change is None or not is_python(file):
        return delta
    adds = change.new < change.new_stop
    start = outline(file, new=adds).statement_at(change.new if adds else change.old)
    return by_hunk(difference, delta), adds, start


def by_line(difference: Difference, delta: int) -> Hashable:
    """The delta itself."""
    return delta


LEVELS: Mapping[str, Callable[[Difference, int], Hashable]] = {
    "folder": by_folder,
    "file": by_file,
    "function": by_symbol,
    "hunk": by_hunk,
    "statement": by_statement,
    "line": by_line,
}
"""The levels, coarse ones first: to which group of its level a delta belongs."""

DEFAULT_LEVELS = tuple(level for level in LEVELS if level != "line")
"""Single lines of Python rarely make sense without the rest of their statement."""


def groups(difference: Difference, deltas: IntervalSet, level: str) -> tuple[IntervalSet, ...]:
    """Partition deltas into the groups of a level, in the order of their first deltas."""
    found: dict[Hashable, list[int]] = {}
    group_of = LEVELS[level]
    for delta in deltas:
        found.setdefault(group_of(difference, delta), []).append(delta)
    return tuple(IntervalSet.of(members) for members in found.values())


def symbol_of(difference: Difference, delta: int) -> str:
    """The name of the function or class around a line; empty outside of all."""
    change = difference.line_change(delta)
    if change is None:
        return ""
    file = difference.files[difference.file_of(delta)]
    adds = change.new < change.new_stop
    return outline(file, new=adds).symbol_at(change.new if adds else change.old)


class Outline:
    """What the lines of a file belong to.

    Args:
        symbols: the name of the function or class around each line.
        statements: where the statement begins that each line is a part of.
        heads: where the compound statement begins that each line is in the body of; -1 for none.
    """

    def __init__(self, symbols: Sequence[str], statements: Sequence[int] = (), heads: Sequence[int] = ()) -> None:
        self._symbols = symbols
        self._statements = statements
        self._heads = heads

    def symbol_at(self, line: int) -> str:
        """The function or class around a line."""
        return self._symbols[line] if line < len(self._symbols) else ""

    def statement_at(self, line: int) -> int:
        """The first line of the statement around a line."""
        return self._statements[line] if line < len(self._statements) else line

    def heads_of(self, line: int) -> Iterator[int]:
        """Where the compound statements begin that a line is in the body of, the innermost first."""
        while line < len(self._heads) and self._heads[line] >= 0:
            line = self._heads[line]
            yield line


_known: dict[tuple[int, bool], tuple[FileChange, Outline]] = {}


def outline(file: FileChange, *, new: bool) -> Outline:
    """What the lines of a version of a file belong to."""
    key = id(file), new
    known = _known.get(key)
    if known is None or known[0] is not file:
        lines = file.after if new else file.before
        known = file, _of_python(lines) if is_python(file) else _of_other(lines)
        _known[key] = known
    return known[1]


def is_python(file: FileChange) -> bool:
    """Whether a file is one of Python."""
    return file.path.endswith((".py", ".pyi"))


def _of_python(lines: Sequence[bytes]) -> Outline:
    try:
        module = ast.parse(b"".join(lines))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return _of_other(lines)
    symbols, statements, heads = [""] * len(lines), list(range(len(lines))), [-1] * len(lines)

    def visit(node: ast.AST, above: str) -> None:
        for child in ast.iter_child_nodes(node):
            name = above
            if isinstance(child, ast.stmt):
                body = getattr(child, "body", None)
                first = min([child.lineno, *(one.lineno for one in getattr(child, "decorator_list", ()))]) - 1
                last = child.end_lineno or child.lineno
                if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                    name = f"{above}.{child.name}" if above else child.name
                    symbols[first:last] = [name] * (last - first)
                head = max(body[0].lineno - 1, first + 1) if isinstance(body, list) and body else last
                statements[first:head] = [first] * (head - first)
                heads[head:last] = [first] * (last - head)
            visit(child, name)

    visit(module, "")
    return Outline(symbols, statements, heads)


def _of_other(lines: Sequence[bytes]) -> Outline:
    symbols, name = [], ""
    for line in lines:
        if _HEADING.match(line):
            name = line.decode("utf-8", "replace").strip()[:60]
            symbols.append("")  # a script may consist of such lines alone
        else:
            symbols.append(name)
    return Outline(symbols)
