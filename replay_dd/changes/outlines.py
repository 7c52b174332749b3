"""What the lines of a file belong to: functions, classes and statements.

Rules of this module:

* Python is read by its own parser, C, C++, Java and JavaScript by tree-sitter if it is installed. Elsewhere, lines that
  begin in the first column are taken for headings, as `git diff` takes them; in files of settings, those in brackets.
* Each line belongs to the innermost function or class, by its path of names, and to the innermost statement; a closing
  brace belongs to the statement that it closes.
* The lines of a Python string that goes over several of them belong together: a part of one swallows what follows it.
"""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from replay_dd.errors.machine import SoftwareMissingError
from replay_dd.grammars import language_named, parser_of
from replay_dd.python_sources import parsed

if TYPE_CHECKING:
    from replay_dd.changes.file_change import FileChange

# What `git diff` shows after a hunk's line numbers by default: a line that begins with a letter, `_` or `$`.
_HEADING = re.compile(rb"[A-Za-z_$]")
LONGEST_HEADING = 60
_SECTION = re.compile(rb"\[")
_NOTHING = re.compile(rb"(?!)")
_HEADINGS = {**dict.fromkeys((".cfg", ".ini", ".toml", ".conf"), _SECTION), **dict.fromkeys((".csv", ".tsv"), _NOTHING)}
_PYTHON = (".py", ".pyi")
_IMPORT = re.compile(rb"\s*(?:from|import)\s")
_LARGEST_TEXT = 4_000_000
_KEPT = 8  # outlines of Python: both versions of a file are asked for several times in a row
_WITH_FUNCTIONS = ("c", "cpp", "java", "javascript")
_SCOPES = frozenset(
    {
        *("function_definition", "struct_specifier", "union_specifier", "enum_specifier", "class_specifier"),
        *("type_definition", "preproc_function_def", "namespace_definition"),
        *("class_declaration", "interface_declaration", "enum_declaration", "record_declaration"),
        *("method_declaration", "constructor_declaration"),
        *("function_declaration", "generator_function_declaration", "method_definition"),
    }
)
_FUNCTIONS = frozenset({"function_definition", "function_declaration", "method_declaration", "method_definition"})
_WITHOUT_BODY = frozenset({"type_definition", "preproc_function_def"})
_STATEMENTS = ("_statement", "declaration", "preproc_def", "preproc_include", "preproc_call", "enumerator")
_BRACES = re.compile(rb"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|[{}]", re.DOTALL)
_INSIDE = frozenset({"compound_statement", "parameter_declaration"})  # of statements, though named like them


class Outline:
    """What the lines of a file belong to.

    Args:
        symbols: the name of the function or class around each line.
        statements: where the statement begins that each line is a part of.
        heads: where the compound statement begins that each line is in the body of; -1 for none.
        local: the lines whose definitions are not seen from other functions.
        functions: the lines of functions; None for all lines with a symbol.
        strings: the parts of strings that lines are, of strings that go over several lines.
    """

    def __init__(
        self,
        symbols: Sequence[str],
        statements: Sequence[int] = (),
        heads: Sequence[int] = (),
        local: frozenset[int] = frozenset(),
        functions: frozenset[int] | None = None,
        strings: Mapping[int, str] = MappingProxyType({}),
    ) -> None:
        self._symbols = symbols
        self._statements = statements
        self._heads = heads
        self._local = local
        self._functions = functions
        self._strings = strings

    @property
    def has_statements(self) -> bool:
        """Whether it is known where statements begin and end."""
        return bool(self._statements)

    def symbol_at(self, line: int) -> str:
        """The function or class around a line."""
        return self._symbols[line] if line < len(self._symbols) else ""

    def is_in_function(self, line: int) -> bool:
        """Whether a line belongs to a function, not only to a class."""
        return bool(self.symbol_at(line)) if self._functions is None else line in self._functions

    def part_of_string(self, line: int) -> str:
        """Which part of a string of several lines a line is: the first, the last, or inside; empty for none."""
        return self._strings.get(line, "")

    def is_local(self, line: int) -> bool:
        """Whether definitions in a line are not seen from other functions, as far as that is known."""
        return line in self._local

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
        known = file, outline_of(file.path, lines)
        _known[key] = known
    return known[1]


def symbols_of(path: str, lines: Sequence[bytes]) -> list[str]:
    """The function or class around each line."""
    found = outline_of(path, lines)
    return [found.symbol_at(line) for line in range(len(lines))]


def parts_of_strings(path: str, lines: Sequence[bytes]) -> list[str]:
    """Which part of a string of several lines each line is."""
    found = outline_of(path, lines)
    return [found.part_of_string(line) for line in range(len(lines))]


def outline_of(path: str, lines: Sequence[bytes]) -> Outline:
    """What some lines of a file belong to."""
    if path.endswith(_PYTHON):
        return _of_python(tuple(lines))
    return _of_tree(path, lines) or _of_headings(lines, _HEADINGS.get(PurePosixPath(path).suffix, _HEADING))


def is_python(file: FileChange) -> bool:
    """Whether a file is one of Python."""
    return file.path.endswith(_PYTHON)


def is_in_long_import(file: FileChange, line: int, *, new: bool) -> bool:
    """Whether a line is a later one of a Python import that goes over several lines."""
    first = outline(file, new=new).statement_at(line) if is_python(file) else line
    return first < line and bool(_IMPORT.match((file.after if new else file.before)[first]))


