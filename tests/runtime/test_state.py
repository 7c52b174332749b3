"""Two states of a program are the same only if nothing that can be seen is another."""

from __future__ import annotations

import mmap
from collections.abc import Callable, Iterator

import pytest

from replay_dd.schedules.runtime.hangs.state import state_of


class Box:
    def __init__(self, value: object) -> None:
        self.value = value


def _steps() -> Iterator[int]:
    yield 0
    yield 0


def _one_ended_and_one_under_way() -> tuple[list[object], Callable[[], object]]:
    ended, under_way = _steps(), _steps()
    list(ended)
    return [ended, under_way], lambda: next(under_way)


def _one_closed_and_one_open() -> tuple[list[object], Callable[[], object]]:
    closed, opened = mmap.mmap(-1, 4), mmap.mmap(-1, 4)
    closed.close()
    return [closed, opened], lambda: opened.write_byte(7)


def _one_of_many_boxes() -> tuple[list[object], Callable[[], object]]:
    boxes = [Box([number]) for number in range(9)]
    return [boxes], lambda: setattr(boxes[5], "value", None)


def _one_of_many_lists() -> tuple[list[object], Callable[[], object]]:
    lists = [[number] for number in range(9)]
    return [lists], lambda: lists[5].append(9)


@pytest.mark.parametrize(
    "make", [_one_ended_and_one_under_way, _one_closed_and_one_open, _one_of_many_boxes, _one_of_many_lists]
)
def test_a_change_behind_others_of_the_same_class(
    make: Callable[[], tuple[list[object], Callable[[], object]]],
) -> None:
    roots, change = make()
    before = state_of(roots)
    assert before is not None
    assert state_of(roots) == before
    change()
    assert state_of(roots) != before


def test_no_function_of_the_program_is_asked_for_its_memory() -> None:
    asked = []

    class Memory:
        def __init__(self) -> None:
            self.data = bytearray(b"x")

        def __buffer__(self, flags: int) -> memoryview:
            asked.append(flags)
            return memoryview(self.data)

    things = [Memory(), Memory()]
    before = state_of([things])
    things[1].data[0] = 7
    assert None is not before != state_of([things])
    assert not asked
