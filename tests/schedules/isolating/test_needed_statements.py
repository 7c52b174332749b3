"""Statements that are left out of the text of a program."""

from __future__ import annotations

import ast

import pytest

from replay_dd.schedules.isolating.needed_statements import statements_of, without

pytestmark = pytest.mark.once

TEXT = '''\
"""Ünï."""
import a; import b
@deco(
    1)
class C:
    x = "ß"; y = 2
    def f(self):
        if a:
            return (1,
                    2)
        elif b:
            pass
        else:
            z()
'''.encode()


def test_all_statements_and_where_they_are() -> None:
    found = list(statements_of("m.py", TEXT))
    texts = [TEXT[one.start : one.stop].decode().splitlines()[0] for one in found]
    assert texts == [
        '"""Ünï."""',
        "import a",
        "import b",
        "@deco(",
        'x = "ß"',
        "y = 2",
        "def f(self):",
        "if a:",
        "return (1,",
        "elif b:",
        "pass",
        "z()",
    ]
    assert [one.line for one in found] == [1, 2, 2, 3, 6, 6, 7, 8, 9, 11, 12, 14]


def test_what_is_left_has_the_same_lines() -> None:
    found = list(statements_of("m.py", TEXT))
    for one in found:
        left = without(TEXT, [one])
        assert left.count(b"\n") == TEXT.count(b"\n")
        if not TEXT[one.start :].startswith(b"elif"):
            ast.parse(left)
    assert without(TEXT, found[1:3]).splitlines()[1] == b"pass; pass"
    assert without(TEXT, [found[6], found[8]]) == without(TEXT, [found[6]])
    assert without(TEXT, []) == TEXT
    end = without(TEXT, [found[8]])
    assert end.splitlines()[8:10] == [b"            pass", b""]
