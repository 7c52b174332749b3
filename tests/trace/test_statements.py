"""Which executions a value needs, for each kind of statement; and that a traced program does what it does untraced."""

from __future__ import annotations

from pathlib import Path

import pytest

from replay_dd.trace.slice import LEVELS
from tests.trace.programs import lines, sliced

# Each program ends with `x = ...`; the numbers are the lines of the executions that this value needs.
PROGRAMS: dict[str, tuple[str, list[int]]] = {
    "one round of a loop": ("x = 0\nfor n in range(5):\n    if n == 3:\n        x = n\n", [2, 2, 4]),
    "each round of a loop": ("x = 0\nfor n in (1, 2):\n    x += n\n", [1, 2, 3, 2, 3]),
    "loop that is left": (
        "x = 0\nfor n in range(9):\n    x = n\n    if n == 1:\n        break\nelse:\n    x = 7\n",
        [2, 2, 3],
    ),
    "loop to its end": ("for n in ():\n    pass\nelse:\n    x = 1\n", [4]),
    "while": ("x = 1\nwhile x < 4:\n    x = x + 1\n", [1, 3, 3, 3]),
    "function": ("def f(a):\n    b = a + 1\n    c = 9\n    return b\nx = f(1)\n", [1, 2, 4, 5]),
    "default return": ("def f():\n    return 0\nx = f() or 5\n", [1, 3]),
    "recursion": (
        "def f(n):\n    if n == 0:\n        return 1\n    return n * f(n - 1)\nx = f(2)\n",
        [1, 5, 4, 4, 3],
    ),
    "closure": (
        "def f():\n    n = 1\n    def g():\n        nonlocal n\n        n += 1\n        return n\n    return g\n"
        "g = f()\ng()\nx = g()\n",
        [1, 8, 2, 3, 7, 9, 5, 10, 5, 6],
    ),
    "generator": (
        "def f():\n    yield 1\n    log = 0\n    yield 2\ng = f()\ny = next(g)\nx = next(g)\n",
        [1, 5, 6, 7, 4],
    ),
    "two generators by turns": (
        "def f(n):\n    while True:\n        n += 1\n        yield n\na, b = f(0), f(10)\n"
        "next(a)\nnext(b)\nnext(a)\nx = next(b)\n",
        [1, 5, 7, 3, 9, 3, 4],
    ),
    "sent value": ("def f():\n    y = yield\n    yield y * 2\ng = f()\nnext(g)\nx = g.send(4)\n", [1, 4, 5, 2, 6, 3]),
    "comprehension": ("def f(n):\n    return n * n\nunused = f(3)\nx = [f(n) for n in (1, 2)]\n", [1, 4, 2, 2]),
    "class": (
        "class A:\n    one = 1\n    two = 2\n    def f(self):\n        return self.two\nx = A().f()\n",
        [1, 3, 4, 6, 5],
    ),
    "class in a function": ("def f():\n    class A:\n        n = 3\n    return A.n\nx = f()\n", [1, 5, 2, 3, 4]),
    "class that is not needed": ("class A:\n    n = 1\nx = 2\n", [3]),
    "exception that is caught": (
        "try:\n    n = int('a')\n    n = 5\nexcept ValueError:\n    x = 1\nfinally:\n    y = 2\n",
        [5],
    ),
    "exception from below": (
        "def f():\n    raise KeyError(1)\ntry:\n    f()\nexcept (ValueError, KeyError) as e:\n    x = e.args\n",
        [1, 4, 2, 6],
    ),
    "second handler": (
        "try:\n    [][1]\nexcept KeyError:\n    x = 1\nexcept IndexError:\n    x = 2\nelse:\n    x = 3\n",
        [6],
    ),
    "handler that raises again": (
        "x = 0\ntry:\n    try:\n        {}[1]\n    except KeyError:\n        x = 1\n        raise\n"
        "except LookupError:\n    x = x + 1\n",
        [6, 9],
    ),
    "finally": (
        "def f():\n    try:\n        return 1\n    finally:\n        log.append(2)\nlog = []\nf()\nx = log\n",
        [1, 6, 7, 5, 8],
    ),
    "with": (
        "class A:\n    def __enter__(self):\n        return 4\n    def __exit__(self, *_):\n        pass\n"
        "with A() as n:\n    x = n\n",
        [1, 2, 4, 6, 3, 7],
    ),
    "with that suppresses": (
        "import contextlib\nx = 0\nwith contextlib.suppress(KeyError):\n    x = 1\n    {}[2]\n    x = 3\n",
        [4],
    ),
    "two managers": (
        "import contextlib\nwith contextlib.nullcontext(1) as a, contextlib.nullcontext(2) as b:\n    x = b\n",
        [1, 2, 3],
    ),
    "match": ("match [1, 2]:\n    case [a]:\n        x = a\n    case [a, b] if b > 1:\n        x = b\n", [1, 5]),
    "match that binds nothing": ("match 3:\n    case 1:\n        x = 1\n    case _:\n        x = 2\n", [5]),
    "condition": ("a = 1\nif a > 5:\n    x = 1\nelif a == 1:\n    x = 2\n", [5]),
    "walrus": ("if (n := 3) > 2:\n    x = n\n", [1, 2]),
    "augmented": ("x = [1]\nx += [2]\nx.append(3)\ndel x[0]\n", [1, 2, 3, 4]),
    "annotated": ("x: int = 4\ny: int\n", [1]),
    "star": ("from string import *\nx = digits\n", [1, 2]),
    "decorator": (
        "def twice(f):\n    return lambda: f() * 2\n\n@twice\ndef f():\n    return 3\nx = f()\n",
        [1, 4, 2, 7, 6],
    ),
    "coroutine": (
        "import asyncio\nasync def f(n):\n    await asyncio.sleep(0)\n    m = 2\n    return n\nasync def g():\n"
        "    a = await asyncio.gather(f(1), f(2))\n    return a\nx = asyncio.run(g())\n",
        [1, 2, 6, 9, 7, 5, 5, 8],
    ),
    "dataclass": (
        "from dataclasses import dataclass\n@dataclass\nclass A:\n    n: int = 1\n    m: int = 2\nx = A().n\n",
        [1, 2, 4, 6],
    ),
    "enumeration": ("import enum\nclass A(enum.Enum):\n    B = 1\n    C = 2\nx = A.B.name\n", [1, 2, 3, 5]),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_a_value_needs(name: str, tmp_path: Path) -> None:
    text, needed = PROGRAMS[name]
    found = sliced(tmp_path, text, variable="x", levels=LEVELS[1])
    assert found.isolation.verified
    assert sorted(lines(found)) == sorted(needed)
