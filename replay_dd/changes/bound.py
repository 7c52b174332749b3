"""The names that a module of Python binds outside of functions and classes, as the grammar tells them."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeGuard

from replay_dd.python_sources import parsed


def bound_at_top(lines: Sequence[bytes]) -> Mapping[str, Sequence[int]]:
    """The names that a module binds outside of functions and classes, and the lines where it does, from 0.

    Args:
        lines: the text of the module; what cannot be parsed binds nothing.
    """
    try:
        module = parsed(b"".join(lines))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return {}
    found: dict[str, list[int]] = {}
    for name, line in bound_by(module.body):
        found.setdefault(name, []).append(line - 1)
    return found


def bound_by(body: Sequence[ast.stmt]) -> Iterator[tuple[str, int]]:
    """The names that statements bind, and the lines where they do, from 1."""
    for statement in body:
        if isinstance(statement, ast.Import | ast.ImportFrom):
            for alias in statement.names:
                yield alias.asname or alias.name.partition(".")[0], alias.lineno
        elif isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield statement.name, statement.lineno
        elif isinstance(statement, ast.Assign | ast.AnnAssign):
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            for target in targets:
                yield from ((node.id, node.lineno) for node in ast.walk(target) if _is_bound(node))
        else:
            for part in ("body", "orelse", "finalbody"):
                yield from bound_by(getattr(statement, part, ()))
            for handler in getattr(statement, "handlers", ()):
                yield from bound_by(handler.body)


def _is_bound(node: ast.AST) -> TypeGuard[ast.Name]:
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
