"""Containers that a class holds for all its objects."""

from __future__ import annotations

import pytest

from replay_dd.schedules.observed.observation import Access
from replay_dd.schedules.story.class_held import held_by_class_in_words, help_of_class_held
from tests.schedules.story.made_accesses import access
from tests.schedules.story.test_victim import seen

LINES = access("0.1", 9, 9, "calls", ("whole", 4, ""), name="Invoice.lines")


def read(thread: str, time: int, holder: int, holder_type: str = "Invoice") -> Access:
    return access(thread, time, time, "reads", ("attribute", holder, "lines"), holder_type=holder_type)._replace(
        name="Invoice.lines"
    )


def of_class(thread: str, time: int, holder: int) -> list[Access]:
    return [read(thread, time, 8, "type"), read(thread, time, holder)]


def test_what_two_objects_find_in_their_class_is_shared() -> None:
    failing = seen(*of_class("0.1", 1, 5), *of_class("0.2", 1, 6))
    assert held_by_class_in_words(LINES, failing) == ", which the class Invoice holds for all its objects"
    assert "make `lines` in `__init__` if each Invoice needs its own" in help_of_class_held(LINES, failing)
    item = LINES._replace(thing=("item", 4, "0"), name="Invoice.lines[0]")
    assert "`lines`" in help_of_class_held(item, failing)


@pytest.mark.parametrize(
    "accesses",
    [
        (*of_class("0.1", 1, 5), *of_class("0.2", 1, 5)),  # one object: nobody else is surprised
        (*of_class("0.1", 1, 5), *of_class("0.2", 1, 6), read("0.2", 2, 7)),  # that one has its own
        (*of_class("0.1", 1, 5), *of_class("0.2", 1, 6), read("0.2", 2, 8)._replace(does="stores")),
        (*of_class("0.1", 1, 5), *(one._replace(does="stores") for one in of_class("0.2", 2, 6))),  # it is replaced
        (read("0.1", 1, 5), read("0.2", 1, 6)),
    ],
)
def test_what_is_not_always_found_in_the_class_is_not_called_shared(accesses: tuple[Access, ...]) -> None:
    assert held_by_class_in_words(LINES, seen(*accesses)) == help_of_class_held(LINES, seen(*accesses)) == ""


def test_an_attribute_itself_is_no_container() -> None:
    failing = seen(*of_class("0.1", 1, 5), *of_class("0.2", 1, 6))
    assert held_by_class_in_words(failing.accesses[1], failing) == ""
