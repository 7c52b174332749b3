"""Results and test counts of the Debugging Book that are printed without a full log."""

from __future__ import annotations

import ast
import copy
import warnings
from collections.abc import Callable
from typing import Any

import pytest

from replay_dd.dd import EMPTY, BookDD, IntervalSet, Search
from replay_dd.outcome import Outcome
from tests.dd.support import F, P, U, parse, published, requested_rows, run, with_ends

REDUCED = """\
def remove_html_markup(s):  # type: ignore
    tag = False
    quote = False
    out = ""
    for c in s:
        if c == '<' and not quote:
            tag = True
        elif c == '>' and not quote:
            tag = False
        elif c == '"' or c == "'" and tag:
            quote = not quote
        elif not tag:
            out = out + c
    return out
"""
CHECKED = REDUCED.replace("    return out", "    assert '<' not in out and '>' not in out\n    return out")
MY_TEST = """\
if remove_html_markup('<foo>bar</foo>') != 'bar':
    raise RuntimeError("Missing functionality")
assert remove_html_markup('"foo"') == '"foo"', "My Test"
"""


def outcome_of(action: Callable[[], object], failure: Exception) -> Outcome:
    """FAIL means the same failure: the same exception with the same message."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            action()
    except Exception as raised:
        return F if repr(raised) == repr(failure) else U
    return P


def execute(program: Any, *message: str) -> Outcome:
    return outcome_of(lambda: exec(compile(program, "<program>", "exec"), {}, {}), AssertionError(*message))


def test_remove_html_markup() -> None:
    case = published()["BOOK-remove_html_markup"]
    text = '"x > y"'

    def oracle(configuration: IntervalSet) -> Outcome:
        kept = "".join(text[position] for position in configuration)
        return execute(f"{CHECKED}remove_html_markup({kept!r})")

    search = run(with_ends(BookDD(EMPTY, IntervalSet.range(0, 7), mode="-")), oracle)
    assert requested_rows(search) == case["rows"]
    assert search.executed + 2 == 10
    assert search.best.c_fail == parse(case["result"])


@pytest.mark.parametrize(
    ("mode", "tests", "passing", "failing"),
    [("-", 18, "", "3/0"), ("+", 15, "1 + 2 * 3  ", "1 + 2 * 3 / 0"), ("+-", 11, " 3 ", " 3 /0")],
)
def test_division_by_zero(mode: str, tests: int, passing: str, failing: str) -> None:
    text = "1 + 2 * 3 / 0"

    def kept(configuration: IntervalSet) -> str:
        return "".join(text[position] for position in configuration)

    search = run(
        with_ends(BookDD(EMPTY, IntervalSet.range(0, len(text)), mode=mode)),
        lambda configuration: outcome_of(lambda: eval(kept(configuration)), ZeroDivisionError("division by zero")),
    )
    assert search.executed + 2 == tests
    assert (kept(search.best.c_pass), kept(search.best.c_fail)) == (passing, failing)


@pytest.mark.parametrize(("cache", "tests"), [(False, 1276), (True, 1173)])
def test_characters_of_a_function(cache: bool, tests: int) -> None:
    # 1278 in the book, with the check at the start and the one at the end.
    def oracle(configuration: IntervalSet) -> Outcome:
        return execute("".join(REDUCED[position] for position in configuration) + MY_TEST, "My Test")

    universe = IntervalSet.range(0, len(REDUCED))
    assert universe.count == 361
    search = run(Search(BookDD(EMPTY, universe, mode="-"), cache=cache), oracle)
    assert search.executed + 2 == tests
    assert search.best.c_fail.count == 254


@pytest.mark.parametrize(("cache", "tests"), [(False, 308), (True, 305)])
def test_nodes_of_a_syntax_tree(cache: bool, tests: int) -> None:
    # 310 in the book, with the check at the start and the one at the end.
    tree, extra = ast.parse(CHECKED), ast.parse(MY_TEST).body
    nodes: list[Any] = []
    collect(tree, nodes)
    assert len(nodes) == 107

    def oracle(configuration: IntervalSet) -> Outcome:
        for node in nodes:
            node.kept = False
        # Nodes such as Load() are shared by all places that hold them: one kept place keeps them all.
        for position in configuration:
            nodes[position].kept = True
        reduced = copy.deepcopy(tree)
        prune(reduced)
        reduced.body += extra
        return execute(reduced, "My Test")

    search = run(Search(BookDD(EMPTY, IntervalSet.range(0, len(nodes)), mode="-"), cache=cache), oracle)
    assert search.executed + 2 == tests
    assert search.best.c_fail.count == 57


def collect(node: ast.AST, into: list[Any]) -> None:
    into.append(node)
    for child in ast.iter_child_nodes(node):
        collect(child, into)


def prune(node: Any) -> None:
    for name, value in list(ast.iter_fields(node)):
        if isinstance(value, ast.AST):
            if stays(value):
                prune(value)
            else:
                delattr(node, name)
        elif isinstance(value, list):
            value[:] = [child for child in value if stays(child)]
            for child in value:
                prune(child)


def stays(node: Any) -> bool:
    # The book's visitor never deletes constants: its base class brings a method of its own for them.
    return bool(node.kept) or isinstance(node, ast.Constant)


def minimise_in_turns(fails: Callable[..., bool], arguments: dict[str, Any], turns: list[str]) -> tuple[Any, int]:
    """Minimise one argument after the other, with one cache for all; the number of tests with the one at the start."""
    seen: dict[str, bool] = {}

    def test(changed: dict[str, Any]) -> Outcome:
        key = repr(changed)
        if key not in seen:
            seen[key] = fails(**changed)
        return F if seen[key] else P

    assert test(arguments) is F
    for name in turns:
        arguments = {**arguments, name: minimised(arguments, name, test)}
    return arguments, len(seen)


def minimised(arguments: dict[str, Any], name: str, test: Callable[[dict[str, Any]], Outcome]) -> Any:
    whole = arguments[name]

    def some(configuration: IntervalSet) -> Any:
        kept = [whole[position] for position in configuration]
        return "".join(kept) if isinstance(whole, str) else kept

    def oracle(configuration: IntervalSet) -> Outcome:
        return test({**arguments, name: some(configuration)})

    if oracle(EMPTY) is F:
        return some(EMPTY)
    return some(run(with_ends(BookDD(EMPTY, IntervalSet.range(0, len(whole)), mode="-")), oracle).best.c_fail)


def test_two_strings() -> None:
    found, tests = minimise_in_turns(lambda s1, s2: s1 in s2, {"s1": "foo", "s2": "foobar"}, ["s2", "s1", "s2"])
    assert found == {"s1": "", "s2": ""}
    assert tests == 8


@pytest.mark.parametrize("turns", [["l1", "l2", "l1"], ["l2", "l1", "l2"]])
def test_two_lists(turns: list[str]) -> None:
    arguments = {"l1": list(range(1, 11)), "l2": [1, 2, 3]}
    found, _ = minimise_in_turns(lambda l1, l2: not len(l1) < len(l2) < 5, arguments, turns)
    assert found == {"l1": [], "l2": []}
