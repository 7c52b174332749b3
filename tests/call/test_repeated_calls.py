"""What one call leaves behind for the next ones, and what they print."""

from __future__ import annotations

import itertools
import sys
from typing import Any

import pytest

from replay_dd import DeltaDebugger
from replay_dd.errors.program import NotReproducedError

pytestmark = pytest.mark.once


def test_what_an_earlier_call_left_behind_is_no_cause() -> None:
    seen: set[int] = set()

    def once(numbers: list[int]) -> None:
        for number in numbers:
            if number in seen:
                raise KeyError(f"{number} was there")
            seen.add(number)

    with DeltaDebugger() as dd:
        once([1, 2, 3, 2])
    with pytest.raises(NotReproducedError, match=r"1 was there.*instead of .*2 was there") as caught:
        dd.min_args()
    assert "earlier calls left behind" in caught.value.hint
    seen.clear()
    assert DeltaDebugger(child=True).collect(once, [1, 2, 3, 2]).min_args() == {"numbers": [0, 0]}


def test_a_text_that_differs_each_time_is_accepted() -> None:
    calls = itertools.count()

    def check(numbers: list[int]) -> None:
        if 2 in numbers:
            raise ValueError(f"at {next(calls)} of {object()}")

    assert DeltaDebugger().collect(check, [1, 2, 3]).min_args() == {"numbers": [2]}


def test_what_repeated_calls_print_is_dropped(capsys: pytest.CaptureFixture[str]) -> None:
    def check(text: str) -> None:
        print("out", text)
        sys.stderr.write(f"err {text}")
        if "b" in text:
            raise ValueError

    with DeltaDebugger() as dd:
        check("abc")
    assert repr(dd) == "check(text='b')"
    assert capsys.readouterr() == ("out abc\n", "err abc")
    print("again")
    assert capsys.readouterr().out == "again\n"


def test_each_call_gets_the_defaults_of_the_first_one() -> None:
    def check(numbers: list[int], seen: Any = [], *, more: Any = {}) -> None:  # noqa: B006
        for number in numbers:
            if number in seen or number in more:
                raise ValueError("again")
            seen.append(number)
            more[-number] = 1

    with DeltaDebugger() as dd:
        check([1, 2, 3, 2])
    assert repr(dd) == "check(numbers=[2, 2])"

    mark: list[int] = []

    def marked(numbers: list[int], seen: list[int] = mark) -> None:
        if 2 in numbers and seen is mark:
            raise ValueError

    assert DeltaDebugger().collect(marked, [1, 2, 3]).min_args() == {"numbers": [2]}
    # Now there is something in the defaults of the other one.
    assert DeltaDebugger().collect(check, [5, 1]).min_args() == {"numbers": [1]}
    assert DeltaDebugger().collect(check, [5, 6], [6]).min_args() == {"numbers": [6], "seen": [6]}
