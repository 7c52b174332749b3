"""Transparent values: what is in their fields is reduced, and they are written as they can be made."""

from __future__ import annotations

import io
from collections import deque
from enum import Enum
from typing import Any

import pytest

from replay_dd import DeltaDebugger
from replay_dd.call.fields import fields_of
from replay_dd.call.source import source_of

pytestmark = pytest.mark.once


class Colour(Enum):
    RED = 1


class Line:
    """A record without slots."""

    def __init__(self, text: str, *, numbers: list[int] | None = None) -> None:
        self.text = text
        self.numbers = numbers or []


class Slotted:
    """A record with slots."""

    __slots__ = ("colour", "inside")

    def __init__(self, inside: Any, colour: Colour = Colour.RED) -> None:
        self.inside = inside
        self.colour = colour


class More:
    """No record: it keeps something that it was not given."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.words = text.split()


class Asked(Line):
    """No record: its attributes are made by its own code."""

    def __getattr__(self, name: str) -> Any:
        raise AssertionError


class Copied(Line):
    """No record: it is copied in a way of its own."""

    def __copy__(self) -> Any:
        raise AssertionError


def test_records_are_reduced_inside() -> None:
    def check(items: list[Any]) -> None:
        for item in items:
            if "x" in item.inside.text and 3 in item.inside.numbers:
                raise ValueError

    items = [Slotted(Line("ab")), Slotted(Line("axe", numbers=[1, 3])), Slotted(Line("x"))]
    with DeltaDebugger() as dd:
        check(items)
    assert repr(dd) == "check(items=[Slotted(inside=Line(text='x', numbers=[3]), colour=Colour.RED)])"
    assert items[1].inside.text == "axe"


def test_other_objects_are_not() -> None:
    for value in (More("a b"), Asked("a"), Copied("a"), ValueError("a"), object(), Line):
        assert fields_of(value) is None


def test_an_object_with_another_attribute_is_no_record() -> None:
    line: Any = Line("a")
    assert fields_of(line) == {"text": "a", "numbers": []}
    line.more = 1
    assert fields_of(line) is None


@pytest.mark.parametrize("whole", [io.StringIO("one\ntwo\nthree\n"), io.BytesIO(b"one\ntwo\nthree\n")])
def test_texts_that_are_read_like_files(whole: Any) -> None:
    def check(file: Any) -> None:
        for line in file:
            if line[:2] in ("tw", b"tw"):
                raise ValueError

    whole.seek(2)
    dd = DeltaDebugger().collect(check, whole)
    assert repr(dd).startswith("check(file=io.")
    assert dd.min_args()["file"].getvalue() in ("tw", b"tw")
    assert whole.tell() == 2


def test_sources() -> None:
    class Local(Enum):
        ONE = 1

    assert source_of([Local.ONE, Local]) == "[Local.ONE, Local]"
    assert source_of(list[int]) == "list[int]"
    assert source_of(deque([1], maxlen=3)) == "deque([1], maxlen=3)"
    closed = io.StringIO("a")
    closed.close()
    assert "object" in source_of(closed)