@functools.lru_cache(_KEPT)
def _of_python(lines: tuple[bytes, ...]) -> Outline:
    try:
        module = parsed(b"".join(lines))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return _of_headings(lines)
    symbols, statements, heads = [""] * len(lines), list(range(len(lines))), [-1] * len(lines)
    functions: set[int] = set()
    strings: dict[int, str] = {}

    def visit(node: ast.AST, above: str) -> None:
        for child in ast.iter_child_nodes(node):
            name = above
            if isinstance(child, ast.JoinedStr) or (
                isinstance(child, ast.Constant) and isinstance(child.value, str | bytes)
            ):
                first, last = child.lineno - 1, (child.end_lineno or child.lineno) - 1
                for line in range(first, last + 1 if first < last else first):
                    part = "first" if line == first else "last" if line == last else "inside"
                    strings[line] = f"{strings.get(line, '')} {part}".strip()
            if isinstance(child, ast.stmt):
                body = getattr(child, "body", None)
                first = min([child.lineno, *(one.lineno for one in getattr(child, "decorator_list", ()))]) - 1
                last = child.end_lineno or child.lineno
                if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                    name = f"{above}.{child.name}" if above else child.name
                    symbols[first:last] = [name] * (last - first)
                    (functions.difference_update if isinstance(child, ast.ClassDef) else functions.update)(
                        range(first, last)
                    )
                head = max(body[0].lineno - 1, first + 1) if isinstance(body, list) and body else last
                statements[first:head] = [first] * (head - first)
                heads[head:last] = [first] * (last - head)
            visit(child, name)

    visit(module, "")
    return Outline(symbols, statements, heads, functions=frozenset(functions), strings=strings)


def _of_headings(lines: Sequence[bytes], heading: re.Pattern[bytes] = _HEADING) -> Outline:
    symbols, name = [], ""
    for number, line in enumerate(lines):
        if heading.match(line):
            follows = next((one for one in lines[number + 1 : number + 3] if one.strip()), b"")
            name = line.decode("utf-8", "backslashreplace").strip()[:LONGEST_HEADING]
            # A script may consist of such lines alone.
            symbols.append(name if follows and not heading.match(follows) else "")
        else:
            symbols.append(name)
    return Outline(symbols)


def broken_line(path: str, text: bytes) -> int | None:
    """The first line that does not follow the grammar, from 0; None if all do, or the grammar is not known."""
    root = _parsed(path, text)
    if root is None or not root.has_error:
        return None
    node = root
    while inner := next((child for child in node.children if child.has_error or child.is_missing), None):
        node = inner
    return int(node.start_point[0])


@functools.lru_cache(512)
def unbalanced(path: str, text: bytes) -> str:
    """What is wrong with the braces of a file; empty if nothing is, or the language has none.

    Macros may keep a file that a compiler takes from following the grammar, but hardly ever its braces.
    """
    if language_named(path) not in _WITH_FUNCTIONS:
        return ""
    depth = 0
    for token in _BRACES.findall(text):
        depth += {b"{": 1, b"}": -1}.get(token, 0)
        if depth < 0:
            return f"{path} has a brace too many"
    return f"{path} lacks a closing brace" if depth else ""


def _parsed(path: str, text: bytes) -> Any:
    """The root of the syntax tree; None if the language is none with functions, or its grammar is not installed."""
    language = language_named(path)
    if language not in _WITH_FUNCTIONS or len(text) > _LARGEST_TEXT:
        return None
    try:
        return parser_of(language).parse(text).root_node
    except SoftwareMissingError:
        return None


def _of_tree(path: str, lines: Sequence[bytes]) -> Outline | None:
    """The outline by the grammar of the language; None if there is none, or it has no functions."""
    root = _parsed(path, b"".join(lines))
    if root is None:
        return None
    symbols, statements = [""] * len(lines), list(range(len(lines)))
    waiting = [(root, "")]
    local, functions = set[int](), set[int]()
    while waiting:
        node, above = waiting.pop()
        first, last = node.start_point[0], min(node.end_point[0] + (node.end_point[1] > 0), len(lines))
        if node.type in _SCOPES and (node.type in _WITHOUT_BODY or node.child_by_field_name("body") is not None):
            name = _name_of(node)
            if name:
                above = f"{above}.{name}" if above else name
                symbols[first:last] = [above] * (last - first)
            body = node.child_by_field_name("body")
            if body is not None and node.type in _FUNCTIONS:
                local.update(range(body.start_point[0] + 1, last))
                functions.update(range(first, last))
        if node.type in _SCOPES or (node.type.endswith(_STATEMENTS) and node.type not in _INSIDE):
            # Statements inside come later, and take their own lines.
            statements[first:last] = [first] * (last - first)
        waiting.extend((child, above) for child in reversed(node.named_children))
    return Outline(symbols, statements, local=frozenset(local), functions=frozenset(functions))


def _name_of(node: Any) -> str:
    """The name that a definition gives."""
    found = node
    while found is not None and found.named_child_count:
        inner = found.child_by_field_name("name") or found.child_by_field_name("declarator")
        if inner is None:
            inner = next((one for one in found.named_children if one.type.endswith("identifier")), None)
        found = inner
    return "" if found is None or found is node else found.text.decode("utf-8", "replace")
