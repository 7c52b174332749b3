"""Sequences that must have one length are reduced together."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

from replay_dd import DeltaDebugger
from replay_dd.call.aligned import aligned
from replay_dd.call.course import course

pytestmark = pytest.mark.once


def divide(xs: list[int], ys: list[int]) -> list[float]:
    if len(xs) != len(ys):
        raise TypeError("not of one length")
    return [x / y for x, y in zip(xs, ys, strict=True)]


def determinant(rows: list[list[float]]) -> float:
    if any(len(row) != len(rows) for row in rows):
        raise TypeError("not square")
    return 1 / rows[-1][-1]


def fit(points: Any, labels: Any) -> None:
    if len(points) != len(labels):
        raise TypeError("not of one length")
    if numpy.isnan(points[labels > 0]).any():
        raise ValueError("a point is missing")


def points() -> Any:
    made = numpy.arange(60.0).reshape(20, 3)
    made[13, 1] = numpy.nan
    return made


@pytest.mark.parametrize("size", [3, 30])
def test_lists_of_one_length(size: int) -> None:
    dd = DeltaDebugger().collect(divide, list(range(size)), [1, 0, *range(2, size)])
    assert dd.min_args() == {"xs": [1], "ys": [0]}
    assert dd.tests < 30


def test_rows_with_columns() -> None:
    rows = [[float(row == column != 9) for column in range(10)] for row in range(10)]
    dd = DeltaDebugger().collect(determinant, rows)
    assert dd.min_args() == {"rows": [[0.0]]}
    assert dd.tests < 20
    array = DeltaDebugger().collect(numpy.linalg.inv, numpy.array(rows))
    assert array.min_args()["a"].tolist() == [[0.0]]


def test_an_axis_of_one_argument_and_one_of_another() -> None:
    dd = DeltaDebugger().collect(fit, points(), numpy.arange(20))
    assert repr(dd) == "fit(points=numpy.array([[float('nan')]], 'float64'), labels=numpy.array([13], 'int64'))"


def test_only_sequences_have_places() -> None:
    arguments = {"a": "abc", "b": {1: 2, 3: 4, 5: 6}, "c": [7, 8, 9], "d": [[1, 2], (3, 4)], "kept": [1, 2, 3]}
    places = list(aligned(lambda: arguments, ["a", "b", "c", "d"]))
    assert [(len(one.all), one.build(one.all)) for one in places] == [(2, arguments)]
    assert places[0].build(places[0].all - places[0].all) == {**arguments, "d": []}
    assert list(aligned(lambda: arguments, list(arguments), large=True)) == []


def test_the_command_searches_them_too() -> None:
    left: Any = {"xs": list(range(9)), "ys": [1, 0, *range(2, 9)]}
    search = course(left, ["xs", "ys"])
    space = next(search)
    while True:
        for place in space.all:
            smaller = space.build(space.all - space.all.between(place, place + 1))
            try:
                divide(**smaller)
            except ZeroDivisionError:
                left = smaller
                break
            except TypeError:
                pass
        try:
            space = search.send(left)
        except StopIteration:
            break
    assert len(left["xs"]) == len(left["ys"]) < 9
