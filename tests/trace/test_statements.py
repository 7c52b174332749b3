"""Which executions a value needs, for each kind of statement; and that a traced program does what it does untraced.

All of it in this process: what is loaded into the program is tried alone.
"""

from __future__ import annotations

import array
import builtins
import contextlib
import copy
import datetime
import enum
import functools
import io
import re
import threading
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any

import numpy
import pytest

from replay_dd.dd import IntervalSet, PrefixBisection
from replay_dd.outcome import Outcome
from replay_dd.trace.runtime.following import Following
from replay_dd.trace.runtime.instrument import instrument
from replay_dd.trace.runtime.recording import Recording
from replay_dd.trace.runtime.values import text_of

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


class EndedError(BaseException):
    """A run has ended early."""


class Traced:
    """A program whose statements were noted."""

    def __init__(self, text: str) -> None:
        self._made = instrument(text, "__main__", 0, 0)
        self._code = compile(self._made.tree, "prog.py", "exec")
        recording = Recording()
        self.value, self.output = self._run(recording)
        lists = ("sites", "owners", "decisions", "codes", "parents")
        self._trace: dict[str, Any] = {name: getattr(recording, name).tolist() for name in lists}
        self._trace["raised"] = recording.raised
        self.events = IntervalSet.range(0, len(recording.sites))

    def _run(self, runtime: Any) -> tuple[str, str]:
        with with_runtime(runtime), contextlib.redirect_stdout(io.StringIO()) as output:
            scope: dict[str, Any] = {"__name__": __name__}
            exec(self._code, scope)
        return text_of(scope.get("x")), output.getvalue()

    def outcome(self, kept: IntervalSet) -> Outcome:
        """Whether the final value is the same."""
        ends = {number: site.inner_end for number, site in enumerate(self._made.sites) if site.inner_end}
        generators = {number for number, code in enumerate(self._made.codes) if code[1]}
        following = Following(self._trace, ends, generators, end_early)
        following.keep(list(kept.intervals))
        try:
            value, _ = self._run(following)
        except EndedError:
            return Outcome.UNRESOLVED
        return Outcome.FAIL if value == self.value else Outcome.PASS

    def needed(self) -> list[int]:
        """The lines of the executions that the final value of ``x`` needs, sorted."""
        assert self.outcome(self.events) is Outcome.FAIL
        search = PrefixBisection(self.events)
        while (kept := search.ask()) is not None:
            search.tell(self.outcome(kept))
        return sorted(self._made.sites[self._trace["sites"][event]].line for event in search.c_fail)


def end_early(_: dict[str, Any]) -> None:
    raise EndedError


@contextlib.contextmanager
def with_runtime(runtime: Any) -> Iterator[None]:
    builtins.__replay_dd_runtime__ = runtime  # type: ignore[attr-defined]
    try:
        yield
    finally:
        del builtins.__replay_dd_runtime__  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_a_value_needs(name: str) -> None:
    text, needed = PROGRAMS[name]
    assert Traced(text).needed() == sorted(needed)


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_traced_program_does_what_it_does_untraced(name: str) -> None:
    text, _ = PROGRAMS[name]
    scope: dict[str, Any] = {"__name__": __name__}
    exec(compile(text, "prog.py", "exec"), scope)
    assert Traced(text).value == text_of(scope["x"])


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Decimal("1.5"), Decimal("2.5")),
        (datetime.date(2020, 1, 2), datetime.date(2020, 1, 3)),
        (datetime.datetime(2020, 1, 2, 3), datetime.datetime(2020, 1, 2, 4)),
        (deque([1, 2]), deque([1, 3])),
        (array.array("i", [1]), array.array("i", [2])),
        (numpy.arange(3), numpy.arange(3) * 2),
        (numpy.arange(3), numpy.arange(3.0)),
        (numpy.zeros((0, 3)), numpy.zeros((0, 4))),
        (numpy.arange(30_000), numpy.arange(1, 30_001)),
        (numpy.longdouble(1), numpy.longdouble(2)),
        (numpy.float32(2), numpy.float64(2)),
        (iter([1, 2]), iter([1, 3])),
        (functools.partial(max, 1), functools.partial(max, 2)),
        (ValueError("a"), ValueError("b")),
        (type("Own", (Decimal,), {})("1"), type("Own", (Decimal,), {})("2")),
        ("x" * 2_000_000 + "a", "x" * 2_000_000 + "b"),
        (OrderedDict(a=1, b=2), OrderedDict(b=2, a=1)),
        (10**5000, 10**5000 + 1),
        (type("Own", (int,), {})(-(10**5000)), type("Own", (int,), {})(10**5000)),
    ],
    ids=lambda value: type(value).__name__,
)
def test_values_are_told_apart(one: object, other: object) -> None:
    assert text_of(one) is not None
    assert text_of(one) == text_of(copy.copy(one))
    assert text_of(one) != text_of(other)


