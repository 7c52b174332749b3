"""Groups of deltas, from folders down to lines, that are likely to make sense only together.

Rules of this module:

* A mixture with only some of the changes that belong together often cannot be built or does not run, which tells a
  search nothing. So whole folders come first, then files, functions and classes, hunks, and lines last (ESEC/FSE 1999,
  section 5).
* Groups of one level are disjoint, contain every delta, and never cross those of the level above.
"""

from __future__ import annotations

import ast
import bisect
import re
from collections.abc import Callable, Hashable, Mapping, Sequence

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


def by_line(difference: Difference, delta: int) -> Hashable:
    """The delta itself."""
    return delta


LEVELS: Mapping[str, Callable[[Difference, int], Hashable]] = {
    "folder": by_folder,
    "file": by_file,
    "function": by_symbol,
    "hunk": by_hunk,
    "line": by_line,
}
"""The levels, coarse ones first: to which group of its level a delta belongs."""


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
    return _symbols(file, new=adds).at(change.new if adds else change.old)


class _Symbols:
    """The names of functions and classes by line."""

    def __init__(self, starts: Sequence[int], names: Sequence[str]) -> None:
        self._starts = starts
        self._names = names

    def at(self, line: int) -> str:
        """The name around a line, counted from 0."""
        index = bisect.bisect_right(self._starts, line) - 1
        return self._names[index] if index >= 0 else ""


_known: dict[tuple[int, bool], tuple[FileChange, _Symbols]] = {}


def _symbols(file: FileChange, *, new: bool) -> _Symbols:
    key = id(file), new
    known = _known.get(key)
    if known is None or known[0] is not file:
        lines = file.after if new else file.before
        known = file, _of_python(lines) if file.path.endswith((".py", ".pyi")) else _of_other(lines)
        _known[key] = known
    return known[1]


def _of_python(lines: Sequence[bytes]) -> _Symbols:
    try:
        module = ast.parse(b"".join(lines))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return _of_other(lines)
    names = [""] * (len(lines) + 1)

    def visit(node: ast.AST, above: str) -> None:
        for child in ast.iter_child_nodes(node):
            name = above
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                name = f"{above}.{child.name}" if above else child.name
                first = min([child.lineno, *(decorator.lineno for decorator in child.decorator_list)])
                last = child.end_lineno or child.lineno
                names[first - 1 : last] = [name] * (last - first + 1)
            visit(child, name)

    visit(module, "")
    starts = [line for line in range(len(names)) if line == 0 or names[line] != names[line - 1]]
    return _Symbols(starts, [names[line] for line in starts])


def _of_other(lines: Sequence[bytes]) -> _Symbols:
    starts = [number for number, line in enumerate(lines) if _HEADING.match(line)]
    return _Symbols(starts, [lines[number].decode("utf-8", "replace").strip()[:60] for number in starts])
