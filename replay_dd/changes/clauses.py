"""The clauses of compound statements of Python: where each begins, and the statements in it.

Rules of this module:

* A clause is a head, such as ``else:``, with the statements that it indents. All clauses of one statement share a main
  one, the first; an ``elif`` counts as a clause of the ``if`` before it.
* What is written behind a head, in the same line, is a part of the head.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from replay_dd.python_sources import parsed

_LATER = re.compile(rb"\s*(?:else|elif|finally|case)\b")


class Clause(NamedTuple):
    """A head, and the statements that it indents.

    Attributes:
        head: the line where it begins, from 0, with decorators.
        body: the lines where its statements begin, in order; empty if they stand behind the head.
        main: the head of the first clause of the same statement.
        word: the first word of the head.
    """

    head: int
    body: tuple[int, ...]
    main: int
    word: bytes


def clauses_of(lines: Sequence[bytes]) -> list[Clause]:
    """The clauses of a module, the outer ones first; none if it cannot be parsed."""
    try:
        module = parsed(b"".join(lines))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    found: list[Clause] = []
    waiting: list[tuple[ast.stmt, int | None]] = [(one, None) for one in reversed(module.body)]
    while waiting:
        statement, main = waiting.pop()
        first = _begins(statement)
        main = first if main is None else main
        inner: list[tuple[ast.stmt, int | None]] = []
        for head, body in _parts(statement, lines):
            if not body:
                continue
            begins = tuple(_begins(one) for one in body)
            if head == begins[0] and isinstance(body[0], ast.If):  # an `elif`
                inner.append((body[0], main))
                continue
            word = lines[head].split(maxsplit=1)[0].rstrip(b":")
            found.append(Clause(head, () if head == begins[0] else begins, main, word))
            inner += [(one, None) for one in body]
        waiting += reversed(inner)
    return found


def _begins(statement: ast.stmt) -> int:
    decorators: Sequence[ast.expr] = getattr(statement, "decorator_list", ())
    return min([statement.lineno, *(one.lineno for one in decorators)]) - 1


def _parts(statement: ast.stmt, lines: Sequence[bytes]) -> Iterator[tuple[int, Sequence[ast.stmt]]]:
    """The heads of a statement, and what they indent."""
    body: Sequence[ast.stmt] = getattr(statement, "body", ())
    yield _begins(statement), body
    last = _last(body)
    for handler in getattr(statement, "handlers", ()):
        yield handler.lineno - 1, handler.body
        last = _last(handler.body)
    for case in getattr(statement, "cases", ()):
        yield _above(case.pattern.lineno - 1, last, lines), case.body
        last = _last(case.body)
    for name in ("orelse", "finalbody"):
        more: Sequence[ast.stmt] = getattr(statement, name, ())
        if more:
            yield _above(_begins(more[0]), last, lines), more
            last = _last(more)


def _last(body: Sequence[ast.stmt]) -> int:
    return (body[-1].end_lineno or body[-1].lineno) - 1 if body else -1


def _above(line: int, after: int, lines: Sequence[bytes]) -> int:
    """Where the head is of what begins at a line: the tree does not tell."""
    while line > after and not _LATER.match(lines[line]):
        line -= 1
    return line
