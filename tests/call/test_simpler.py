"""What stays of arguments is made simpler."""

from __future__ import annotations

from functools import partial
from inspect import signature
from typing import Any, NamedTuple

import pytest

from replay_dd import DeltaDebugger
from replay_dd.call.circumstance import CallArguments, Search
from replay_dd.call.course import course
from replay_dd.call.failure import Ending
from replay_dd.call.in_child import RAISED, RETURNED
from replay_dd.call.simpler import Named, Numbers, optional_of
from replay_dd.dd import EMPTY
from replay_dd.experiment.driver import isolate_cause

pytestmark = pytest.mark.once


def minimal(fails: Any, arguments: dict[str, Any], optional: tuple[str, ...] = ()) -> dict[str, Any]:
    """What the command leaves of the arguments of a call that fails if a function of them says so."""

    def run(given: Any, limit_s: float) -> tuple[Ending, float]:
        return Ending(RAISED if fails(**given) else RETURNED), 0.0

    begin = partial(course, arguments, list(arguments), (), optional)
    found = isolate_cause(CallArguments(Search(run, str, list(arguments), begin, "bisection"), next(begin())))
    assert found.verified
    assert isinstance(found.circumstance, CallArguments)
    return found.circumstance.arguments(found.failing.configuration)


def test_numbers_become_simple_ones() -> None:
    def fails(rows: list[Any]) -> bool:
        return len(rows) == 4 and rows[0] > 1 and rows[1] < -1 and rows[2] >= 30 and type(rows[3]) is float

    assert minimal(fails, {"rows": [12345, -7, 30, 2.5]}) == {"rows": [2, -2, 30, 0.0]}


def test_arguments_with_defaults_are_left_out_though_the_failure_needs_none_at_all() -> None:
    arguments = {"rows": [1, 2], "title": "Prices", "width": 80, "strict": True}
    assert minimal(lambda rows, title="a", width=3, strict=True: strict, arguments, ("title", "width", "strict")) == {
        "rows": []
    }


def test_names_that_belong_together_stay_equal() -> None:
    def fails(data: dict[str, Any], wanted: list[str]) -> bool:
        return any(name in data and data[name] == "" for name in wanted)

    arguments = {"data": {"title": "Prices", "owner": ""}, "wanted": ["title", "owner", "day"]}
    assert minimal(fails, arguments) == {"data": {"a": ""}, "wanted": ["a"]}


def test_a_name_is_none_that_is_there_already() -> None:
    arguments = {"data": {"a": 1, "bb": 2}}
    assert Named(arguments, ["data"]).build(EMPTY) == {"data": {"a": 1, "b": 2}}


class Point(NamedTuple):
    x: int
    label: str


def test_numbers_in_fields_change_and_others_stay() -> None:
    arguments = {"points": [Point(5, "5")], "rest": 7, "flags": {6: True}}
    made = Numbers(arguments, ["points", "flags"], 0).build(EMPTY)
    assert made == {"points": [Point(0, "5")], "rest": 7, "flags": {6: False}}


def test_only_what_can_be_left_out_is_optional() -> None:
    def call(a: int, b: int = 1, /, c: int = 2, *rest: int, d: int = 3, e: int) -> None:
        """With parameters of all kinds."""

    assert optional_of(signature(call), ["a", "b", "c", "d", "e"]) == ["c", "d"]
    assert optional_of(signature(call), ["a", "b", "c", "rest", "d"]) == ["d"]


def test_a_debugger_leaves_numbers_alone_where_it_cannot_end_a_call() -> None:
    def rate(task: dict[str, int], workers: int = 1, limits: tuple[int, ...] = ()) -> float:
        return task["units"] / task["hours"] * workers

    found = DeltaDebugger().collect(rate, {"units": 7, "hours": 0}, workers=4, limits=(1, 2)).min_args()
    assert found == {"task": {"units": 7, "hours": 0}}
