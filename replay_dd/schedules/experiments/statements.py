"""Statements of a source: what a ``with`` statement could be put around.

Rules of this module:

* A region is a run of statements that stand next to each other in one block, with all of their lines. So the header of
  a loop or of an ``if`` never belongs to a region without its body: nobody could lock it alone.
* A region has no ``yield`` in it. A lock around one is kept while the generator is suspended, and what its caller does
  meanwhile could not take it once more; a statement of the caller is the region, as the ``with`` of a context manager.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

from replay_dd.python_sources import parsed

Lines = tuple[int, int]
"""The first and the last line, counted from 1."""

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_LOCKS = (ast.With, ast.AsyncWith)
_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


class Statements:
    """The statements of one file.

    Args:
        text: its text.

    Raises:
        SyntaxError, ValueError, RecursionError, MemoryError: it is no Python, or nested too deeply.
    """

    def __init__(self, text: str) -> None:
        self._tree = parsed(text)

    def runs_around(self, first: int, last: int) -> Iterator[Lines]:
        """Runs of statements with both lines in them, the smallest first; the last one is a whole function.

        Args:
            first: a line.
            last: another line, or the same, in any order.
        """
        low, high = min(first, last), max(first, last)
        blocks = self._blocks_around(low, high)
        around = [_run(block, low, high) for block in reversed(blocks)]
        runs = [_lines_of(run) for run in around if not _yields(run)]
        functions = [_lines_of(block) for block in blocks[:1] if block is not self._tree.body and not _yields(block)]
        yield from dict.fromkeys([*runs, *functions])

    def step_of_loop(self, line: int, other: int) -> Lines | None:
        """The step with a line in the body of the innermost loop that has two lines in it; None if one step has both.

        Args:
            line: a line.
            other: the other line.
        """
        function = self._function_around(line)
        loops = [node for node in ast.walk(function or self._tree) if isinstance(node, _LOOPS)]
        for loop in reversed(loops):  # the innermost is walked to last
            steps = [[step for step in loop.body if _has(step, one)] for one in (line, other)]
            if all(steps):
                return _lines_of(steps[0]) if steps[0] != steps[1] else None
        return None

    def may_repeat(self, lines: Lines, line: int, *, steps: bool = False) -> bool:
        """Whether a run may come twice to what is called in a line: in a loop of its own, or by several calls.

        Args:
            lines: the run.
            line: the line.
            steps: whether it is about the steps of a loop there, and not about what it goes through.
        """
        calls = [node for node in ast.walk(self._tree) if isinstance(node, ast.Call) and _has(node, line)]
        loops = (node for node in ast.walk(self._tree) if isinstance(node, _LOOPS + _COMPREHENSIONS))
        inside = (loop for loop in loops if lines[0] <= loop.lineno and (loop.end_lineno or 0) <= lines[1])
        return len(calls) > 1 or any(_repeats(loop, line, steps) for loop in inside)

    def block_with_locks(self, line: int) -> Lines | None:
        """The outermost ``with`` statement around a line, within its function; None if there is none."""
        for block in self._blocks_around(line, line):
            run = _run(block, line, line)
            if isinstance(run[0], _LOCKS):
                return _lines_of(run)
        return None

    def names_in(self, lines: Lines) -> list[str]:
        """The objects whose attributes are used in some lines, as written: names with dots only, ``self`` first."""
        found = {"self": None}
        for node in ast.walk(self._tree):
            if isinstance(node, ast.Attribute) and lines[0] <= node.lineno <= lines[1]:
                found[ast.unparse(node.value)] = None
        return [one for one in found if all(part.isidentifier() for part in one.split("."))]

    def parts(self, lines: Lines) -> list[Lines]:
        """The lines of each statement of a run."""
        blocks = self._blocks_around(*lines)
        run = _run(blocks[-1], *lines) if blocks else []
        return [_lines_of([statement]) for statement in run] or [lines]

    def locks_at(self, line: int) -> list[str]:
        """What is taken by the statement in a line, as it stands there: names with dots only."""
        found: list[str] = []
        for statement in self._withs:
            if statement.lineno == line or statement.lineno < line < statement.body[0].lineno:
                found += _named(statement)
        found += [ast.unparse(method.value) for method in self._acquiring if _has(method, line)]
        return [one for one in dict.fromkeys(found) if all(part.isidentifier() for part in one.split("."))]

    def assigned_at(self, line: int) -> list[str]:
        """What the statement in a line assigns its value to, as it stands there: names with dots only."""
        found: list[str] = []
        for node in ast.walk(self._tree):
            if isinstance(node, ast.Assign | ast.AnnAssign) and _has(node, line):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                found += [ast.unparse(target) for target in targets]
        return [one for one in dict.fromkeys(found) if all(part.isidentifier() for part in one.split("."))]

    def with_neighbours(self, lines: Lines, lock: str) -> Lines:
        """The lines of a run, with the ``with`` statements right before and after it that take a lock.

        Args:
            lines: the run.
            lock: how other code names the lock; see :meth:`is_lock`.
        """
        blocks = self._blocks_around(*lines)
        run = _run(blocks[-1], *lines) if blocks else []
        if not run:
            return lines
        block = list(blocks[-1])
        first, last = block.index(run[0]), block.index(run[-1])
        while first > 0 and self._takes(block[first - 1], lock):
            first -= 1
        while last + 1 < len(block) and self._takes(block[last + 1], lock):
            last += 1
        return _lines_of(block[first : last + 1])

    def is_with(self, lines: Lines, lock: str) -> bool:
        """Whether a run is one ``with`` statement that takes this lock; arguments as for :meth:`with_neighbours`."""
        blocks = self._blocks_around(*lines)
        run = _run(blocks[-1], *lines) if blocks else []
        return len(run) == 1 and self._takes(run[0], lock)

    def is_lock(self, name: str, line: int, lock: str) -> bool:
        """Whether a lock that is taken in a line by some name may be one that has another name elsewhere.

        The last part of both is the same, and this function has no other name for it: ``one.lock`` is hardly
        ``other.lock`` where both are taken.

        Args:
            name: how it is named there.
            line: the line.
            lock: how other code names it.
        """
        if name == lock or name.rpartition(".")[2] != lock.rpartition(".")[2]:
            return name == lock
        inner = self._function_around(line)
        taken: Iterable[list[str]] = (
            () if inner is None else (_named(node) for node in ast.walk(inner) if isinstance(node, _LOCKS))
        )
        return not any(lock in names for names in taken)

    def keeps_lock(self, line: int) -> bool:
        """Whether a line takes locks by ``acquire()`` that its function nowhere releases."""
        inner = self._function_around(line)
        if inner is None:
            return False
        methods = _methods_called(inner)
        taken = {ast.unparse(one.value) for one in methods if one.attr == "acquire" and _has(one, line)}
        return bool(taken) and not taken & {ast.unparse(one.value) for one in methods if one.attr == "release"}

    def _function_around(self, line: int) -> ast.AST | None:
        """The innermost function around a line."""
        around = [node for node in self._functions if _has(node, line)]
        return around[-1] if around else None

    @cached_property
    def _functions(self) -> list[_Function]:
        return [node for node in ast.walk(self._tree) if isinstance(node, _Function)]

    @cached_property
    def _withs(self) -> list[ast.With | ast.AsyncWith]:
        return [node for node in ast.walk(self._tree) if isinstance(node, _LOCKS)]

    @cached_property
    def _acquiring(self) -> list[ast.Attribute]:
        return [method for method in _methods_called(self._tree) if method.attr == "acquire"]

    def _takes(self, statement: ast.stmt, lock: str) -> bool:
        """Whether a ``with`` takes what may be this lock."""
        named = _named(statement) if isinstance(statement, _LOCKS) else []
        return any(self.is_lock(one, statement.lineno, lock) for one in named)

    def _blocks_around(self, low: int, high: int) -> list[Sequence[ast.stmt]]:
        """The blocks of which some run covers both lines, the outermost first, within the innermost function."""
        found: list[Sequence[ast.stmt]] = []
        block: Sequence[ast.stmt] | None = self._tree.body
        while block:
            run = _run(block, low, high)
            if not run:
                break
            found.append(block)
            block = None
            if len(run) == 1:
                (statement,) = run
                block = next((inner for inner in _blocks_of(statement) if _run(inner, low, high)), None)
                if block and isinstance(statement, _Function | ast.ClassDef):
                    found = []
        return found


def _repeats(loop: ast.stmt | ast.expr, line: int, steps: bool) -> bool:
    """Whether a loop executes a line again and again; what it goes through is found once."""
    parts = loop.body if isinstance(loop, ast.For | ast.AsyncFor) and not steps else [loop]
    return any(_has(part, line) for part in parts)


def _methods_called(tree: ast.AST) -> list[ast.Attribute]:
    calls = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
    return [one for one in calls if isinstance(one, ast.Attribute)]


def _named(statement: ast.With | ast.AsyncWith) -> list[str]:
    return [ast.unparse(item.context_expr) for item in statement.items]


def _blocks_of(statement: ast.stmt) -> Iterator[Sequence[ast.stmt]]:
    for name in ("body", "orelse", "finalbody"):
        yield getattr(statement, name, ())
    for handler in getattr(statement, "handlers", ()):
        yield handler.body
    for case in getattr(statement, "cases", ()):
        yield case.body


def _yields(run: Sequence[ast.AST]) -> bool:
    """Whether one of the statements suspends the function that it belongs to."""
    inner = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda
    return any(
        isinstance(node, ast.Yield | ast.YieldFrom)
        or (not isinstance(node, inner) and _yields(list(ast.iter_child_nodes(node))))
        for node in run
    )


def _run(block: Sequence[ast.stmt], low: int, high: int) -> list[ast.stmt]:
    """The statements of a block from that with the low line to that with the high line; none if one is missing."""
    with_low = [number for number, statement in enumerate(block) if _has(statement, low)]
    with_high = [number for number, statement in enumerate(block) if _has(statement, high)]
    return list(block[with_low[0] : with_high[-1] + 1]) if with_low and with_high else []


def _has(node: ast.stmt | ast.expr, line: int) -> bool:
    first, last = _lines_of([node])
    return first <= line <= last


def _lines_of(run: Sequence[ast.stmt | ast.expr]) -> Lines:
    first = run[0]
    decorators = getattr(first, "decorator_list", ())
    return min([first.lineno, *(one.lineno for one in decorators)]), run[-1].end_lineno or run[-1].lineno
