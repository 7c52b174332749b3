"""Whether a thread waits for a notification in a loop that looks at the state, as its source tells."""

from __future__ import annotations

import ast
import tokenize
from collections.abc import Iterator

from replay_dd.python_sources import parsed
from replay_dd.schedules.hang import Hang, HangThread
from replay_dd.schedules.story.verdict import own_calls

_LOOPS_ITSELF = "Condition.wait_for"


def waits_in_loop(hang: Hang, thread: HangThread) -> bool:
    """Whether the wait of a thread is repeated until what it waits for holds.

    A loop that takes the lock anew each time around goes through its work, and is not that loop.

    Args:
        hang: what is known of the hang.
        thread: a thread that waits to be notified of a condition.
    """
    if any(frame.function == _LOOPS_ITSELF for frame in hang.stack(thread.stack)):
        return True
    calls = own_calls(hang, thread.stack)
    if not calls:
        return False
    try:
        with tokenize.open(calls[-1].path) as file:
            tree = parsed(file.read())
    except (OSError, SyntaxError, ValueError):
        return False
    around = [node for node in _around(tree, calls[-1].line) if isinstance(node, (ast.While, ast.With, ast.AsyncWith))]
    innermost = around[-1] if around else None
    return isinstance(innermost, ast.While) and not isinstance(innermost.test, ast.Constant)


def _around(node: ast.AST, line: int) -> Iterator[ast.stmt]:
    """The statements around a line, the outermost first."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt) and child.lineno <= line <= (child.end_lineno or child.lineno):
            yield child
            yield from _around(child, line)
        elif not isinstance(child, (ast.stmt, ast.expr)):  # `except` and `case` stand between statements
            yield from _around(child, line)
