"""What instructions touch, told from the bytecode of this interpreter."""

from __future__ import annotations

import argparse
import ast
import dis
import inspect
import json.decoder
import subprocess
import sys
import threading
import types
from collections.abc import Iterator
from typing import Any

import pytest

from replay_dd.schedules.runtime.points.bytecode import instructions
from replay_dd.schedules.runtime.points.touches import _jump_targets, accesses, value_of

shared: Any = None


def code_of(module: types.ModuleType) -> Iterator[types.CodeType]:
    waiting = [compile(inspect.getsource(module), "module", "exec")]
    while waiting:
        code = waiting.pop()
        yield code
        waiting += [constant for constant in code.co_consts if isinstance(constant, types.CodeType)]


@pytest.mark.parametrize("module", [argparse, ast, inspect, json.decoder, subprocess])
def test_jump_targets_are_those_of_the_standard_library(module: types.ModuleType) -> None:
    for code in code_of(module):
        assert _jump_targets(instructions(code)) == set(dis.findlabels(code.co_code))  # type: ignore[attr-defined]
        accesses(code)


def touched(function: Any) -> list[tuple[Any, str, bool]]:
    return [touch for _, _, touch in accesses(function.__code__) if touch is not None]


def test_an_augmented_attribute() -> None:
    def function(account: Any) -> None:
        account.balance += 1

    assert touched(function) == [(("local", "account"), "balance", False), (("local", "account"), "balance", True)]


def test_a_chain_of_attributes() -> None:
    def function(self: Any) -> None:
        self.pool.size = self.size

    pool = ("attribute", ("local", "self"), "pool")
    assert touched(function) == [
        (("local", "self"), "size", False),
        (("local", "self"), "pool", False),
        (pool, "size", True),
    ]


def test_containers() -> None:
    def function(cache: Any, key: Any, low: int) -> None:
        if key not in cache:
            cache[key, low + 1] = 0
            del cache[key]
        cache[0].append(low)

    content = [touch for touch in touched(function) if touch[1] == "[]"]
    cache = ("local", "cache")
    assert content[:4] == [(cache, "[]", False), (cache, "[]", True), (cache, "[]", True), (cache, "[]", False)]
    assert content[4] == (None, "[]", "append")


def test_globals_and_cells() -> None:
    count = 0

    def function() -> None:
        global shared
        nonlocal count
        shared = count

    assert touched(function) == [(None, "count", False), (("globals",), "shared", True)]


def test_after_a_jump_nothing_is_known() -> None:
    def function(one: Any, two: Any) -> None:
        (one or two).value = 1

    assert touched(function) == [(None, "value", True)]


def test_values_are_found_without_running_code() -> None:
    class Guarded:
        def __init__(self) -> None:
            self.inner = [1]

        @property
        def trap(self) -> None:
            raise AssertionError("this ran code of the program")

        def __getattr__(self, name: str) -> None:
            raise AssertionError("this ran code of the program")

    guarded = Guarded()
    frame = sys._getframe()
    assert value_of(("attribute", ("local", "guarded"), "inner"), frame) is guarded.inner
    assert value_of(("attribute", ("local", "guarded"), "trap"), frame) is None
    assert value_of(("attribute", ("local", "guarded"), "missing"), frame) is None
    assert value_of(("attribute", ("global", "shared"), "x"), frame) is None
    assert value_of(("globals",), frame) is globals()
    assert value_of(None, frame) is None


def test_what_looks_into_a_container() -> None:
    def function(box: Any) -> None:
        if box.queue:
            len(box.items)
        for _ in box.entries:
            pass
        for _, _ in box.pairs.items():
            pass

    content = [touch for touch in touched(function) if touch[1] == "[]" and str(touch[2]).startswith("__")]
    queue, items, entries, pairs = (
        ("attribute", ("local", "box"), name) for name in ("queue", "items", "entries", "pairs")
    )
    assert content == [
        (queue, "[]", "__len__"),
        (items, "[]", "__len__"),
        (("iterator", entries), "[]", "__iter__"),
        (("iterator", pairs), "[]", "__iter__"),
    ]


def test_a_generator_expression_looks_into_what_it_goes_through() -> None:
    def function(box: Any) -> Any:
        return (one for one in box.entries if one)

    (code,) = (one for one in function.__code__.co_consts if isinstance(one, types.CodeType))
    entries = [1]

    def values(touched: Any) -> object:
        return value_of(touched[0], function(type("Box", (), {"entries": entries})).gi_frame)

    assert entries in [values(touched) for _, _, touched in accesses(code) if touched and touched[2] == "__iter__"]


def test_a_comprehension_looks_into_what_it_goes_through() -> None:
    numbers = {1: 2}

    def function(iterator: Any) -> Any:
        return sys._getframe()

    frame = function(iter(numbers.items()))
    assert value_of(("iterated", ("local", "iterator")), frame) is numbers
    assert value_of(("iterated", ("local", "iterator")), function(iter("text"))) is None


class Attributes:
    def __init__(self) -> None:
        self.lock, self.values = threading.Lock(), {"a": 1}

    def __iter__(self) -> Iterator[str]:
        with self.lock:
            return iter(self.values)


class Pairs(Attributes):
    def __iter__(self) -> Iterator[Any]:
        return self.values.items().__iter__()


@pytest.mark.parametrize("kind", [Attributes, Pairs])
def test_who_gives_an_iterator_lets_others_look_into_what_it_goes_through(kind: type[Attributes]) -> None:
    values = ("attribute", ("local", "self"), "values")
    returns = [touch for _, name, touch in accesses(kind.__iter__.__code__) if name == "RETURN_VALUE"]
    assert returns[0] == (values, "[]", "__iter__")


def test_a_loop_over_what_a_function_gives_looks_into_the_container_that_it_got() -> None:
    def given(box: Any) -> Any:
        for one in shared(box.entries, 1):
            yield one, 1

    def iterated(entries: object) -> list[object]:
        frame = given(type("Box", (), {"entries": entries})).gi_frame
        touches = [touch for _, _, touch in accesses(given.__code__) if touch and touch[2] == "__iter__"]
        return [value_of(expression, frame) for expression, _, _ in touches]

    entries = {"a": 1}
    assert iterated(entries) == [entries]
    assert iterated(3) == [None]  # as that of `range` would be
