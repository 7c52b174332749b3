"""``DeltaDebugger`` beyond the book: which call it collects, kinds of arguments, what goes wrong."""

from __future__ import annotations

import contextlib
import functools
import io
import itertools
import os
import signal
import sys
import threading
from array import array
from collections import OrderedDict, UserDict, UserList, deque
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple

import numpy
import pytest

from replay_dd import DeltaDebugger, minimize_failure
from replay_dd.errors.program import DoesNotFailError, DoesNotPassError, NotReproducedError
from replay_dd.errors.user import ArgumentError
from replay_dd.outcome import Outcome

pytestmark = pytest.mark.once
MISSING = object()


class Colour(StrEnum):
    RED = "red"


class Point(NamedTuple):
    x: list[int]
    y: str


@dataclass(frozen=True)
class Order:
    items: list[Any]
    name: str = "n"
    colour: Colour = Colour.RED
    more: dict[str, Any] = field(default_factory=dict)


def fails_with(*needed: Any) -> Any:
    def check(data: Any) -> None:
        if all(one in data for one in needed):
            raise LookupError(f"found {len(data)} in {data!r}")

    return check


def minimal(function: Any, *arguments: Any, **keywords: Any) -> Any:
    found = DeltaDebugger().collect(function, *arguments, **keywords)
    return next(iter(found.min_args().values()))


# -- kinds of arguments ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("whole", "needed", "left"),
    [
        ("abcdef", "bd", "bd"),
        (b"abcdef", b"bd", b"bd"),
        (bytearray(b"abc"), b"b", bytearray(b"b")),
        ([1, 2, 3, 4], (2, 4), [2, 4]),
        ((1, 2, 3, 4), (2,), (2,)),
        ({"x", 1, None}, ("x",), {"x"}),
        (frozenset("abc"), "a", frozenset("a")),
        ({"a": 1, "b": 2}, "b", {"b": 2}),
        (deque([1, 2, 3]), (3,), deque([3])),
        (OrderedDict(a=1, b=2), "a", OrderedDict(a=1)),
        (UserDict(a=1, b=2), "a", UserDict(a=1)),
        (UserList([1, 2]), (2,), UserList([2])),
        (array("i", [1, 2, 3]), (2,), array("i", [2])),
    ],
)
def test_kinds(whole: Any, needed: Any, left: Any) -> None:
    found = minimal(fails_with(*needed), whole)
    assert (found, type(found)) == (left, type(left))


def test_nested_data() -> None:
    def check(orders: list[Order], where: Point) -> None:
        for order in orders:
            if "x" in order.name and 7 in order.items and "k" in order.more.get("a", ()) and 1 in where.x:
                raise ValueError(f"order {order.name} has {order.items}")

    orders = [Order([1]), Order([5, 7, 9], "axb", more={"a": ["j", "k"], "b": 1}), Order([])]
    with DeltaDebugger() as dd:
        check(orders, Point([1, 2], "abc"))
    assert dd.min_args() == {"orders": [Order([7], "x", more={"a": ["k"]})], "where": Point([1], "")}
    flat = DeltaDebugger(nested=False).collect(check, orders, Point([1, 2], "abc"))
    assert flat.min_args()["orders"] == [orders[1]]


def test_arrays_are_views_until_written_to() -> None:
    seen = []

    def reads(a: Any) -> None:
        seen.append(a)
        if (a > 7).any():
            raise ArithmeticError(f"{a.max()} is too large")

    whole = numpy.arange(12.0).reshape(3, 4)
    dd = DeltaDebugger().collect(reads, whole)
    assert repr(dd) == "reads(a=numpy.array([[8.0]], 'float64'))"
    assert any(numpy.shares_memory(one, dd.args()["a"]) and one.size < whole.size for one in seen)

    def writes(a: Any) -> None:
        a[0] += 1
        if a.max() > 10:
            raise ArithmeticError

    given = numpy.arange(12.0)
    with DeltaDebugger() as dd:
        writes(given)
    assert given[0] == 1
    assert dd.args()["a"][0] == 0
    assert dd.min_args()["a"].tolist() in ([10.0], [11.0])
    assert minimal(writes, numpy.arange(12.0)).size == 1


def test_data_inside_itself() -> None:
    data: list[Any] = [1, 2]
    data.append(data)
    assert len(minimal(fails_with(2), data)) == 1


