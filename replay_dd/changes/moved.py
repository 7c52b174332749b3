"""Functions that moved into another file, and changed on the way.

Rules of this module:

* A new file is one delta, unless functions or classes came into it from a file where they are gone. Then what changed
  in them is found as anywhere else: the file comes with the functions as they were, and their lines change.
* Into a file that was there before, each comes as it was with a delta of its own, between two statements.
* Only what has the same name, and is much alike, has moved.
* It brings the imports of its old file that it needs, of names that the other file does not bind. They are old lines,
  too.
"""

from __future__ import annotations

import ast
import symtable
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from replay_dd.changes.bound import bound_at_top
from replay_dd.changes.file_change import Arrival
from replay_dd.changes.line_changes import defined_at_top
from replay_dd.changes.outlines import outline_of, symbols_of
from replay_dd.dd.alignment import align
from replay_dd.python_sources import parsed, without_warnings

SIMILAR = 0.5
"""The share of lines that a function which moved keeps at least."""
_Lines = Sequence[bytes]


class Lost(NamedTuple):
    """A file that may have lost functions.

    Attributes:
        path: where it was.
        before: its lines.
        after: what is left of them.
    """

    path: str
    before: _Lines
    after: _Lines


def as_they_were(path: str, lines: _Lines, others: Sequence[Lost]) -> _Lines:
    """The lines of a new file, with the functions and classes that moved there as they were before.

    Args:
        path: where the file is.
        lines: its lines.
        others: the files that may have lost them.
    """
    gone = _gone(set(_heads(lines)), others)
    if not gone:
        return lines
    result = list(lines)
    for name, where in reversed(functions_in(path, lines).items()):
        text = lines[where.start : where.stop]
        came_from = gone.get(name, [])
        if len(came_from) == 1 and share(came_from[0].lines, text) >= SIMILAR:
            found = _imported_for(came_from[0], path, lines)
            result[where.start : where.stop] = [*found, *came_from[0].lines]
    return result


def arrivals(path: str, before: _Lines, after: _Lines, others: Sequence[Lost]) -> tuple[_Lines, tuple[Arrival, ...]]:
    """The old lines of a file with the functions and classes in them, as they were, that moved there and changed.

    Args:
        path: where the file is.
        before: its old lines.
        after: its new lines.
        others: the files that may have lost them.
    """
    gone = _gone(set(_heads(after)) - set(_heads(before)), others)
    if not gone or not before or not before[-1].endswith(b"\n"):
        return before, ()
    had = functions_in(path, before)
    found: list[tuple[int, str, range, _Gone]] = []
    for name, where in functions_in(path, after).items():
        came_from = gone.get(name, [])
        if name in had or len(came_from) != 1:
            continue
        was, text = came_from[0].lines, after[where.start : where.stop]
        if was != text and share(was, text) >= SIMILAR and was[-1].endswith(b"\n"):
            found.append((_place(path, before, after, where.start, had), name, where, came_from[0]))
    result, arrived = list(before), list[Arrival]()
    for place, name, where, source in found:
        start = place + len(result) - len(before)
        brought = _imported_for(source, path, before)
        result[start:start] = [*brought, *source.lines]
        lines = range(start, start + len(brought) + len(source.lines))
        arrived.append(Arrival(name, source.path, lines, where, len(brought)))
    return result, tuple(arrived)


class _Gone(NamedTuple):
    """A function or class that is gone from a file.

    Attributes:
        path: the file.
        lines: its lines.
        around: those of the file.
    """

    path: str
    lines: _Lines
    around: _Lines


def _gone(heads: set[bytes], others: Sequence[Lost]) -> dict[str, list[_Gone]]:
    """The functions and classes that some files lost, among them all that begin with one of these lines."""
    found: dict[str, list[_Gone]] = {}
    for source in others if heads else ():
        if not heads & (set(_heads(source.before)) - set(_heads(source.after))):
            continue
        left = functions_in(source.path, source.after)
        for name, where in functions_in(source.path, source.before).items():
            if name not in left:
                found.setdefault(name, []).append(
                    _Gone(source.path, source.before[where.start : where.stop], source.before)
                )
    return found


def _imported_for(function: _Gone, path: str, lines: _Lines) -> list[bytes]:
    """The imports of its old file that a function needs among these lines of another one, a line for each name."""
    try:
        around = parsed(b"".join(function.around))
        needed = _globals_of(b"".join(function.lines)) - bound_at_top(lines).keys()
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    found: list[bytes] = []
    for statement in _imports_in(around):
        if isinstance(statement, ast.ImportFrom) and not _works_in(statement, path, function.path):
            continue
        for alias in statement.names:
            if (alias.asname or alias.name.partition(".")[0]) in needed:
                only = (
                    ast.Import([alias])
                    if isinstance(statement, ast.Import)
                    else ast.ImportFrom(statement.module, [alias], statement.level)
                )
                found.append(ast.unparse(only).encode() + b"\n")
    return found


def _globals_of(text: bytes) -> set[str]:
    """The names that functions and classes take from around them."""
    with without_warnings():
        whole = symtable.symtable(text.decode(), "<moved>", "exec")
    found, waiting = set[str](), [whole]
    while waiting:
        table = waiting.pop()
        used = (symbol for symbol in table.get_symbols() if symbol.is_referenced())
        found |= {symbol.get_name() for symbol in used if table is whole or symbol.is_global()}
        waiting += table.get_children()
    return found - {symbol.get_name() for symbol in whole.get_symbols() if symbol.is_assigned()}


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


def _place(path: str, before: _Lines, after: _Lines, line: int, functions: Mapping[str, range]) -> int:
    """Where between the statements of an old file a line of the new one comes."""
    last = max((match for match in align(before, after) if match.right < line), key=lambda one: one.right, default=None)
    place = 0 if last is None else last.left + min(last.length, line - last.right)
    outline = outline_of(path, before)
    while place < len(before) and (
        outline.statement_at(place) != place
        or next(outline.heads_of(place), None) is not None
        or any(where.start < place < where.stop for where in functions.values())
    ):
        place += 1
    return place


def _heads(lines: _Lines) -> Iterator[bytes]:
    return filter(None, map(defined_at_top, lines))


def functions_in(path: str, lines: _Lines) -> dict[str, range]:
    """Where the functions and classes that lie in no other one begin and end, in order."""
    places: dict[str, list[int]] = {}
    for number, symbol in enumerate(symbols_of(path, lines)):
        places.setdefault(symbol.partition(".")[0], []).append(number)
    found = {name: range(numbers[0], numbers[-1] + 1) for name, numbers in places.items() if name}
    # Of two with one name, it cannot be told which has moved.
    return {name: where for name, where in found.items() if len(where) == len(places[name])}


def share(one: _Lines, other: _Lines) -> float:
    """How many lines two functions have in common, of all that are not blank."""
    left, right = (Counter(line.strip() for line in lines if line.strip()) for lines in (one, other))
    return 2 * (left & right).total() / max(left.total() + right.total(), 1)
