"""What calls of methods do to their objects."""

from __future__ import annotations

import sys
import threading
from collections import OrderedDict, deque
from types import CodeType
from typing import Any

import pytest

from replay_dd.schedules.runtime.points.methods import effect_of


class Account:
    def __init__(self) -> None:
        self.notify = print

    def pay(self) -> None:
        """The program's own."""

    def __len__(self) -> int:
        raise AssertionError("this ran code of the program")


class Stack(list[int]):
    def push(self, one: int) -> None:
        self.append(one)


CHANGES, LOOKS = ("[]", True), ("[]", False)


@pytest.mark.parametrize(
    ("holder", "method", "effect"),
    [
        ([1], "append", CHANGES),
        ([1], "index", LOOKS),
        ({}, "get", LOOKS),
        ({}, "pop", CHANGES),
        (OrderedDict(), "move_to_end", CHANGES),
        (deque(), "popleft", CHANGES),
        (Stack(), "append", CHANGES),
        (Stack(), "push", None),
        (threading.Event(), "set", CHANGES),
        (threading.Event(), "is_set", LOOKS),
        (Account(), "pay", None),
        (Account(), "__len__", None),
        (Account(), "notify", ("notify", False)),
        (object(), "__iter__", None),
        ("text", "join", None),
        ((1,), "index", None),
        (sys, "exit", None),
        (Account, "pay", None),
    ],
)
def test_effects(holder: Any, method: str, effect: tuple[str, bool] | None) -> None:
    def is_counted(code: CodeType) -> bool:
        return code.co_filename == __file__

    assert effect_of(holder, method, is_counted) == effect