def test_only_what_cannot_be_copied_is_shared() -> None:
    class Account:
        def __init__(self) -> None:
            self.total, self.lock, self.module = 0, threading.Lock(), os

        def add(self, amounts: list[int]) -> None:
            with self.lock:
                for amount in amounts:
                    self.total += amount
                if self.total > 9:
                    raise ValueError("too much")

    account = Account()
    with DeltaDebugger() as dd:
        account.add([5, 6, 1])
    copied = dd.args()["self"]
    assert (account.total, copied.total) == (12, 0)
    assert copied.lock is account.lock
    assert dd.min_args()["amounts"] == [5, 6]
    assert "# shared" not in repr(dd)


def test_deep_data_overflow_the_stack_everywhere_alike() -> None:
    def depth(data: list[Any]) -> int:
        return 1 + depth(data[0]) if data else 0

    data: list[Any] = []
    for _ in range(sys.getrecursionlimit() * 2):
        data = [data]
    with DeltaDebugger() as dd:
        depth(data)
    assert dd.min_args()["data"] is data
    assert "cannot be copied: data" in repr(dd)


def test_objects_are_taken_as_they_are() -> None:
    lock, stream = threading.Lock(), io.StringIO("ab\ncd\n")

    def check(lock: Any, stream: Any, numbers: list[int]) -> None:
        with lock:
            if 2 in numbers and stream.readline() == "ab\n":
                raise OSError("no")

    with DeltaDebugger() as dd:
        check(lock, stream, [1, 2])
    assert dd.min_args()["numbers"] == [2]
    assert dd.min_args()["lock"] is lock


# -- what counts as the failure --------------------------------------------------------------------------------------


def test_places_and_texts_tell_failures_apart() -> None:
    def check(text: str) -> None:
        if "bb" in text:
            raise ValueError(f"cannot read {text}: twice")
        if "b" in text:
            raise ValueError(f"cannot read {text}: once")

    assert minimal(check, "abbc") == "bb"

    def complain(message: str) -> None:
        raise ValueError(message)

    def other(text: str) -> None:
        if text.count("b") > 1:
            complain(f"too many in {text} (at {len(text)})")
        if "b" in text:
            complain(f"one in {text}")

    assert minimal(other, "abbc") == "bb"


def test_the_user_says_what_the_failure_is() -> None:
    def check(text: str) -> None:
        if len(text) > 2:
            raise ValueError("long")
        if len(text) > 0:
            raise UnicodeError("short")

    assert DeltaDebugger(failure=ValueError).collect(check, "abc").min_string() in "abc"
    assert len(DeltaDebugger(failure="short|long").collect(check, "abc").min_string()) == 1
    assert len(DeltaDebugger().collect(check, "abcd").min_string()) == 3
    with pytest.raises(DoesNotFailError, match="which is not KeyError"):
        DeltaDebugger(failure=KeyError).collect(check, "abc")


def test_one_argument_alone() -> None:
    dd = DeltaDebugger().collect(fails_with("b"), "abc")
    assert dd.reduce_arg("data", dd.args()) == dd.min_string() == dd.min_string("data") == "b"

    def check(one: str, two: str, three: int) -> None:
        raise ValueError(three)

    dd = DeltaDebugger().collect(check, "a", "b", 3)
    for name, told in ((None, "2 arguments are texts"), ("three", "no argument 'three' is a text")):
        with pytest.raises(ArgumentError, match=told) as error:
            dd.min_string(name)
        assert "one, two. " in error.value.hint


# -- children, limits, errors ----------------------------------------------------------------------------------------


def test_calls_in_children() -> None:
    def check(text: str) -> None:
        if "h" in text and "x" not in text:
            while True:
                pass
        if "k" in text and "x" not in text:
            os.kill(os.getpid(), signal.SIGKILL)
        if "x" in text:
            raise ValueError("x")

    assert DeltaDebugger(child=True, time_limit_s=0.2).collect(check, "hxk").min_string() == "x"
    dd = DeltaDebugger(child=True).collect(check, "akb")
    assert (repr(dd), dd.exception()) == ("check(text='k')", None)
    assert dd.format_exception() == "killed by SIGKILL"
    with pytest.raises(ArgumentError):
        DeltaDebugger(time_limit_s=1)


def test_limits_leave_the_best_so_far() -> None:
    dd = DeltaDebugger(max_tests=4).collect(fails_with(63), list(range(64)))
    assert 1 < len(dd.min_args()["data"]) < 64
    assert (dd.tests, dd.stopped_by) == (4, "tests")
    assert repr(dd).endswith("# stopped by the limit on tests")
    assert DeltaDebugger(time_budget_s=0).collect(fails_with(3), [3, 4]).min_args() == {"data": [3, 4]}


