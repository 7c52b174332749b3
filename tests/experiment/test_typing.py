"""The type of the collection determines the type of the answer; mypy checks this file, which also runs as a test."""

from __future__ import annotations

from typing import Any, assert_type

import numpy
from numpy.typing import NDArray

from replay_dd import (
    Change,
    Changes,
    IntervalSet,
    Outcome,
    Reduction,
    dd1999,
    ddmax,
    ddmin,
    ddplus,
    deltas_between,
    isolate,
    prefix_bisection,
    simplify,
)

Floats = NDArray[numpy.float64]


def has_b(case: str) -> Outcome:
    return Outcome.FAIL if "b" in case else Outcome.PASS


def has_bytes(case: bytes) -> Outcome:
    return Outcome.FAIL if b"b" in case else Outcome.PASS


def has_2(case: list[int]) -> Outcome:
    return Outcome.FAIL if 2 in case else Outcome.PASS


def tuple_has_2(case: tuple[int, ...]) -> Outcome:
    return Outcome.FAIL if 2 in case else Outcome.PASS


def set_has_b(case: set[str]) -> Outcome:
    return Outcome.FAIL if "b" in case else Outcome.PASS


def dict_has_b(case: dict[str, int]) -> Outcome:
    return Outcome.FAIL if "b" in case else Outcome.PASS


def numbers_have_2(case: IntervalSet) -> Outcome:
    return Outcome.FAIL if 2 in case else Outcome.PASS


def array_has_2(case: Floats) -> Outcome:
    return Outcome.FAIL if 2 in case else Outcome.PASS


def test_simplifying() -> None:
    assert assert_type(ddmin(has_b, "abc").failing, str) == "b"
    assert assert_type(ddmin(has_bytes, b"abc").failing, bytes) == b"b"
    assert assert_type(ddmin(has_2, [1, 2]).difference, list[int]) == [2]
    assert assert_type(ddmin(tuple_has_2, (1, 2, 3)).failing, tuple[int, ...]) == (2,)
    assert assert_type(ddmin(set_has_b, {"a", "b"}).failing, set[str]) == {"b"}
    assert assert_type(ddmin(dict_has_b, {"a": 1, "b": 2}).failing, dict[str, int]) == {"b": 2}
    assert assert_type(ddmin(numbers_have_2, range(4)).failing, IntervalSet) == IntervalSet.of([2])
    assert assert_type(ddmin(numbers_have_2, IntervalSet.range(0, 4)).passing, IntervalSet) == IntervalSet()
    floats: Floats = numpy.arange(4.0)
    assert assert_type(ddmin(array_has_2, floats).failing, Floats).tolist() == [2]
    assert assert_type(prefix_bisection(has_b, "abc").failing, str) == "b"
    assert assert_type(simplify(has_b, "abc").failing, str) == "b"


def test_isolating() -> None:
    assert assert_type(isolate(has_b, None, "abc"), Reduction[str, str]).difference == "b"
    assert assert_type(isolate(has_2, [], [1, 2]).difference, list[int]) == [2]
    assert assert_type(isolate(numbers_have_2, range(1), range(5)).failing, IntervalSet)
    assert assert_type(isolate(set_has_b, {"a"}, {"a", "b"}).passing, set[str]) == {"a"}
    assert assert_type(ddmax(has_b, "a", "abc", order="sweep", jobs=2).passing, str) == "ac"
    assert assert_type(dd1999(has_b, "a", "abc").difference, str) == "b"
    assert assert_type(ddplus(has_b, "a", "abc", split="round").difference, str) == "b"


def test_a_lambda_is_typed_by_the_collection() -> None:
    assert assert_type(ddmin(lambda case: Outcome.FAIL if "b" in case else Outcome.PASS, "abc").failing, str) == "b"
    found = isolate(lambda case: Outcome.FAIL if 2 in case else Outcome.PASS, [1], [1, 2])
    assert assert_type(found.failing, list[int]) == [1, 2]


def test_differences() -> None:
    changes = assert_type(deltas_between("ac", "bc"), Changes[str])
    expected = (Change(0, "a", "b"),)
    assert assert_type(isolate(has_b, changes).difference, tuple[Change[str], ...]) == expected
    assert assert_type(isolate(has_b, changes).failing, str) == "bc"
    assert assert_type(ddmin(has_b, changes), Reduction[str, tuple[Change[str], ...]]).difference == expected
    assert assert_type(deltas_between([1], [2])[0].inserted, list[int]) == [2]


def test_wrong_calls_are_errors_for_mypy_too() -> None:
    calls: list[Any] = [
        lambda: ddmin(has_b, "abc", job=3),  # type: ignore[call-overload]
        lambda: isolate(has_b, b"a", "abc"),  # type: ignore[arg-type]
        lambda: isolate(has_b, "abc"),  # type: ignore[call-overload]
    ]
    for call in calls:
        try:
            call()
        except TypeError:
            continue
        raise AssertionError("a wrong call was accepted")
