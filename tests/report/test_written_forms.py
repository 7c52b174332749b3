"""Nothing that a program says can end a diagram, a table, a block of code or a string literal."""

from __future__ import annotations

import ast
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replay_dd.cli.highlight import highlighted
from replay_dd.report.markdown import code, plain
from replay_dd.report.mermaid import escaped
from replay_dd.report.order_test import _docstring, _string, literal

NASTY = [
    "end",
    "a;b",
    "#35;",
    "``` x",
    "%%{init}%%",
    "<b>",
    "a|b",
    "$$x$$",
    "wrap: x",
    "a\nb",
    "\x1b[31mred",
    "a -->> b",
]


@given(st.one_of(st.sampled_from(NASTY), st.text()))
def test_a_text_in_a_diagram_is_only_text(text: str) -> None:
    told = escaped(text)
    assert re.fullmatch(r"(#\d+;|[^#;`<>|$%&\"@{}~\n\r\x00-\x1f])*", told)
    assert "wrap:" not in told


def test_a_text_in_a_diagram_can_be_read_back() -> None:
    told = escaped("if a[k] > 0: b = {'x': \"1;\"} # end")
    back = re.sub(r"#(\d+);", lambda found: chr(int(found[1])), told)
    assert back == "if a[k] > 0: b = {'x': \"1;\"} # end"
    assert escaped("plain_name.py:12 x = y + 1, [0] (2)") == "plain_name.py:12 x = y + 1, [0] (2)"
    assert len(re.sub(r"#(\d+);", "x", escaped("<" * 500))) == 90


@given(st.one_of(st.sampled_from(NASTY), st.text()))
def test_code_in_markdown_stays_in_its_cell(text: str) -> None:
    told = code(text)
    assert "\n" not in told
    assert "|" not in told
    if told and not told.startswith("<code>"):
        assert told.count("`") == 2
    else:
        assert not set(told.removeprefix("<code>").removesuffix("</code>")) & set("`|<>")


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("reads 100 (1)", "reads 100 (1)"),
        ("stores '<b>' over a_b", "stores '&#60;b&#62;' over a_b"),
        ("a._b and __init__ and c_", "a.&#95;b and &#95;&#95;init&#95;&#95; and c&#95;"),
        ("see #12 and @bob", "see &#35;12 and @<!-- -->bob"),
        ("![x](http://y)", "&#33;&#91;x&#93;(http&#58;//y)"),
        ("a|b*c`d", "a&#124;b&#42;c&#96;d"),
        ("- item", "&#45; item"),
    ],
)
def test_plain_text_in_markdown(text: str, written: str) -> None:
    assert plain(text) == written


@given(st.one_of(st.sampled_from(NASTY), st.text()))
def test_a_literal_says_what_it_is(text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError:
        return
    assert ast.literal_eval(literal(text)) == text
    assert literal(text).isprintable()


@given(st.text(alphabet="ab \"'\\\t", min_size=1, max_size=300))
def test_a_long_literal_is_written_in_parts(text: str) -> None:
    lines = _string(text, 8)
    assert ast.literal_eval("(" + "\n".join(lines) + ")") == text


def test_a_long_line_is_written_in_lines_that_fit() -> None:
    lines = _string("word " * 60, 8)
    assert len(lines) > 1
    assert max(map(len, lines)) + 8 <= 88


@pytest.mark.parametrize(
    ("text", "written"), [("a", '"a"'), ("it's", '"it\'s"'), ('a"b', "'a\"b'"), ("a\\b", '"a\\\\b"')]
)
def test_quotes_are_those_that_formatters_choose(text: str, written: str) -> None:
    assert literal(text) == written


@given(st.one_of(st.sampled_from([*NASTY, '"""', "\\", 'x"', "\\N{x}"]), st.text()))
def test_a_docstring_holds_any_text(text: str) -> None:
    written = "\n".join(_docstring(f"A {text}.", [f"    {text}"], "command", "test_x.py"))
    (statement,) = ast.parse(written).body
    assert isinstance(statement, ast.Expr)
    assert isinstance(statement.value, ast.Constant)


def test_colors_are_a_layer_over_the_text() -> None:
    colors: dict[str, str] = {}
    lines = [
        "RACE on a.b (attribute of one A): lost update",
        "  thread 0.1  A.f",
        "    -- stopped in line 8; thread 0.2 runs --",
        "locks        thread 0.2 holds A.lock",
        "nothing of all that",
    ]
    told = [highlighted(line, colors) for line in lines]
    assert [re.sub(r"\x1b\[\d+m", "", line) for line in told] == lines
    assert [line != text for line, text in zip(told, lines, strict=True)] == [True, True, True, True, False]
    assert colors == {"0.1": "cyan", "0.2": "magenta"}
