"""Levels of nesting that a failure does not need go."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from replay_dd import DeltaDebugger
from replay_dd.call.hoists import Hoists, hoists
from replay_dd.dd import EMPTY

pytestmark = pytest.mark.once


@dataclass
class Node:
    sign: str
    left: Any = 1
    right: Any = 1


def value(node: Any) -> float:
    if not isinstance(node, Node):
        return float(node)
    left, right = value(node.left), value(node.right)
    return left / right if node.sign == "/" else left + right


def encode(data: Any) -> Any:
    if isinstance(data, dict):
        return {key: encode(one) for key, one in data.items()}
    if isinstance(data, list):
        return [encode(one) for one in data]
    if isinstance(data, set):
        raise TypeError("a set")
    return data


def total(*rows: Any, **named: Any) -> int:
    return sum(sum(row) if row else 1 // 0 for row in (*rows, *named.values()))


def test_a_node_of_a_tree_takes_the_place_of_those_above_it() -> None:
    tree = Node("+", Node("+", 2, Node("+", 3, Node("/", 4, 0))), 5)
    assert DeltaDebugger().collect(value, tree).min_args() == {"node": Node("/", 4, 0)}


def test_a_container_takes_the_place_of_one_of_another_sort() -> None:
    data = {"a": [1, {"b": {"c": [{"d": {1, 2}}, 5]}}], "e": {"f": "text"}}
    assert DeltaDebugger().collect(encode, data).min_args() == {"data": set()}


def test_a_needed_level_stays() -> None:
    def first(data: dict[str, Any]) -> Any:
        return data["a"]["b"][0]

    assert DeltaDebugger().collect(first, {"a": {"b": {"c": 1}}}).min_args() == {"data": {"a": {"b": {}}}}


def test_several_arguments_stay_several_arguments() -> None:
    dd = DeltaDebugger().collect(total, (1,), (), x=[[2]], y={"z": []})
    assert repr(dd) == "total(())"
    assert not Hoists({"rows": ((),), "named": {"x": {}}}, ["rows", "named"], ["rows", "named"]).all


def test_the_nearest_of_a_sort_come_before_what_is_directly_inside() -> None:
    arguments = {"data": {"a": [{"b": 1}, {"c": 2}]}}
    tried = [one.build(EMPTY)["data"] for one in hoists(lambda: arguments, ["data"], ())]
    assert tried == [{"b": 1}, {"c": 2}, [{"b": 1}, {"c": 2}]]


def test_what_contains_itself_or_is_very_deep_stays() -> None:
    circle: list[Any] = [[]]
    circle.append(circle)
    space = Hoists({"data": circle}, ["data"], ())
    assert space.all.count == 1
    assert space.words(0) == "data"
    deep: list[Any] = []
    for _ in range(100):
        deep = [deep]
    assert not Hoists({"data": deep}, ["data"], ()).all
