"""The logs of the Debugging Book's chapter, step for step; the order of its sets is data."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import pytest

from replay_dd import DeltaDebugger
from tests.dd.support import BRACKETS, P, parse, parts_in_order, published

pytestmark = pytest.mark.once
_TEST = re.compile(r"Test #(\d+) (.*): (PASS|FAIL|UNRESOLVED)(?: \((.*)\))?")


def mystery(inp: str) -> None:
    opened = inp.find("(")
    if 0 <= opened < inp.rfind(")"):
        raise ValueError("Invalid input")


def string_error(s1: str, s2: str) -> None:
    assert s1 not in s2, "no substrings"


def list_error(l1: list[int], l2: list[int], maxlen: int) -> None:
    assert len(l1) < len(l2) < maxlen, "invalid string length"


def calls_and_outcomes(printed: str) -> list[tuple[str, str]]:
    """Calls and outcomes, which must be numbered without a gap."""
    found = [_TEST.fullmatch(line) for line in printed.splitlines() if line.startswith("Test")]
    rows = [match.groups() for match in found if match is not None]
    assert [int(number) for number, *_ in rows] == list(range(1, len(found) + 1))
    return [(call, outcome) for _, call, outcome, _ in rows]


def expected(case: dict[str, Any]) -> list[tuple[str, str]]:
    """The calls of a published log: both ends, and what the algorithm asks for the first time."""
    rows = [("".join(BRACKETS), "FAIL"), ("", "PASS")]
    for row in case["rows"]:
        if not row.endswith("*"):
            numbers, _, symbol = row.rpartition(" ")
            kept = "".join(BRACKETS[position] for position in parse(numbers))
            rows.append((kept, "PASS" if symbol == P.symbol else "FAIL"))
    return [(f"mystery(inp={text!r})", outcome) for text, outcome in rows]


@pytest.mark.parametrize(("mode", "tests"), [("-", 24), ("+", 8), ("+-", 9)])
def test_one_argument(mode: str, tests: int, capsys: pytest.CaptureFixture[str]) -> None:
    case = published()[f"BOOK-DD{mode}-published"]
    with DeltaDebugger(log=True, split=parts_in_order(case["set_orders"])) as dd:
        mystery(BRACKETS)
    found = {"-": dd.min_args, "+": dd.max_args, "+-": dd.min_arg_diff}[mode]()
    rows = calls_and_outcomes(capsys.readouterr().out)
    assert rows == expected(case)
    assert dd.tests == len(rows) == tests
    if mode == "-":
        assert found == {"inp": case["c_fail"]}
        assert repr(dd) == "mystery(inp='()')"
    elif mode == "+":
        assert found == {"inp": case["c_pass"]}
    else:
        assert found == ({"inp": case["c_pass"]}, {"inp": case["c_fail"]}, {"inp": "("})


def test_several_arguments(capsys: pytest.CaptureFixture[str]) -> None:
    with DeltaDebugger(log=True, order=["s2"]) as dd:
        string_error("foo", "foobar")
    assert dd.min_args() == {"s1": "", "s2": ""}
    texts = [("foo", "foobar"), *[("foo", s2) for s2 in ("", "foo", "fo", "o", "oo")], ("", "foo"), ("", "")]
    outcomes = ["FAIL", "PASS", "FAIL", "PASS", "PASS", "PASS", "FAIL", "FAIL"]
    calls = [f"string_error(s1={s1!r}, s2={s2!r})" for s1, s2 in texts]
    assert calls_and_outcomes(capsys.readouterr().out) == list(zip(calls, outcomes, strict=True))


@pytest.mark.parametrize("order", [["l1", "l2"], ["l2", "l1"]])
def test_lists(order: Sequence[str]) -> None:
    with DeltaDebugger(order=order) as dd:
        list_error(l1=list(range(1, 11)), l2=[1, 2, 3], maxlen=5)
    assert repr(dd) == "list_error(l1=[], l2=[], maxlen=5)"


def test_other_failures_are_unresolved(capsys: pytest.CaptureFixture[str]) -> None:
    def myeval(inp: str) -> Any:
        return eval(inp)

    with DeltaDebugger(log=True) as dd:
        myeval("1 + 2 * 3 / 0")
    assert (dd.min_args(), dd.tests) == ({"inp": "3/0"}, 18)
    assert ("myeval(inp='')", "UNRESOLVED") in calls_and_outcomes(capsys.readouterr().out)
    assert (dd.max_args(), dd.tests) == ({"inp": "1 + 2 * 3  "}, 15)
    assert (dd.min_arg_diff(), dd.tests) == (({"inp": " 3 "}, {"inp": " 3 /0"}, {"inp": "/0"}), 11)


def test_one_argument_of_several_and_details(capsys: pytest.CaptureFixture[str]) -> None:
    case = published()["BOOK-DD--published"]
    with DeltaDebugger(log=2, split=parts_in_order(case["set_orders"])) as dd:
        mystery(BRACKETS)
    assert dd.dd("inp", {"inp": BRACKETS}) == ("", "()", "()")
    printed = capsys.readouterr().out
    first, second, *rest = expected(case)
    # Without the check at the start, the empty argument comes first.
    assert calls_and_outcomes(printed) == [second, first, *rest]
    assert "  2 of 26 parts left" in printed
