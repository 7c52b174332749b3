"""Statements that are left out, and blocks that take the place of theirs."""

from __future__ import annotations

from functools import partial

import pytest

from replay_dd.code.statements import leave_out_blank_lines, leave_out_statements, pass_instead, unwrap
from tests.code.edits import all_together, each_alone

pytestmark = pytest.mark.once


def at(depth: int) -> partial[list[object]]:
    return partial(leave_out_statements, depth=depth)  # type: ignore[arg-type]


def test_statements_go_with_their_lines_and_comments() -> None:
    text = "a = 1  # one\n# two\nb = 2; c = 3\n"
    assert each_alone(text, at(0)) == [
        "# two\nb = 2; c = 3\n",
        "a = 1\n# two\nb = 2; c = 3\n",
        "a = 1  # one\nb = 2; c = 3\n",
        "a = 1  # one\n# two\nc = 3\n",
        "a = 1  # one\n# two\nb = 2\n",
    ]
    assert all_together(text, at(0)) == ""


def test_a_block_never_becomes_empty() -> None:
    text = "if a:\n\tb\n\t# c\n\td\nelse: e; f\n"
    assert all_together(text, at(1)) == "if a:\n\tpass\n"
    alone = each_alone(text, at(1))
    assert alone[0] == "if a:\n\t# c\n\td\nelse: e; f\n"
    assert "if a:\n\tb\n\t# c\n\td\n" in alone, "without the clause"
    assert "if a:\n\tb\n\t# c\n\td\nelse: f\n" in alone
    assert each_alone("def f():\n    pass\n", at(1)) == []
    assert each_alone("class A:\n    '''doc'''\n", at(1)) == ["class A:\n    pass\n"]


def test_ends_of_lines_and_indentation_stay() -> None:
    text = "if a:\r\n\tb\r\n\tc\r\nd\r\n"
    assert each_alone(text, at(1)) == ["if a:\r\n\tc\r\nd\r\n", "if a:\r\n\tb\r\nd\r\n"]
    assert each_alone(text, at(0))[0] == "d\r\n"
    assert each_alone("a\nb", at(0)) == ["b", "a\n"]


def test_clauses_cases_and_definitions_below_decorators() -> None:
    text = "match a:\n    case 1:\n        b\n    case _:\n        c\n"
    assert each_alone(text, at(1)) == [
        "match a:\n    case _:\n        c\n",
        "match a:\n    case 1:\n        b\n",
    ]
    assert each_alone(text, at(2))[0] == "match a:\n    case 1:\n        pass\n    case _:\n        c\n"
    text = "@d\nclass A:\n    x = 1\n    def f(self):\n        return 2\n"
    assert each_alone(text, at(2)) == ["@d\nclass A:\n    x = 1\n    def f(self):\n        pass\n"]
    text = "try:\n    a\nexcept E:\n    b\nfinally:\n    c\n"
    assert "try:\n    a\nfinally:\n    c\n" in each_alone(text, at(1))


def test_a_block_takes_the_place_of_its_statement() -> None:
    text = "def f():\n    if a:\n        b(1,\n          2)\n        c = '''\n        text'''\n    else:\n        d\n"
    first, inner = each_alone(text, partial(unwrap, rank=0))
    assert first == "if a:\n    b(1,\n      2)\n    c = '''\n        text'''\nelse:\n    d\n".replace(
        "      2", "      2"
    )
    assert inner == "def f():\n    b(1,\n      2)\n    c = '''\n        text'''\n"
    (other,) = each_alone(text, partial(unwrap, rank=1))
    assert other == "def f():\n    d\n"
    assert all_together(text, partial(unwrap, rank=0)) == "b(1,\n  2)\nc = '''\n        text'''\n"
    assert each_alone("if a: b; c\n", partial(unwrap, rank=0)) == ["b; c\n"]
    assert each_alone("@d\ndef f():\n\tb\n", partial(unwrap, rank=0)) == ["b\n"]


def test_pass_and_blank_lines() -> None:
    assert each_alone("abcdef()\nx\n", pass_instead) == ["pass\nx\n"]
    text = "a\n\n \nb = '''\n\n'''\n\n"
    assert each_alone(text, leave_out_blank_lines) == ["a\nb = '''\n\n'''\n\n", "a\n\n \nb = '''\n\n'''\n"]
