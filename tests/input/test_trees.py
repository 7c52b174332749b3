"""Trees over files: brackets, grammars, and what is left when nodes are left out or replaced."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replay_dd.dd import EMPTY, IntervalSet
from replay_dd.errors.machine import SoftwareMissingError
from replay_dd.errors.user import UsageError
from replay_dd.input import grammars
from replay_dd.input.brackets import bracket_tree
from replay_dd.input.grammars import LANGUAGES, language_of, token_edges, tree_parser
from replay_dd.input.levels import prune
from replay_dd.input.space import Replaced, Subtrees
from replay_dd.input.trees import Node, everything, families_at, substitutes
from replay_dd.input.units import edges_of

pytestmark = pytest.mark.once


def text_of(content: bytes, node: Node) -> str:
    return content[node.start : node.stop].decode()


def families(content: bytes, depth: int) -> list[list[str]]:
    found = families_at(bracket_tree(content), depth)
    return [[text_of(content, node) for node in family] for family in found]


# -- brackets --------------------------------------------------------------------------------------------------------


def test_brackets_hold_items() -> None:
    content = b"f(a, [b; c], {});\nlast"
    assert families(content, 0) == [["f(a, [b; c], {})", "last"]]
    assert families(content, 1) == [["(a, [b; c], {})"]]
    assert families(content, 2) == [["a", "[b; c]", "{}"]]
    assert families(content, 3) == [["b", "c"]]


def texts_at(content: bytes, depth: int) -> list[bytes]:
    """What the nodes at a depth hold."""
    return [content[node.start : node.stop] for family in families_at(bracket_tree(content), depth) for node in family]


@pytest.mark.parametrize("first", ["<!-- (a -->", "<!-- a -->", "f(x)"])
def test_tags_with_a_partner_are_brackets(first: str) -> None:
    rows = ["<li>don't</li>", "<li>can't, or</li>"]
    whole = f'<ul class="a>b">{"".join(rows)}<br></ul>'
    page = f"{first}\n{whole}\nvector<int> x\n".encode()
    assert texts_at(page, 0) == [first.encode(), whole.encode(), b"vector<int> x"]
    tags = [text_of(page, node) for node in everything(bracket_tree(page)) if node.kind == "tags"]
    assert tags == [whole, *rows]


@pytest.mark.parametrize(
    ("begins", "ends", "other"),
    [
        ("BEGIN:VCARD", "END:VCARD", "END:VEVENT"),
        (r"\begin{table}[h]", r"\end{table}", r"\end{list}"),
        ("-----BEGIN PUBLIC KEY-----", "-----END PUBLIC KEY-----", "-----END CERTIFICATE-----"),
    ],
)
def test_lines_that_begin_and_end_something_by_name_are_brackets(begins: str, ends: str, other: str) -> None:
    block = f"{begins}\none (1\ntwo\n{ends}"
    assert texts_at(f"first\n{block}\n{block}\nlast".encode(), 0) == [b"first", block.encode(), block.encode(), b"last"]
    assert texts_at(f"first\n{block}".encode(), 1)[-2:] == [b"one (1", b"two"]
    lines = block.replace(ends, other)
    assert texts_at(lines.encode(), 0) == lines.encode().split(b"\n"), "without a partner"
    assert texts_at(f"x {block}".encode(), 0)[0] == f"x {begins}".encode(), "within a line"


@pytest.mark.parametrize("page", [b"a (b\n<i>c) d</i>\ne", b"a\n<i>b (c</i>\nd) e", b"(a)\n<i>b[c</i>\n(d)] e"])
def test_brackets_that_cross_tags_are_text(page: bytes) -> None:
    assert texts_at(page, 0) == page.split(b"\n")


def test_no_depth_is_passed_over_where_a_node_is_one_with_its_child() -> None:
    """Without the first line, the root is the round brackets."""
    content = b"x\n(\n[a]\n[b]\n[c]\n)"
    searches = prune(content, bracket_tree, coarse=True)
    space, searched = next(searches), set[bytes]()
    while isinstance(space, Subtrees):
        searched |= {content[slice(*space.stretch(delta))] for delta in space.all}
        content = space.build(
            IntervalSet.of(delta for delta in space.all if b"b" in content[slice(*space.stretch(delta))])
        )
        space = searches.send((b"", content))
    assert {b"[a]", b"[b]", b"[c]", b"b"} <= searched
    assert content == b"(\n[b]\n)"


def test_items_on_one_line_go_together_before_they_go_alone() -> None:
    table = b"id,name\n1,ash\n\n2,(\n3,bay; 4\n)\n"
    assert families(table, 0) == [["id,name", "1,ash", "2,(\n3,bay; 4\n)"]]
    assert families(table, 1) == [["id", "name"], ["1", "ash"], ["2", "(\n3,bay; 4\n)"]]
    assert families(table, 2) == [["3", "bay", "4"]], "a single line is no unit of its own"
    space = Subtrees(table, families_at(bracket_tree(table), 0))
    assert space.build(IntervalSet.of([0, 2])) == b"id,name\n2,(\n3,bay; 4\n)\n"


@pytest.mark.parametrize("content", [b"a) (b", b"((]", b"'(' \"[\" {", b"'a\n('", b"]][["])
def test_brackets_without_a_partner_or_in_quotes_are_text(content: bytes) -> None:
    assert families(content, 1) == []


@given(st.text("ab()[]{},;\n\" '", max_size=30).map(str.encode))
def test_any_text_has_a_tree_of_brackets(content: bytes) -> None:
    for node in everything(bracket_tree(content)):
        places = [node.start, *(place for child in node.children for place in (child.start, child.stop)), node.stop]
        assert places == sorted(places)
        text = content[node.start : node.stop]
        if node.kind == "item":
            assert text
            assert text.strip() == text


# -- leaving out -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kept", "left"),
    [
        ("abc", "[a, b, c]"),
        ("ab", "[a, b]"),
        ("ac", "[a, c]"),
        ("bc", "[b, c]"),
        ("b", "[b]"),
        ("c", "[c]"),
        ("", "[]"),
    ],
)
def test_separators_go_with_what_they_separate(kept: str, left: str) -> None:
    content = b"[a, b, c]"
    space = Subtrees(content, families_at(bracket_tree(content), 0))
    configuration = IntervalSet.of("abc".index(letter) for letter in kept)
    assert space.build(configuration).decode() == left
    assert space.words(1) == "item: 'b'"


def test_lines_go_whole_and_blanks_go_with_what_follows_them() -> None:
    content = b"one\n  two (x) y\r\nthree"
    space = Subtrees(content, families_at(bracket_tree(content), 0))
    assert space.build(IntervalSet.of([0, 2])) == b"one\nthree"
    assert space.build(EMPTY) == b""
    inner = Subtrees(content, families_at(bracket_tree(content), 1))
    assert inner.build(EMPTY) == b"one\n  two y\r\nthree"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text('ab,]"', max_size=3),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text("xyz", max_size=2), inner, max_size=4),
    max_leaves=12,
)


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_empty_lines_go_with_the_line_before_them(end: bytes) -> None:
    content = b"\n\n a, b\n\n\n\nc\n\nd\n\ne\n".replace(b"\n", end)
    space = Subtrees(content, families_at(bracket_tree(content), 0))
    assert space.all.count == 4
    assert space.build(space.all) == content
    assert space.build(IntervalSet.of([2])) == b"\n\nd\n\n".replace(b"\n", end)
    assert space.build(IntervalSet.of([1, 3])) == b"\n\nc\n\ne\n".replace(b"\n", end)


@given(JSON, st.integers(0, 6), st.sets(st.integers(0, 12)), st.sampled_from([None, 2]))
def test_what_is_left_of_json_is_json(value: object, depth: int, kept: set[int], indent: int | None) -> None:
    content = json.dumps(value, indent=indent).encode()
    lists = [
        node.children
        for node in everything(tree_parser("json")(content))
        if node.kind in ("array", "object") and node.children
    ]
    space = Subtrees(content, lists)
    assert space.build(space.all) == content
    # Nodes inside of what is left out matter no more.
    json.loads(space.build(IntervalSet.of(number for number in kept if number in space.all)))


# -- replacing -------------------------------------------------------------------------------------------------------


def test_a_node_is_replaced_by_what_can_take_its_place() -> None:
    content = b'{"a": [1, {"b": 2}], "c": f}'
    pairs = substitutes(tree_parser("json")(content), 0)
    texts = [(text_of(content, node), text_of(content, other)) for node, other in pairs]
    assert ('[1, {"b": 2}]', "1") in texts
    assert ('{"b": 2}', '"b"') in texts
    others = [
        (text_of(content, node), text_of(content, other))
        for node, other in substitutes(tree_parser("json")(content), 1)
    ]
    assert ('[1, {"b": 2}]', '{"b": 2}') in others
    space = Replaced(content, pairs)
    assert space.build(space.all) == content
    number = texts.index(('[1, {"b": 2}]', "1"))
    assert space.build(space.all - IntervalSet.of([number])) == b'{"a": 1, "c": f}'


def test_a_statement_takes_the_place_of_another_one() -> None:
    content = b"void f() { if (x) { while (y) g(); } }"
    found = {(node.kind, other.kind) for node, other in substitutes(tree_parser("c")(content), 0)}
    assert ("if_statement", "compound_statement") in found
    assert ("compound_statement", "while_statement") in found


# -- grammars --------------------------------------------------------------------------------------------------------

SAMPLES = {
    "c": "int a[] = {1, 2};",
    "cpp": "namespace n { int a; }",
    "css": "a { color: red; }",
    "html": "<p>One <b>two</b>",
    "java": "class A { int a; }",
    "javascript": "f(1, [2]);",
    "json": '{"a": [1]}',
    "python": "def f():\n    return (1,)\n",
    "sql": "SELECT a FROM b;",
    "xml": "<a><b/></a>",
    "yaml": "a:\n  - 1\n",
}


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_has_a_tree_and_tokens(language: str) -> None:
    content = SAMPLES[language].encode()
    nodes = list(everything(tree_parser(language)(content)))
    assert len(nodes) > 3
    assert not any("ERROR" in node.kind for node in nodes)
    name = f"file{LANGUAGES[language][0]}"
    assert language_of(name) == language
    edges = token_edges(name, None)(content)
    assert (edges[0], edges[-1]) == (0, len(content))
    assert len(edges) > 4


def test_tokens_keep_everything() -> None:
    content = b"\n  x = 'a b' # \xff \xc3\xa9\n"
    edges = token_edges("a.py", None)(content)
    pieces = [content[start:stop] for start, stop in pairwise(edges)]
    assert b"".join(pieces) == content
    assert pieces[:3] == [b"\n  ", b"x ", b"= "]
    assert edges == edges_of(pieces)


def test_languages_that_are_not_known(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match="which language"):
        language_of("notes.txt")
    with pytest.raises(UsageError, match="no lexer"):
        token_edges("notes.nothing", None)
    with pytest.raises(UsageError, match="no lexer"):
        token_edges("a.py", "klingon")
    with pytest.raises(SoftwareMissingError, match="klingon"):
        tree_parser("klingon")

    def missing(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(grammars.importlib, "import_module", missing)
    with pytest.raises(SoftwareMissingError) as told:
        token_edges("a.py", None)
    assert "replay-dd[syntax]" in told.value.hint