def test_numbers_of_numpy_can_be_read() -> None:
    values = numpy.arange(4).reshape(2, 2), [numpy.float32(0.5)], numpy.array(["a", {1: 2}], object)
    assert [text_of(value) for value in values] == [
        "array([[0, 1], [2, 3]], int64)",
        "[float32(0.5)]",
        "array(['a', {1: 2}], object)",
    ]


def test_tables_of_pandas_are_told_by_what_is_in_them() -> None:
    """What stands in for pandas here has as much of it as is used."""

    class Series:
        ndim, dtype, index = 1, "int64", numpy.array(["x", "y"])

        def __init__(self, name: str, values: list[int]) -> None:
            self.name, self.tolist = name, values.copy

    class DataFrame:
        ndim, shape, index = 2, (2, 1), Series.index

        def __init__(self, values: list[int]) -> None:
            self.iloc = self
            self.values = values

        def __getitem__(self, place: tuple[slice, int]) -> Series:
            assert place == (slice(None), 0)
            return Series("a", self.values)

    Series.__module__ = DataFrame.__module__ = "pandas"
    assert text_of(DataFrame([1, 2])) == "DataFrame({'a': [1, 2] int64}, index=['x', 'y'])"
    assert text_of(Series("b", [3])) == "Series({'b': [3] int64}, index=['x', 'y'])"


def test_an_order_of_its_own_is_that_of_the_dictionary() -> None:
    moved = OrderedDict(a=1, b=2)
    moved.move_to_end("a")
    assert text_of(moved) == "OrderedDict{'b': 2, 'a': 1}"


def test_a_member_of_an_enumeration_does_not_hold_the_others() -> None:
    class Planet(float, enum.Enum):
        EARTH = 1.5

        def __init__(self, value: float) -> None:
            self.mass = 2 * value

    flags = enum.IntFlag("Way", "IN OUT")
    members = Planet.EARTH, enum.Enum("Color", "RED BLUE")(2), flags(3), enum.StrEnum("Name", ["A"])("a")
    assert [text_of(member) for member in members] == [
        "Planet.EARTH(1.5, mass=3.0)",
        "Color.BLUE(2)",
        "Way.IN|OUT(3)",
        "Name.A('a')",
    ]


def test_functions_and_classes_are_told_by_what_they_keep() -> None:
    def adder(number: int) -> Callable[..., int]:
        def add(to: int = 7, *, times: int = 2) -> int:
            return number + to * times + later

        if number < 0:
            later = number
        return add

    class Settings:
        """What a program has set."""

        debug = False
        _seen = 0

        def read(self) -> None:
            """Not data."""

    assert text_of(adder(3)).endswith("adder.<locals>.add number=3 default=7 times=2>")  # type: ignore[union-attr]
    assert text_of(Settings).endswith("Settings debug=False>")  # type: ignore[union-attr]
    assert text_of([Settings]).endswith("Settings>]")  # type: ignore[union-attr]
    assert text_of(int) == "<type int>"
    assert text_of(len) == "<builtin_function_or_method len>"


def test_what_cannot_be_told_is_not_compared() -> None:
    untold = (threading.Lock(), (number for number in range(3)), io.BytesIO(b"a"), re.compile("a"), numpy.ma.array([1]))
    assert [text_of(value) for value in untold] == [None] * 5
    assert text_of([threading.Lock(), 1]) == "[<lock>, 1]"


def test_what_is_never_left_out_by_itself_is_told() -> None:
    text = (
        "class A:\n    def __del__(self):\n        pass\n"
        "async def f(a):\n    async with a:\n        async for b in a:\n            pass\n"
        "try:\n    pass\nexcept* ValueError:\n    pass\n"
    )
    assert [line for line, _ in instrument(text, "m", 0, 0).undivided] == [2, 5, 6, 8]


def test_tracebacks_have_the_places_of_the_source() -> None:
    text = "def f():\n    return [\n        1 / 0\n    ]\nif f():\n    pass\n"
    code = compile(instrument(text, "m", 0, 0).tree, "prog.py", "exec")
    with with_runtime(Recording()), pytest.raises(ZeroDivisionError) as failure:
        exec(code, {})
    places = [entry.lineno + 1 for entry in failure.traceback if str(entry.path).endswith("prog.py")]
    assert (places[0], places[-1]) == (5, 3)
