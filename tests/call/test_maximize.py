"""The largest arguments with which a call passes, also inside of elements."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from replay_dd import DeltaDebugger
from replay_dd.errors.program import DoesNotPassError

pytestmark = pytest.mark.once


@dataclass(frozen=True)
class Order:
    items: list[Any]
    name: str = "n"


def walk(data: Any) -> None:
    inside = data.values() if isinstance(data, dict) else data if isinstance(data, list | tuple) else ()
    for one in inside:
        if one == "no":
            raise LookupError
        walk(one)


@pytest.mark.parametrize(
    ("data", "most"),
    [
        ({"a": [1, {"b": ["x", "no", 2]}], "c": "d"}, {"a": [1, {"b": ["x", "o", 2]}], "c": "d"}),
        (["no", ("no", 1), "yes"], ["n", ("o", 1), "yes"]),
        ([Order([["no"], "no"], "n")], [Order([["n"], "o"], "n")]),
    ],
)
def test_maximized_inside_of_elements(data: Any, most: Any) -> None:
    def check(data: Any) -> None:
        walk([one.items if isinstance(one, Order) else one for one in data] if isinstance(data, list) else data)

    found = DeltaDebugger().collect(check, data)
    assert found.max_args() == {"data": most}
    passing, failing, difference = found.min_arg_diff()
    check(**passing)
    with pytest.raises(LookupError):
        check(**failing)
    assert difference != failing
    assert DeltaDebugger(nested=False).collect(check, data).max_args() != {"data": most}


def test_maximized_where_only_a_frame_passes() -> None:
    def check(table: dict[str, list[int]]) -> None:
        if sum(table["rows"]) > 5:
            raise ValueError

    dd = DeltaDebugger().collect(check, {"rows": [1, 2, 7, 3], "more": [9]})
    assert dd.max_args() == {"table": {"rows": [1, 3], "more": [9]}}
    passing, failing, difference = dd.min_arg_diff()
    check(**passing)
    assert len(failing["table"]["rows"]) == len(passing["table"]["rows"]) + 1
    assert sum(map(len, difference["table"].values())) == 1
    with pytest.raises(DoesNotPassError, match=r"check\(table=\{\}\) does not pass: KeyError"):
        DeltaDebugger(nested=False).collect(check, {"rows": [9]}).max_args()


def test_no_maximum_is_made_up_when_stopped() -> None:
    for most in (1, 2):
        dd = DeltaDebugger(max_tests=most).collect(walk, ["a", "no"])
        if most == 1:
            with pytest.raises(DoesNotPassError, match="stopped before"):
                dd.max_args()
        else:
            assert dd.max_args() == {"data": []}
            assert dd.stopped_by == "tests"
