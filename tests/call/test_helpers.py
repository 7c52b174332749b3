"""``minimize_failure`` and ``assert_minimal``."""

from __future__ import annotations

import functools
from typing import Any

import numpy
import pytest

from replay_dd import minimize_failure
from replay_dd.errors.user import ArgumentError
from replay_dd.testing import assert_minimal

pytestmark = pytest.mark.once


def notes_of(function: Any, *arguments: Any) -> list[str]:
    with pytest.raises(ValueError) as caught:
        function(*arguments)
    return getattr(caught.value, "__notes__", [])


def test_a_failure_gets_a_note() -> None:
    calls = []

    @minimize_failure
    def check(text: str, *, strict: bool = False) -> str:
        """Check."""
        calls.append(text)
        if "<" in text:
            raise ValueError(f"no < in {text}")
        return text

    assert check("ab") == "ab"
    assert calls == ["ab"]
    (note,) = notes_of(check, "ab<c")
    assert note.endswith("tests): check(text='<')")
    assert check.__doc__ == "Check."


def test_only_the_outermost_call_is_searched() -> None:
    @minimize_failure(time_budget_s=None)
    def depth(data: Any) -> int:
        if isinstance(data, list):
            return 1 + max(map(depth, data))
        raise ValueError("no list")

    (note,) = notes_of(depth, [[1], [[2, "x"]]])
    assert "depth(data=[" in note


def test_arguments_that_the_function_changes() -> None:
    @minimize_failure
    def check(numbers: Any) -> None:
        numbers[0] = 7
        if 3 in numbers:
            raise ValueError

    given = numpy.array([1, 3, 4])
    (note,) = notes_of(check, given)
    assert note.endswith("check(numbers=numpy.array([1, 3], 'int64'))")
    assert list(given) == [7, 3, 4]


def test_what_cannot_be_searched() -> None:
    @minimize_failure
    def check(letters: Any) -> None:
        if "b" in set(letters):
            raise ValueError

    assert notes_of(check, (letter for letter in "abc")) == []

    seen: list[int] = []

    @functools.partial(minimize_failure, failure="never")
    def once(text: str) -> None:
        if not seen:
            seen.append(1)
            raise ValueError

    assert "no smaller call was searched" in notes_of(once, "abc")[0]
    with pytest.raises(ArgumentError, match="generator"):

        @minimize_failure
        def generator() -> Any:
            yield 1

    with pytest.raises(TypeError):
        minimize_failure(unknown=1)


def test_minimal_calls() -> None:
    def check(data: Any) -> None:
        if "xy" in data["k"]:
            raise KeyError(data["k"])

    assert_minimal(check, {"k": "xy"})
    for larger in ({"k": "xyz"}, {"k": "xy", "l": 1}):
        with pytest.raises(
            AssertionError, match=r"is not minimal: .*check\(data=\{'k': 'xy'\}\) fails in the same way"
        ):
            assert_minimal(check, larger)
    with pytest.raises(AssertionError, match="does not fail"):
        assert_minimal(check, {"k": "x"})