def test_an_interrupt_leaves_the_best_so_far() -> None:
    calls = itertools.count(1)

    def check(numbers: list[int]) -> None:
        if next(calls) == 6:
            raise KeyboardInterrupt
        if 0 in numbers:
            raise ValueError

    dd = DeltaDebugger().collect(check, list(range(64)))
    assert 1 < len(dd.min_args()["numbers"]) < 64
    assert dd.stopped_by == "interrupt"
    with pytest.raises(KeyboardInterrupt):
        with DeltaDebugger():
            raise KeyboardInterrupt
    with pytest.raises(BaseException, match="not here"):
        with DeltaDebugger():
            pytest.skip("not here")


def test_what_varies_is_refused() -> None:
    calls = itertools.count()

    def sometimes(text: str) -> None:
        if next(calls) == 0:
            raise ValueError

    with pytest.raises(
        NotReproducedError, match=r"sometimes\(text='abc'\) does not do the same again: it returns"
    ) as caught:
        DeltaDebugger().collect(sometimes, "abc").min_args()
    assert "child=True" in caught.value.hint

    def less_and_less(text: str) -> None:
        if next(calls) < 4:
            raise ValueError

    calls = itertools.count()
    with pytest.raises(NotReproducedError, match="The answer"):
        DeltaDebugger().collect(less_and_less, "abc").min_args()


def test_misuse_in_words() -> None:
    check = fails_with("b")
    for argument in ((letter for letter in "abc"), open(os.devnull)):
        with argument if isinstance(argument, io.IOBase) else contextlib.nullcontext():
            with pytest.raises(ArgumentError, match="can be used only once"):
                DeltaDebugger().collect(check, argument)
    with pytest.raises(DoesNotFailError):
        with DeltaDebugger():
            check("a")
    with pytest.raises(DoesNotFailError):
        DeltaDebugger().collect(check, "a")
    with pytest.raises(ArgumentError, match="no call"):
        DeltaDebugger().min_args()
    with pytest.raises(ArgumentError, match="missing a required argument"):
        DeltaDebugger().collect(check)
    with pytest.raises(ArgumentError, match="no argument 'z'"):
        DeltaDebugger(order=["z"]).collect(check, "b")
    with pytest.raises(DoesNotPassError, match="fails, too"):
        DeltaDebugger().collect(int, "x").min_arg_diff()
    assert repr(DeltaDebugger()) == "<DeltaDebugger without a call>"


def test_maximized_arguments_pass_together() -> None:
    def check(a: str, b: str) -> None:
        if len(a) + len(b) > 3:
            raise ValueError("long")

    dd = DeltaDebugger().collect(check, "abc", "def")
    found = dd.max_args()
    assert len(found["a"]) + len(found["b"]) == 3
    check(**found)
    passing, failing, difference = dd.min_arg_diff()
    check(**passing)
    assert sum(map(len, failing.values())) == 4
    assert sum(map(len, difference.values())) == 1


def test_notebooks() -> None:
    dd = DeltaDebugger().collect(fails_with("<"), "a<b")
    html = dd._repr_html_()
    assert "check(data=&#x27;&lt;&#x27;)" in html
    assert f"{dd.tests} tests" in html
    assert "<b" not in html


def test_the_stack_overflows_alike_in_each_test() -> None:
    def parse(text: str, at: int = 0) -> int:
        return parse(text, at + 1) if text[at : at + 1] == "(" else at

    with DeltaDebugger() as dd:
        parse("(" * (sys.getrecursionlimit() - 40))
    limit = sys.getrecursionlimit()
    shortest = len(dd.min_args()["text"])
    assert shortest > limit // 2
    assert sys.getrecursionlimit() == limit
    assert dd.run({"text": "(" * shortest}) is Outcome.FAIL
    assert dd.run({"text": "(" * (shortest - 1)}) is Outcome.PASS


class Store:
    @classmethod
    def of(cls, text: str) -> Store:
        return cls() if "x" not in text else cls.of("no" * int(text))


def test_calls_as_they_can_be_written() -> None:
    with DeltaDebugger() as dd:
        Store.of("axb")
    assert repr(dd) == "Store.of(text='x')"
    assert dd.function()("b")
    assert repr(DeltaDebugger().collect(functools.partial(int, "1x"), base=10)) == "int('')"


def test_wrong_options_in_words() -> None:
    for options in ({"order": "ab"}, {"max_tests": -1}, {"time_budget_s": -1}, {"time_budget_s": "1"}):
        with pytest.raises(ArgumentError, match=next(iter(options))):
            DeltaDebugger(**options)  # type: ignore[arg-type]  # wrong on purpose
    for no_function in (Store, 3, classmethod(minimal)):
        with pytest.raises(ArgumentError):
            minimize_failure(no_function)  # type: ignore[call-overload]  # wrong on purpose
