"""Which call a ``with`` block collects; what frames hold differs between versions of Python."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from replay_dd import DeltaDebugger

MISSING = object()


class Parser:
    def __init__(self, text: str, strict: object = MISSING) -> None:
        assert strict is MISSING
        if ";" in text:
            raise SyntaxError("a semicolon")

    def parse(self, texts: set[str]) -> None:
        self.last = texts
        if "b" in texts:
            raise KeyError("b")


def fails_with(*needed: Any) -> Any:
    def check(data: Any) -> None:
        if all(one in data for one in needed):
            raise LookupError(f"found {len(data)} in {data!r}")

    return check


def test_collects_the_call_that_fails_not_the_first_one() -> None:
    def make() -> list[int]:
        return [1, 2, 3]

    check = fails_with(2)
    before = sys.gettrace()
    with DeltaDebugger() as dd:
        data = make()
        check([4, 5])
        check(data)
    assert sys.gettrace() is before
    assert repr(dd) == "check(data=[2])"
    assert dd.args() == {"data": [1, 2, 3]}
    assert isinstance(dd.exception(), LookupError)
    assert dd.format_exception() == "LookupError: found 3 in [1, 2, 3]"


def test_collects_from_comprehensions_generators_and_exit_stacks() -> None:
    def inverse(numbers: list[int]) -> Iterator[float]:
        for number in numbers:
            yield 1 / number

    check = fails_with("b")
    with DeltaDebugger() as dd:
        [check(text) for text in ("xa", "xb", "xc")]
    assert repr(dd) == "check(data='b')"
    with DeltaDebugger() as dd:
        list(inverse([3, 0, 2]))
    assert repr(dd) == "inverse(numbers=[0])"
    with contextlib.ExitStack() as stack:
        dd = stack.enter_context(DeltaDebugger())
        check("abc")
    assert repr(dd) == "check(data='b')"


def test_arguments_are_those_at_the_beginning_of_the_call() -> None:
    def pops(numbers: list[int]) -> None:
        while numbers:
            if numbers.pop() == 3:
                raise ValueError

    given = [1, 2, 3, 4]
    with DeltaDebugger() as dd:
        pops(given)
    assert given == [1, 2]
    assert dd.args() == {"numbers": [1, 2, 3, 4]}
    assert dd.min_args() == {"numbers": [3]}


def test_constructors_and_methods() -> None:
    with DeltaDebugger() as dd:
        Parser("a;b")
    assert repr(dd) == "Parser(text=';')"
    parser = Parser("")
    with DeltaDebugger() as dd:
        parser.parse({"a", "b"})
    assert dd.min_args()["texts"] == {"b"}
    assert dd.args()["self"] is not parser
    assert not hasattr(dd.args()["self"], "last")


def test_variable_and_positional_arguments_as_source() -> None:
    def variable(first: str, /, *rest: int, **named: str) -> None:
        if "x" in first and 0 in rest and "y" in named.get("z", ""):
            raise RuntimeError

    with DeltaDebugger() as dd:
        variable("axb", 1, 0, 2, z="yy", w="v")
    assert repr(dd) == "variable('x', 0, z='y')"


def test_functions_written_in_c_and_coroutines() -> None:
    with pytest.raises(ValueError, match="invalid literal") as caught:
        with DeltaDebugger():
            int("12x")
    assert "written in C" in caught.value.__notes__[0]
    # From 3.14 on, too few digits are told from wrong ones.
    wrong = "g" if sys.version_info >= (3, 14) else "0"
    assert repr(DeltaDebugger().collect(bytes.fromhex, "0g")) == f"bytes.fromhex('{wrong}')"

    async def broken(text: str) -> None:
        raise ValueError(text)

    assert repr(DeltaDebugger().collect(broken, "abc")) == "broken(text='')"


def test_coroutines_where_an_event_loop_is_running() -> None:
    """As in a notebook."""

    async def broken(text: str) -> None:
        raise ValueError(text)

    async def cell() -> DeltaDebugger:
        return DeltaDebugger().collect(broken, "abc")

    with ThreadPoolExecutor(1) as pool:  # other tests may have left a loop running in this thread
        collected = pool.submit(asyncio.run, cell()).result()
    assert repr(collected) == "broken(text='')"
    assert collected.format_exception().startswith("ValueError")
