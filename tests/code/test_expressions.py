"""What is left out of a statement, and what takes the place of an expression."""

from __future__ import annotations

from functools import partial
from itertools import pairwise

import pytest

from replay_dd.code.characters import leave_out_characters
from replay_dd.code.edits import Cut, without
from replay_dd.code.expressions import (
    CONSTANTS,
    child_instead,
    constant_instead,
    empty_strings,
    leave_out_elements,
    leave_out_parts,
)
from replay_dd.code.names import inline_variables, leave_out_parameters, shorten_names
from replay_dd.code.syntax import parse
from tests.code.edits import OfFile, all_together, each_alone

pytestmark = pytest.mark.once


@pytest.mark.parametrize(
    ("text", "alone", "together"),
    [
        ("f(a, b , c)\n", ["f(b , c)\n", "f(a , c)\n", "f(a, b)\n"], "f()\n"),
        ("f(a, b,)\n", ["f(b,)\n", "f(a,)\n"], "f()\n"),
        ("[a]\n", ["[]\n"], "[]\n"),
        ("import a, b\n", ["import b\n", "import a\n"], "import \n<does not parse>"),
        ("from m import (a as b, c)\n", ["from m import (c)\n", "from m import (a as b)\n"], None),
        ("def f(a, *, b=1): pass\n", ["def f(*, b=1): pass\n", "def f(a, b=1): pass\n"], "def f(): pass\n"),
        ("x[a, b:c]\n", ["x[b:c]\n", "x[a]\n"], None),
        ("x = {1: 2, **d}\n", ["x = {**d}\n", "x = {1: 2}\n"], "x = {}\n"),
        ("'a' 'b'\n", ["'b'\n", "'a'\n"], None),
        ("lambda a, b=1: 0\n", ["lambda b=1: 0\n", "lambda a: 0\n"], "lambda: 0\n"),
        ("lambda *a: 0\n", ["lambda: 0\n"], "lambda: 0\n"),
        ("global a\n", [], "global a\n"),
    ],
)
def test_elements_go_with_the_comma_that_would_be_left_over(text: str, alone: list[str], together: str | None) -> None:
    found = each_alone(text, leave_out_elements)
    assert [one for one in found if "<does" not in one][: len(alone)] == alone
    if together is not None:
        assert all_together(text, leave_out_elements) == together


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("def f(a: int = 1) -> str: pass\n", {"def f(a: int) -> str: pass\n", "def f(a = 1) -> str: pass\n"}),
        ("def f(a: int = 1) -> str: pass\n", {"def f(a: int = 1): pass\n"}),
        ("async def f(): pass\n", {"def f(): pass\n"}),
        ("class A(B): pass\n", {"class A: pass\n"}),
        ("x: int = 3\n", {"x = 3\n", "x: int\n"}),
        ("raise A from b\n", {"raise A\n"}),
        ("return a\n", {"return\n"}),
        ("try:\n    a\nexcept E as e:\n    b\n", {"try:\n    a\nexcept:\n    b\n"}),
        ("@d\n@e(1)\ndef f(): pass\n", {"@e(1)\ndef f(): pass\n", "@d\ndef f(): pass\n"}),
        ("[a for b in c if d if e]\n", {"[a for b in c if e]\n", "[a for b in c if d]\n"}),
        ('f"a{b!r:>3}c"\n', {'f"a c"\n', 'f"a{b:>3}c"\n', 'f"a{b!r}c"\n'}),
        ("lambda a: b\n", {"lambda: b\n"}),
    ],
)
def test_optional_parts_go_with_their_signs(text: str, left: set[str]) -> None:
    assert left <= set(each_alone(text, leave_out_parts))


def test_an_expression_gives_way_to_one_inside_it() -> None:
    first, second = (partial(child_instead, rank=rank) for rank in (0, 1))
    assert each_alone("a.b\n", first) == ["a\n"]
    assert each_alone("a.b\n", second) == []
    assert each_alone("f(x, y=z)\n", first)[0] == "f\n"
    assert each_alone("f(x, y=z)\n", second) == ["x\n"]
    assert "f(x, z)\n" in each_alone("f(x, y=z)\n", first)
    assert each_alone("not(x)\n", first) == ["(x)\n", "not x\n"], "words stay apart"
    assert each_alone("f((x\n  + y))\n", second) == ["(x\n  + y)\n", "f((y))\n"]
    assert each_alone("f(x\n + y)\n", second) == ["(x\n + y)\n", "f(y)\n"]
    assert each_alone("f(x := 1)\n", second) == ["(x := 1)\n", "f(1)\n"]


