"""The mutants of a source text: what can be changed in it, one place at a time.

The syntax tree says what stands where, and the tokens say where an operator stands between its operands. The rest of
the text stays as it is, so that the difference of a mutant is the line that a reader knows.

Not mutated: annotations, decorators, docstrings and other strings, blocks for type checkers, `__name__ == "__main__"`,
and lines with a comment `# no mutant: REASON`.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass

OPT_OUT = re.compile(r"#\s*no mutant:\s*\S")

_COMPARISONS: dict[type[ast.cmpop], str] = {
    ast.Lt: "<=",
    ast.LtE: "<",
    ast.Gt: ">=",
    ast.GtE: ">",
    ast.Eq: "!=",
    ast.NotEq: "==",
    ast.Is: "is not",
    ast.IsNot: "is",
    ast.In: "not in",
    ast.NotIn: "in",
}
_ARITHMETIC: dict[type[ast.operator], str] = {
    ast.Add: "-",
    ast.Sub: "+",
    ast.Mult: "//",
    ast.FloorDiv: "*",
    ast.Div: "*",
    ast.Mod: "//",
    ast.Pow: "*",
    ast.LShift: ">>",
    ast.RShift: "<<",
    ast.BitAnd: "|",
    ast.BitOr: "&",
    ast.BitXor: "&",
}
_FUNCTIONS = {"min": "max", "max": "min", "any": "all", "all": "any"}
_TYPE_CHECKING = {"TYPE_CHECKING", "typing.TYPE_CHECKING"}


@dataclass(frozen=True)
class Mutant:
    """One change: the text from `start` to `end` (counted in characters) becomes `text`."""

    line: int
    kind: str
    start: int
    end: int
    text: str

    def apply(self, source: str) -> str:
        """The source with this change."""
        return source[: self.start] + self.text + source[self.end :]


def mutants_of(source: str) -> list[Mutant]:
    """All mutants of a module, from its first line to its last."""
    found = {(one.start, one.end, one.text): one for one in _Finder(source).mutants()}
    lines = source.splitlines()
    kept = [one for one in found.values() if not OPT_OUT.search(lines[one.line - 1])]
    return sorted(kept, key=lambda one: (one.start, one.end, one.text))


class _Finder:
    def __init__(self, source: str) -> None:
        self.source = source
        self.tree = ast.parse(source)
        self.lines = source.splitlines(keepends=True)
        self.starts = [0]
        for line in self.lines:
            self.starts.append(self.starts[-1] + len(line))
        tokens = tokenize.generate_tokens(io.StringIO(source).readline)
        self.tokens = [token for token in tokens if token.type in (tokenize.OP, tokenize.NAME)]

    def mutants(self) -> Iterator[Mutant]:
        for node in self.visited(self.tree):
            yield from self.of_node(node)

    def visited(self, node: ast.AST) -> Iterator[ast.AST]:
        """The nodes below this one, without what is not mutated."""
        if isinstance(node, ast.If) and _is_for_others(node.test):
            for child in node.orelse:
                yield from self.visited(child)
            return
        yield node
        skipped = {"annotation", "returns", "decorator_list", "type_params", "type_comment"}
        for name, value in ast.iter_fields(node):
            if name in skipped:
                continue
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
                    yield from self.visited(child)

    def of_node(self, node: ast.AST) -> Iterator[Mutant]:
        match node:
            case ast.Compare():
                operands = [node.left, *node.comparators]
                for number, operator in enumerate(node.ops):
                    new = _COMPARISONS[type(operator)]
                    yield from self.operator(operands[number], operands[number + 1], new, "comparison")
            case ast.BinOp() if not (_is_text(node.left) or _is_text(node.right)):
                yield from self.operator(node.left, node.right, _ARITHMETIC.get(type(node.op), ""), "arithmetic")
            case ast.AugAssign() if not _is_text(node.value):
                new = _ARITHMETIC.get(type(node.op), "")
                yield from self.operator(node.target, node.value, new and f"{new}=", "arithmetic")
            case ast.BoolOp():
                new = "or" if isinstance(node.op, ast.And) else "and"
                for left, right in zip(node.values, node.values[1:], strict=False):
                    yield from self.operator(left, right, new, "and/or")
            case ast.UnaryOp(op=ast.Not() | ast.USub()):
                yield self.mutant(node, self.start_of(node), self.start_of(node.operand), "", "sign")
            case ast.Call(func=ast.Name(id=name)) if name in _FUNCTIONS:
                yield self.whole(node.func, _FUNCTIONS[name], "function")
            case ast.Constant(value=bool(value)):
                yield self.whole(node, str(not value), "constant")
            case ast.Constant(value=int(value)):
                yield self.whole(node, str(value + 1), "constant")
            case ast.Constant(value=float(value)):
                yield self.whole(node, repr(value + 1), "constant")
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                yield from self.returns(node)
            case ast.Expr(value=ast.Call() as call) if not _is_super_init(call):
                yield self.whole(node, "pass", "dropped call")
        test = getattr(node, "test", None)
        for condition in [test] if isinstance(test, ast.expr) else getattr(node, "ifs", []):
            # A single comparison of these kinds has been negated already, as has `not x`; `while True` would not end.
            if not (_negates_itself(condition) or isinstance(condition, ast.Constant)):
                yield self.whole(condition, f"(not ({self.text(condition)}))", "condition")

    def operator(self, left: ast.expr, right: ast.expr, new: str, kind: str) -> Iterator[Mutant]:
        """The mutant that has another operator between two operands; none, if there is no `new` one."""
        start, end = self.end_of(left), self.start_of(right)
        between = [token for token in self.tokens if start <= self.offset(token.start) < end]
        words = [token for token in between if token.string not in "()"]
        if new and words:
            first, last = self.offset(words[0].start), self.offset(words[-1].end)
            yield Mutant(words[0].start[0], kind, first, last, new)

    def returns(self, function: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[Mutant]:
        truth = isinstance(function.returns, ast.Name) and function.returns.id == "bool"
        for node in _own_nodes(function):
            if isinstance(node, ast.Return) and node.value is not None:
                if truth and not isinstance(node.value, ast.Constant) and not _negates_itself(node.value):
                    yield self.whole(node.value, f"not ({self.text(node.value)})", "return value")
                elif not truth and not (isinstance(node.value, ast.Constant) and node.value.value is None):
                    yield self.whole(node.value, "None", "return value")

    def whole(self, node: ast.expr | ast.stmt, text: str, kind: str) -> Mutant:
        return self.mutant(node, self.start_of(node), self.end_of(node), text, kind)

    def mutant(self, node: ast.expr | ast.stmt, start: int, end: int, text: str, kind: str) -> Mutant:
        return Mutant(node.lineno, kind, start, end, text)

    def text(self, node: ast.expr) -> str:
        return self.source[self.start_of(node) : self.end_of(node)]

    def start_of(self, node: ast.expr | ast.stmt) -> int:
        return self.from_bytes(node.lineno, node.col_offset)

    def end_of(self, node: ast.expr | ast.stmt) -> int:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return self.from_bytes(node.end_lineno, node.end_col_offset)

    def from_bytes(self, line: int, column: int) -> int:
        """The syntax tree counts columns in bytes, we count in characters."""
        return self.starts[line - 1] + len(self.lines[line - 1].encode()[:column].decode())

    def offset(self, place: tuple[int, int]) -> int:
        return self.starts[place[0] - 1] + place[1]


def _own_nodes(function: ast.AST) -> Iterator[ast.AST]:
    """What stands in a function, without the functions inside of it."""
    for child in ast.iter_child_nodes(function):
        if not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            yield child
            yield from _own_nodes(child)


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str | bytes))


def _is_super_init(call: ast.Call) -> bool:
    return ast.unparse(call.func).startswith("super().")


def _is_for_others(test: ast.expr) -> bool:
    return ast.unparse(test) in _TYPE_CHECKING or "__name__" in ast.unparse(test)


def _negates_itself(test: ast.expr) -> bool:
    if isinstance(test, ast.UnaryOp):
        return isinstance(test.op, ast.Not)
    own = (ast.Eq, ast.NotEq, ast.Is, ast.IsNot, ast.In, ast.NotIn)
    return isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], own)
