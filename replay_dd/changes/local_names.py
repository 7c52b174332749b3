"""Which changes in a function bring and take its local names, and which others there rely on that.

Rules of this module:

* A line that uses a parameter or variable needs the last line before it that binds it, if the old function does not
  bind it at all. With all lines that bind it, the pairs would be too many.
* Where all that binds a name goes, each line of that needs the last uses after it to go. A use that stays would fail
  only when it is executed, with a word that may well be used elsewhere.
"""

from __future__ import annotations

import ast
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from replay_dd.changes.bindings import deltas_of_lines
from replay_dd.changes.difference import Difference
from replay_dd.changes.outlines import is_python
from replay_dd.python_sources import parsed


@dataclass
class _Names:
    """The lines of a function, from 0, that bind and use each name."""

    bound: dict[str, list[int]] = field(default_factory=dict)
    used: dict[str, list[int]] = field(default_factory=dict)


def needs_of_local_names(difference: Difference) -> Iterator[tuple[int, int]]:
    """Pairs of a delta and one that it needs."""
    for number, file in enumerate(difference.files):
        if not (is_python(file) and file.lines):
            continue
        lines = deltas_of_lines(difference, number)
        pairs: dict[tuple[int | None, int | None], None] = {}
        before, after = _functions(file.before), _functions(file.after)
        for symbol in dict.fromkeys((*before, *after)):
            old, new = before.get(symbol, _Names()), after.get(symbol, _Names())
            for name in new.bound.keys() - old.bound.keys():
                for binding, use in _uses(new, name):
                    pairs[lines.get((True, use)), lines.get((True, binding))] = None
            for name in old.bound.keys() - new.bound.keys():
                for binding, use in _uses(old, name):
                    pairs[lines.get((False, binding)), lines.get((False, use))] = None
        yield from ((one, other) for one, other in pairs if one is not None and other is not None and one != other)


def _uses(names: _Names, name: str) -> Iterator[tuple[int, int]]:
    """The lines that use a name, each after the nearest one before it that binds it, or after it, as in loops."""
    bound = sorted(names.bound[name])
    for use in names.used.get(name, ()):
        yield bound[max(bisect_left(bound, use) - 1, 0)], use


def _functions(lines: Sequence[bytes]) -> Mapping[str, _Names]:
    """The names of each function, by its own name with those around it; nothing of what cannot be parsed."""
    try:
        module = parsed(b"".join(lines))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return {}
    found: dict[str, _Names] = {}
    waiting: list[tuple[ast.AST, str]] = [(module, "")]
    while waiting:
        node, above = waiting.pop()
        for child in ast.iter_child_nodes(node):
            name = above
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                name = f"{above}.{child.name}"
                if not isinstance(child, ast.ClassDef):
                    _note(found.setdefault(name, _Names()), child)
            waiting.append((child, name))
    return found


def _note(names: _Names, function: ast.AST) -> None:
    for node in ast.walk(function):
        if isinstance(node, ast.arg):
            names.bound.setdefault(node.arg, []).append(node.lineno - 1)
        elif isinstance(node, ast.Name):
            where = names.bound if isinstance(node.ctx, ast.Store) else names.used
            where.setdefault(node.id, []).append(node.lineno - 1)
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            names.used.setdefault(node.target.id, []).append(node.lineno - 1)
