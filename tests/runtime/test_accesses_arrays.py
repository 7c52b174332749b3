"""Which element of an array of NumPy an access is to; NumPy itself is not needed for that."""

from __future__ import annotations

from typing import Any

import pytest

from replay_dd.schedules.runtime.accesses import arrays

pytestmark = pytest.mark.once


class ndarray:  # as the one of NumPy
    """As much of an array as is looked at: three rows of two numbers of 8 bytes, or a part of them."""

    def __init__(self, shape: tuple[int, ...] = (3, 2), first: int = 0, base: Any = None) -> None:
        self.shape, self.strides, self.base = shape, (16, 8)[-len(shape) :], base
        self.first = first
        self.__array_interface__ = {"data": (1000 + 8 * first, False)}

    def item(self, *key: int) -> int:
        return self.first + sum(one * stride // 8 for one, stride in zip(key, self.strides, strict=True))


ndarray.__module__ = "numpy"


@pytest.fixture(autouse=True)
def _arrays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrays, "is_array", lambda thing: type(thing) is ndarray)


def test_an_element_lies_in_the_memory_of_the_owner() -> None:
    whole = ndarray()
    row = ndarray((2,), first=2, base=whole)
    part = ndarray((1,), first=3, base=row)
    assert arrays.owner(part) is arrays.owner(row) is arrays.owner(whole) is whole
    assert arrays.element(whole, (1, 1)) == ("byte 24", "1, 1", 3)
    assert arrays.element(row, 1) == ("byte 24", "1", 3)
    assert arrays.element(part, (0,)) == ("byte 24", "0", 3)
    assert arrays.element(row, -1) == ("byte 24", "1", 3)


@pytest.mark.parametrize("key", [1, (1, 2), (3, 0), (slice(None), 0), (True, 0), (1.0, 0), None, "x"])
def test_what_is_no_element(key: Any) -> None:
    assert arrays.element(ndarray(), key) is None


def test_a_class_of_the_program_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    number = type(
        "int64", (), {"__module__": "numpy", "item": lambda self: pytest.fail("this ran code of the program")}
    )()
    assert not arrays.is_array(ndarray())
    assert not arrays.is_array([])
    assert arrays.plain(number) is number
    assert arrays.plain(5) == 5