def test_constants_in_an_order() -> None:
    zero, none, true, false = (partial(constant_instead, constant=constant) for constant in CONSTANTS)
    assert each_alone("x = a\n", zero) == ["x = 0\n"]
    assert each_alone("x = 0\n", zero) == each_alone("x = 0\n", none) == each_alone("x = 0\n", false) == []
    assert each_alone("x = True\n", zero) == ["x = 0\n"]
    assert each_alone("x = True\n", none) == ["x = None\n"]
    assert each_alone("x = True\n", true) == each_alone("x = True\n", false) == []
    assert all_together("if a(b.c, 'd'): e = f\n", zero) == "if 0: e = 0\n"
    assert all_together("for a in b: a.c = d[e]\n", zero) == "for a in 0: 0.c = 0\n<does not parse>"
    assert each_alone("x = b'''ab'''\n", empty_strings) == ["x = ''\n"]


def of_all(edits: object) -> OfFile:
    return lambda file, content, tree: edits([(content, tree)])  # type: ignore[operator, no-any-return]


def test_names_become_shorter_everywhere() -> None:
    text = "def total(a, rebate): return total(a, rebate=rebate)\n"
    assert each_alone(text, of_all(shorten_names)) == [
        "def b(a, rebate): return b(a, rebate=rebate)\n",
        "def total(a, d): return total(a, d=d)\n",
    ]


def test_variables_become_constants() -> None:
    text = "limit = 3\nother = f()\nprint(limit, other)\n"
    assert each_alone(text, of_all(inline_variables)) == [
        "other = f()\nprint(3, other)\n",
        "limit = 3\nprint(limit, 0)\n",
    ]
    assert each_alone("if a:\n    b = 1\nprint(b)\n", of_all(inline_variables)) == ["if a:\n    pass\nprint(1)\n"]
    assert each_alone("b = 1\nb = 2\nprint(b)\n", of_all(inline_variables)) == []


def test_parameters_go_with_their_arguments() -> None:
    text = "def f(a, b=1): return a\nf(1, 2)\nf(b=3, a=4)\n"
    assert each_alone(text, of_all(leave_out_parameters)) == [
        "def f(b=1): return a\nf(2)\nf(b=3)\n",
        "def f(a): return a\nf(1)\nf(a=4)\n",
    ]
    text = "class A:\n    def __init__(self, a): pass\n    def g(self, b): pass\nA(1).g(2)\n"
    assert each_alone(text, of_all(leave_out_parameters)) == [
        "class A:\n    def __init__(self): pass\n    def g(self, b): pass\nA().g(2)\n",
        "class A:\n    def __init__(self, a): pass\n    def g(self): pass\nA(1).g()\n",
    ]


def test_characters_of_what_has_no_further_syntax() -> None:
    text = "x = rb'a\\n' # é\n"
    assert each_alone(text, leave_out_characters) == [
        "x = b'a\\n' # é\n",
        "x = r'a\\n' # é\n",
        "x = rb'\\n' # é\n",
        "x = rb'a' # é\n",
        "x = rb'a\\n' #é\n",
        "x = rb'a\\n' # \n",
    ]


def test_cuts_may_overlap() -> None:
    assert without(b"abcdef", [Cut(1, 4, b"-"), Cut(2, 3, b"x"), Cut(3, 5)]) == b"a-f"
    assert without(b"in(a)", [Cut(2, 3), Cut(4, 5)]) == b"in a"
    assert without(b"in(a)", [Cut(2, 3), Cut(4, 5)], apart=False) == b"ina"


def test_the_tree_has_every_token() -> None:
    content = "def f(a, b=1):\n    return {a: 'ä'}  # c\n".encode()
    leaves = [node for node in parse(content).walk() if not node.children]
    assert [content[one.stop : other.start].strip() for one, other in pairwise(leaves)] == [b""] * (len(leaves) - 1)
    assert all(node.parent is not None and node in node.parent.children for node in leaves)
