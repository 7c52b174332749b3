"""A thread that changes what it goes through itself."""

from __future__ import annotations

from dataclasses import replace

import pytest

from replay_dd.schedules.observed.observation import Access
from replay_dd.schedules.story.conflict import Conflict, Edge
from replay_dd.schedules.story.own_change import help_of_own_change
from replay_dd.schedules.story.tell import tell_race
from tests.schedules.logs import PASSED
from tests.schedules.story.made_accesses import NOTHING, X, access
from tests.schedules.story.test_victim import raising, seen

pytestmark = pytest.mark.once

LISTENERS = ("whole", 7, "")
FIRST = access("0.1", 5, 5, "iterates", LISTENERS, reads=True, name="Bus.listeners")
LAST = FIRST._replace(time=7)
CHANGED = replace(
    raising(5), exceptions=(replace(raising(5).exceptions[0], text="dictionary changed size during iteration"),)
)


def removes(thread: str) -> Access:
    return access(thread, 6, 6, "deletes", ("item", 7, "'log'"), new=NOTHING)


def test_it_is_told_to_go_through_a_copy() -> None:
    failing = seen(FIRST, access("0.2", 1, 6, "stores", X), removes("0.1"), LAST)
    assert help_of_own_change(failing, CHANGED) == (
        "go through a copy of Bus.listeners (prog.py:5): thread 0.1 itself removes from it (prog.py:6) while it goes "
        "through it"
    )


def test_the_story_of_who_made_it_do_so_tells_that() -> None:
    closed, looks = access("0.2", 1, 4, "stores", X), access("0.1", 5, 5, "reads", X)
    failing = seen(FIRST, closed, looks, removes("0.1"), LAST)
    edge = Edge(failing.accesses[2], (failing.accesses[1],), inferred=False)
    conflict = Conflict("0.1", None, edge, None, failing.accesses[1:2], failing.accesses[:1], failing.accesses[2:])
    story = tell_race(conflict, failing, seen(FIRST, looks, LAST), CHANGED)
    assert story is not None
    assert story.help == help_of_own_change(failing, CHANGED)


@pytest.mark.parametrize(
    "accesses",
    [
        [FIRST, removes("0.2"), LAST],  # somebody else does
        [FIRST, removes("0.1"), removes("0.2"), LAST],
        [removes("0.1"), FIRST, LAST],  # it did before
        [removes("0.1"), LAST],
    ],
)
def test_what_others_change_is_not_its_own_fault(accesses: list[Access]) -> None:
    assert help_of_own_change(seen(*accesses), CHANGED) == ""


def test_a_loop_that_does_not_fail_may_change_it() -> None:
    assert help_of_own_change(seen(FIRST, removes("0.1"), LAST), PASSED) == ""
