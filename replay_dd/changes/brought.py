"""What a function that moved into another file needs there of its old one.

Rules of this module:

* It needs the names that it takes from around it and the other file does not bind, and what these need in turn.
* Imports come a line for each name, if they mean the same in the other file; other statements come whole. A class that
  is elsewhere by then does not come: there would be two of it.
* What the old file still has stays there, but for imports.
* All of it is written as the other file is.
"""

from __future__ import annotations

import ast
import symtable
from collections.abc import Collection, Iterator, Sequence

from replay_dd.changes.bound import bound_at_top, bound_by
from replay_dd.changes.origins import Source
from replay_dd.changes.written import Written, written
from replay_dd.python_sources import parsed, without_warnings

_Lines = Sequence[bytes]
_UNREADABLE = (SyntaxError, ValueError, RecursionError, MemoryError)


def brought(
    functions: Sequence[_Lines], source: Source, path: str, lines: _Lines, elsewhere: Collection[str]
) -> list[bytes]:
    """What functions of an old file need among these lines of another one, in the order of the old file.

    Args:
        functions: their lines, written as the other file is.
        source: the old file.
        path: where the other file is.
        lines: its lines.
        elsewhere: the names that new files bind.
    """
    try:
        around = parsed(b"".join(source.before))
        bound, style = bound_at_top(lines).keys(), written(path, lines)
        takes_all = any(alias.name == "*" for one in _imports_in(parsed(b"".join(lines))) for alias in one.names)
        waiting = set[str]().union(*(globals_of(text, style) for text in functions)) - bound
        kept = bound_at_top(source.after).keys()
        statements = [(statement, {name for name, _ in bound_by([statement])}) for statement in around.body]
        found: dict[int, _Lines] = {}
        imported: dict[int, set[str]] = {}
        seen = set[str]()
        while waiting:
            name = waiting.pop()
            seen.add(name)
            if takes_all and name in elsewhere:
                continue
            for number, (statement, names) in enumerate(statements):
                if name not in names:
                    continue
                if isinstance(statement, ast.Import | ast.ImportFrom):
                    imported.setdefault(number, set()).add(name)
                    only = _only(imported[number], statement, path, source.path)
                    found[number] = [line.encode(style.encoding or "utf-8") + style.end for line in only]
                elif number not in found and name not in kept and not _is_elsewhere(statement, elsewhere):
                    text = source.written.lines(_text_of(statement, source), style)
                    found[number] = text
                    waiting |= globals_of(text, style) - bound - seen
        return [line for number in sorted(found) for line in found[number]]
    except _UNREADABLE:
        return []


def globals_of(lines: _Lines, style: Written) -> set[str]:
    """The names that functions and classes take from around them.

    Args:
        lines: their lines.
        style: how these are written.

    Raises:
        SyntaxError, ValueError, RecursionError, MemoryError: they are no Python, or nested too deeply.
    """
    with without_warnings():
        whole = symtable.symtable(style.text(lines), "<moved>", "exec")
    found, waiting = set[str](), [whole]
    while waiting:
        table = waiting.pop()
        used = (symbol for symbol in table.get_symbols() if symbol.is_referenced())
        found |= {symbol.get_name() for symbol in used if table is whole or symbol.is_global()}
        waiting += table.get_children()
    return found - {symbol.get_name() for symbol in whole.get_symbols() if symbol.is_assigned()}


def _is_elsewhere(statement: ast.stmt, elsewhere: Collection[str]) -> bool:
    return isinstance(statement, ast.ClassDef) and statement.name in elsewhere


def _only(names: Collection[str], statement: ast.Import | ast.ImportFrom, path: str, old_path: str) -> Iterator[str]:
    """An import of some names, one for each, if it means the same in another file."""
    if isinstance(statement, ast.ImportFrom) and not _works_in(statement, path, old_path):
        return
    for alias in statement.names:
        if (alias.asname or alias.name.partition(".")[0]) in names:
            only = (
                ast.Import([alias])
                if isinstance(statement, ast.Import)
                else ast.ImportFrom(statement.module, [alias], statement.level)
            )
            yield ast.unparse(only)


def _works_in(statement: ast.ImportFrom, path: str, old_path: str) -> bool:
    """Whether an import from a module means the same in another file, and is not from that one."""
    folder = path.rpartition("/")[0]
    if statement.module == "__future__" or (statement.level and folder != old_path.rpartition("/")[0]):
        return False
    name = (statement.module or "").replace(".", "/")
    if not statement.level:
        return not f"/{path}".endswith(f"/{name}.py")
    above = folder.split("/")[: 1 - statement.level or None]
    return path != "/".join(filter(None, [*above, f"{name}.py"]))


def _imports_in(module: ast.Module) -> list[ast.Import | ast.ImportFrom]:
    return [statement for statement in module.body if isinstance(statement, ast.Import | ast.ImportFrom)]


def _text_of(statement: ast.stmt, source: Source) -> list[bytes]:
    """The whole lines of a statement, with its decorators."""
    first = min([statement.lineno, *(one.lineno for one in getattr(statement, "decorator_list", ()))])
    text = list(source.before[first - 1 : statement.end_lineno])
    return [*text[:-1], text[-1].rstrip(b"\r\n") + source.written.end]
