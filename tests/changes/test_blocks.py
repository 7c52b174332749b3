"""Which changes the grammar ties together: whatever is applied or left out alone, with what it needs, parses."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from replay_dd.changes.clauses import Clause, clauses_of
from replay_dd.changes.dependences import Dependences
from replay_dd.changes.difference import Difference
from replay_dd.changes.levels import groups
from replay_dd.changes.names import Names
from replay_dd.dd import IntervalSet
from tests.changes.versions import difference

pytestmark = pytest.mark.once

CLAUSES = """\
@decorated
def f(
    a,
):
    if a:
        one
    elif a: two
    else:
        if three:
            four
    try:
        five
        six
    except A:
        seven
    finally:
        eight
    match a:
        case (1,
              2):
            nine
"""

# What each case ties: the name, the old version, the new one, and how many statements come or go on their own.
CASES = [
    ("a body is written anew", "if a:\n    b = 1\n    c = 1\n", "if a:\n    d()\n    e()\n    f()\n", 3),
    ("a try goes with its handler", "try:\n    a()\nexcept A:\n    b()\n    c()\nd()\n", "a(1, 2)\nd()\n", 3),
    (
        "a handler becomes another",
        "try:\n    a()\nexcept A:\n    return_(b)\n",
        "try:\n    a()\nfinally:\n    c.d = 1\n",
        2,
    ),
    ("an else comes", "if a:\n    b()\nc()\n", "if a:\n    b()\nelse:\n    d()\n    e()\nc()\n", 2),
    (
        "another else comes",
        "if a:\n    b()\nelse:\n    c()\n",
        "if a:\n    b()\nelif d:\n    e()\nelse:\n    f.g = 1\n",
        2,
    ),
    ("a head becomes another", "try:\n    a()\nfinally:\n    b()\n", "with c as d, e as f:\n    a()\ng()\n", 2),
    ("a head becomes no head", "if a(b, c):\n    d()\nelse:\n    e()\nf()\n", "g = a(b, c)\nh()\nf()\n", 4),
    (
        "a statement goes between the lines of one that comes",
        "from a import (b, c)\nfrom d import e\nfrom f import (g, h)\n",
        "from a import (\n    b,\n    c,\n    g,\n    h,\n)\n",
        4,
    ),
    (
        "a statement goes between a head that comes and its block",
        "def a():\n    b = 1\n    c = 2\n    return d\n",
        "def a():\n    for b in c:\n        if e:\n            d.f(g)\n            return d\n",
        1,
    ),
    (
        "statements go between a head and a statement of several lines",
        "def a():\n    one(1)\n    if two:\n        three(3)\n    four = five\n    return six\n",
        "def a():\n    with seven(7) as w:\n        return nine(\n            ten,\n            x,\n        )\n",
        3,
    ),
    (
        "a string has other ends",
        'def a():\n    """One.\n\n    Same.\n    """\n',
        'def b(c):\n    """Two three four\n    five.\n\n    Same.\n    """\n',
        2,
    ),
    (
        "a body of one statement becomes two of several lines",
        "d.g = 2\nfor h in h:\n    e = a\npass\n",
        (
            "d.g = 2\nfor h in h:\n    h = [\n        b,\n        c,\n    ]\n    a = [\n        g,\n"
            "        a,\n    ]\npass\n"
        ),
        1,
    ),
    (
        "a block comes between a statement and what follows it",
        "a = [\n    b,\n    c,\n]\nd(d)\nfor e in a:\n    pass\n    c(b)\n",
        (
            "a = [\n    b,\n    c,\n]\nd(d)\nfor e in a:\n    for f in a:\n        f(d)\n    if c:\n"
            "        pass\n        c(b)\n"
        ),
        2,
    ),
    (
        "a head goes with its other clause, and its body stays",
        (
            "a = 8\nif b:\n    c = d\n    if b:\n        e = d\n    elif e:\n        f = e\nelse:\n"
            "    for f in b:\n        b = c\nc(e)\n"
        ),
        "a = 8\nc = d\nif b:\n    e = d\nelif e:\n    f = e\nc(e)\n",
        4,
    ),
    (
        "statements stay under other heads",
        "if a:\n    b(b)\n    c(d)\nelif e:\n    pass\nelse:\n    f.f = 6\n    f(a)\n",
        "b(b)\ntry:\n    a = d\n    pass\n    a(c)\nfinally:\n    c.e = 1\n    pass\n    pass\nc(d)\n",
        8,
    ),
    (
        "a try comes around a try",
        "try:\n    a(b)\n    pass\nfinally:\n    c.d = 3\nif d:\n    b(b)\n",
        (
            "try:\n    try:\n        a(b)\n        pass\n    finally:\n        c.d = 3\n    if d:\n"
            "        b(b)\nexcept E:\n    pass\n"
        ),
        5,
    ),
    (
        "an if becomes a try",
        "if a:\n    b = c\n    d = b\n",
        "try:\n    b = c\n    d = b\nexcept E:\n    e(b)\n",
        1,
    ),
    (
        "an if goes, and a statement of several lines comes",
        "if a:\n    b = c\n    pass\n    d = a\nelif e:\n    f(a)\n",
        "b(h)\nf = [\n    e,\n    d,\n]\n",
        4,
    ),
    ("a statement goes", "a(b)\nc(c)\n", "a(b)\n", 1),
    (
        "a class comes with its method",
        "a = 1\n",
        "a = 1\n\n\nclass B:\n    def c(self):\n        d()\n        e()\n",
        5,
    ),
]


def _closed(found: Difference) -> Iterator[tuple[IntervalSet, IntervalSet]]:
    """Each statement with all that it needs, and everything without it and what needs it."""
    needs = Dependences(found, Names(found))
    for statement in groups(found, found.all, "statement"):
        yield needs.closed(statement, found.all), needs.reduced(found.all - statement, found.all)


@pytest.mark.parametrize(("old", "new", "statements"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_statements_parse_alone_and_may_be_left_out_alone(tmp_path: Path, old: str, new: str, statements: int) -> None:
    found = difference(tmp_path, {"a.py": old}, {"a.py": new})
    for configurations in _closed(found):
        for configuration in configurations:
            version = found.mixture(configuration).get("a.py")
            if version is not None and version.content is not None:
                ast.parse(version.content)
    assert len(groups(found, found.all, "statement")) == statements


def test_clauses_are_heads_with_the_statements_that_they_indent() -> None:
    assert clauses_of(CLAUSES.encode().splitlines(keepends=True)) == [
        Clause(0, (4, 10, 17), 0, b"@decorated"),
        Clause(4, (5,), 4, b"if"),
        Clause(6, (), 4, b"elif"),
        Clause(7, (8,), 4, b"else"),
        Clause(8, (9,), 8, b"if"),
        Clause(10, (11, 12), 10, b"try"),
        Clause(13, (14,), 10, b"except"),
        Clause(15, (16,), 10, b"finally"),
        Clause(18, (20,), 17, b"case"),
    ]
    assert clauses_of([b"if\n"]) == []
