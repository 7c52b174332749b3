"""Edits inside a statement: leave out what is optional, put a part of an expression, or a constant, in its place.

Rules of this module:

* Elements of a list go with the comma that would be left over. Optional parts go with the sign before them.
* An expression gives way to an expression inside it, or to a constant that is simpler: ``0`` before ``None`` before
  ``True`` before ``False``, so that no two constants give way to each other.
* What spans lines, or needs parentheses, gets them if it loses those around it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from replay_dd.code.edits import Cut, Edit, Group, single, whole_lines
from replay_dd.code.syntax import Node

CONSTANTS = (b"0", b"None", b"True", b"False")
_OPEN, _CLOSE = frozenset("([{"), frozenset(")]}")
# Expressions that have brackets of their own, so that they may span lines.
_BRACKETED = frozenset(
    (
        *("parenthesized_expression", "tuple", "list", "set", "dictionary", "generator_expression"),
        *("list_comprehension", "set_comprehension", "dictionary_comprehension"),
        *("string", "integer", "float", "identifier", "true", "false", "none", "ellipsis"),
    )
)
_COMPUTED = frozenset(
    (
        *("attribute", "await", "binary_operator", "boolean_operator", "call", "comparison_operator"),
        *("concatenated_string", "conditional_expression", "lambda", "named_expression", "not_operator"),
        *("subscript", "unary_operator", "yield", "union_type", "generic_type", "member_type", "expression_list"),
    )
)
_VALUES = _BRACKETED | _COMPUTED
# What is no expression, but can give way to one inside it.
_WRAPPERS = frozenset(
    (
        *("keyword_argument", "list_splat", "dictionary_splat", "as_pattern", "aliased_import", "splat_type"),
        *("default_parameter", "typed_parameter", "typed_default_parameter", "list_splat_pattern", "pattern_list"),
        *("dictionary_splat_pattern", "tuple_pattern", "list_pattern", "assignment", "augmented_assignment"),
        *("union_pattern", "class_pattern", "dict_pattern", "splat_pattern", "keyword_pattern", "case_pattern"),
        *("dotted_name", "return_statement", "assert_statement", "raise_statement", "delete_statement"),
        *("with_item", "type", "constrained_type", "relative_import"),
    )
)
# Fields of a node that hold names, not expressions.
_NAMES = frozenset(("name", "attribute", "alias", "operator", "operators", "module_name", "parameters"))
_LISTS = frozenset(
    (
        *("argument_list", "parameters", "lambda_parameters", "list", "tuple", "set", "dictionary", "subscript"),
        *("expression_list", "pattern_list", "list_pattern", "tuple_pattern", "type_parameter", "with_clause"),
        *("import_statement", "import_from_statement", "future_import_statement"),
        *("global_statement", "nonlocal_statement", "class_pattern", "dict_pattern", "case_clause"),
        *("assert_statement", "concatenated_string", "delete_statement", "slice"),
    )
)
_MAY_BE_EMPTY = frozenset(("argument_list", "parameters", "lambda_parameters", "list", "tuple", "set", "dictionary"))
# Optional children, by kind of their parent and their field or kind.
_OPTIONAL = frozenset(
    (
        *(("function_definition", part) for part in ("return_type", "type_parameters", "async")),
        *(("class_definition", part) for part in ("superclasses", "type_parameters")),
        *(("type_alias_statement", part) for part in ("type_parameters",)),
        *(("typed_default_parameter", part) for part in ("type", "value")),
        *(("typed_parameter", "type"), ("default_parameter", "value"), ("lambda", "parameters")),
        *(("assignment", part) for part in ("type", "right")),
        *(("raise_statement", "cause"), ("except_clause", "value"), ("decorated_definition", "decorator")),
        *(("for_statement", "async"), ("with_statement", "async"), ("for_in_clause", "async")),
        *((kind, "if_clause") for kind in ("list_comprehension", "set_comprehension", "generator_expression")),
        *((kind, "for_in_clause") for kind in ("list_comprehension", "set_comprehension", "generator_expression")),
        *(("dictionary_comprehension", "if_clause"), ("dictionary_comprehension", "for_in_clause")),
        *(("interpolation", "type_conversion"), ("interpolation", "format_specifier"), ("string", "interpolation")),
        *(("case_clause", "guard"), ("yield", "from")),
    )
)
# Statements that need no expression.
_BARE = frozenset(("return_statement", "raise_statement", "yield", "print_statement"))
_SIGNS = frozenset(("->", ":", "=", "from", "as"))


@dataclass(frozen=True, eq=False)
class Elements(Group):
    """The elements of one list.

    Attributes:
        spans: where each begins and ends, in order.
        end: where the comma after the last one ends, if there is one.
        begin: from where on everything goes if all elements do.
    """

    spans: Sequence[tuple[int, int]]
    end: int | None
    begin: int

    def cuts(self, members: Sequence[int]) -> Iterable[Cut]:
        """The elements, with the commas that would be left over."""
        gone = set(members)
        if len(gone) == len(self.spans):
            yield Cut(self.begin, self.end or self.spans[-1][1])
            return
        any_before = False
        for number, (start, stop) in enumerate(self.spans):
            if number not in gone:
                any_before = True
            elif any_before:
                yield Cut(self.spans[number - 1][1], stop)
            else:
                yield Cut(start, self.spans[number + 1][0])


def elements_of(node: Node) -> Elements | None:
    """The elements of a list; None if none of them can go."""
    spans: list[tuple[int, int]] = []
    start = stop = end = None
    separated = node.kind != "concatenated_string"
    for child in node.children:
        if child.kind == "," or not separated:
            if not separated:
                start, stop = child.start, child.stop
            if start is not None and stop is not None:
                spans.append((start, stop))
            start, end = None, child.stop if separated else None
        elif child.kind in _OPEN or child.kind == "import":
            start, end, spans = None, None, []
        elif child.kind in _CLOSE or (child.kind == ":" and node.kind != "slice"):
            break
        elif child.named or start is not None:
            start = child.start if start is None else start
            stop = child.stop
    if start is not None and stop is not None and separated:
        spans.append((start, stop))
        end = None
    if not spans or (len(spans) == 1 and node.kind not in _MAY_BE_EMPTY):
        return None
    begin = spans[0][0]
    if node.kind == "lambda_parameters" and node.parent is not None:
        begin = node.parent.children[0].stop  # with the blank after the keyword
    return Elements(spans, end, begin)


def leave_out_elements(file: int, content: bytes, tree: Node) -> list[Edit]:
    """Edits that leave out arguments, parameters, elements, imported names and the like."""
    edits = []
    for node in tree.walk():
        group = elements_of(node) if node.kind in _LISTS else None
        if group is not None:
            edits += [
                Edit(file, start, stop, ((file, group, number),)) for number, (start, stop) in enumerate(group.spans)
            ]
    return sorted(edits, key=lambda edit: (edit.start, -edit.stop))


def leave_out_parts(file: int, content: bytes, tree: Node) -> list[Edit]:
    """Edits that leave out decorators, annotations, defaults, base classes and the like."""
    edits = []
    for node in tree.walk():
        for number, child in enumerate(node.children):
            bare = node.kind in _BARE and child.named and child.role != "cause"
            if bare or not {(node.kind, child.role), (node.kind, child.kind)}.isdisjoint(_OPTIONAL):
                cut = _cut_of_part(content, node, number)
                edits.append(single(file, child.start, child.stop, cut))
    return edits


def _cut_of_part(content: bytes, node: Node, number: int) -> Cut:
    """An optional part, with the sign before it and the blanks that would be left over."""
    child = node.children[number]
    if child.kind == "decorator":
        return whole_lines(content, child.start, child.stop)
    if child.kind in ("interpolation", "type_conversion", "format_specifier"):
        return Cut(child.start, child.stop)
    if number == 0:
        return Cut(child.start, node.children[1].start)
    if node.children[number - 1].kind in _SIGNS and number > 1:
        number -= 1
    return Cut(node.children[number - 1].stop, child.stop)


def child_instead(file: int, content: bytes, tree: Node, rank: int) -> list[Edit]:
    """Edits that put an expression inside it in the place of each expression.

    Args:
        file: the number of the file.
        content: its text.
        tree: its tree.
        rank: which of the nearest expressions inside it, in order.
    """
    edits = []
    for node in tree.walk():
        if node.kind not in _VALUES and node.kind not in _WRAPPERS:
            continue
        child = next((one for number, one in enumerate(_nearest(node)) if number == rank), None)
        if child is None:
            continue
        left, right = b"", b""
        spans_lines = b"\n" in content[child.start : child.stop] and child.kind not in _BRACKETED
        if spans_lines or child.kind in ("named_expression", "yield"):
            left, right = b"(", b")"
        cuts = (Cut(node.start, child.start, left), Cut(child.stop, node.stop, right))
        edits.append(single(file, node.start, node.stop, *cuts))
    return edits


def _nearest(node: Node) -> Iterator[Node]:
    waiting = list(reversed(node.children))
    while waiting:
        below = waiting.pop()
        if not below.named or below.kind == "block" or (node.kind == "attribute" and below.role == "attribute"):
            continue
        if node.kind == "keyword_argument" and below.role == "name":
            continue
        same = (below.start, below.stop) == (node.start, node.stop)
        if below.kind in _VALUES and not same:
            yield below
        else:
            waiting += reversed(below.children)


def is_value(node: Node) -> bool:
    """Whether a node is an expression whose value is used."""
    parent = node.parent
    if node.kind not in _VALUES or parent is None:
        return False
    if node.role in _NAMES and parent.kind not in ("type", "decorator"):
        return False
    if node.role == "left" and parent.kind in ("assignment", "augmented_assignment", "for_statement", "for_in_clause"):
        return False
    return parent.kind not in (
        *("parameters", "lambda_parameters", "typed_parameter", "dotted_name", "as_pattern_target"),
        *("global_statement", "nonlocal_statement", "pattern_list", "tuple_pattern", "list_pattern"),
        *("list_splat_pattern", "dictionary_splat_pattern", "delete_statement", "keyword_pattern"),
    )


def constant_instead(file: int, content: bytes, tree: Node, constant: bytes) -> list[Edit]:
    """Edits that put a constant in the place of each expression that is less simple."""
    simpler = CONSTANTS[: CONSTANTS.index(constant) + 1]
    return [
        single(file, node.start, node.stop, Cut(node.start, node.stop, constant))
        for node in tree.walk()
        if is_value(node) and content[node.start : node.stop] not in simpler
    ]


def empty_strings(file: int, content: bytes, tree: Node) -> list[Edit]:
    """Edits that put an empty string in the place of each string."""
    return [
        single(file, node.start, node.stop, Cut(node.start, node.stop, b"''"))
        for node in tree.walk()
        if node.kind in ("string", "concatenated_string") and node.stop - node.start > len(b"''")
    ]
