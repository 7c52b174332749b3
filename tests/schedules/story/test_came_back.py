"""Values that others replace and put back: the ABA problem."""

from __future__ import annotations

from dataclasses import replace

import pytest

from replay_dd.schedules.observed.observation import Access, Value
from replay_dd.schedules.story import kinds
from replay_dd.schedules.story.came_back import came_back, help_of_came_back, put_back
from replay_dd.schedules.story.kinds import kind_of
from replay_dd.schedules.story.sentences import summary_of
from tests.schedules.logs import PASSED
from tests.schedules.story.made_accesses import X, access, number, switch
from tests.schedules.story.test_victim import seen

A, B, C = (Value("", "Node", one) for one in (7, 8, 9))
NEXT = ("attribute", 7, "next")
LOOK = access("0.1", 2, 1, "reads", old=A)
READ = access("0.1", 3, 2, "reads", NEXT, old=B)
REPLACED = access("0.2", 1, 5, "stores", old=A, new=C)
CHANGED = access("0.2", 2, 6, "stores", NEXT, old=B, new=C)
RESTORED = access("0.2", 3, 7, "stores", old=C, new=A)
AGAIN = access("0.1", 8, 8, "reads", old=A, tested=True)
STORE = access("0.1", 9, 9, "stores", old=A, new=B)
WHOLE = (LOOK, READ, REPLACED, CHANGED, RESTORED, AGAIN, STORE)


def test_what_was_read_elsewhere_is_out_of_date_when_the_value_is_there_again() -> None:
    failing = seen(*WHOLE)
    found = came_back(failing, switch(5))
    assert found is not None
    assert kind_of(found, PASSED) == kinds.ABA
    assert [one.place.line for one in put_back(found)] == [1, 3]
    words = summary_of(kinds.ABA, found)
    assert [one for one in ("prog.py:2", "prog.py:8", "prog.py:1", "prog.py:3", "Thing.next") if one not in words] == []


@pytest.mark.parametrize(
    "accesses",
    [
        (LOOK, READ, REPLACED, CHANGED, AGAIN._replace(old=C), STORE),  # it finds something else
        (LOOK, READ, CHANGED, AGAIN, STORE),  # it was there all the time
        (LOOK, READ, CHANGED, RESTORED._replace(old=A), AGAIN, STORE),
        (LOOK, READ, REPLACED, RESTORED, AGAIN, STORE),  # what it has read still holds
        (LOOK, READ, REPLACED, CHANGED._replace(new=B), RESTORED, AGAIN, STORE),
        (READ, REPLACED, CHANGED, RESTORED, AGAIN, STORE),  # it had not looked
        (LOOK._replace(old=C), READ, REPLACED, CHANGED, RESTORED, AGAIN, STORE),
        (LOOK, READ, REPLACED, CHANGED, RESTORED, AGAIN._replace(tested=False), STORE),
        (LOOK, READ, REPLACED, CHANGED, RESTORED, AGAIN),  # nothing comes of it
        (LOOK, READ, REPLACED, CHANGED, RESTORED, AGAIN, STORE._replace(new=C)),
        (LOOK, READ, REPLACED, CHANGED, RESTORED, AGAIN, STORE._replace(thing=NEXT)),
        (READ, LOOK, REPLACED, CHANGED, RESTORED, AGAIN, STORE),  # it had read that before
    ],
)
def test_a_value_that_is_there_again_is_no_fault_by_itself(accesses: tuple[Access, ...]) -> None:
    numbered = [one._replace(global_time=at) for at, one in enumerate(accesses)]
    before = sum(one.time < 5 for one in numbered if one.thread == "0.1")
    at = replace(switch(5), global_time=before)
    assert came_back(seen(*numbered), at) is None


def test_plain_values_come_back_as_well() -> None:
    one, two = number(1), number(2)
    plain = [LOOK._replace(old=one), READ, REPLACED._replace(old=one, new=two), CHANGED]
    plain += [RESTORED._replace(old=two, new=one), AGAIN._replace(old=one), STORE._replace(old=one)]
    assert came_back(seen(*plain), switch(5)) is not None


def test_a_version_helps_or_the_lock_that_is_there_held_from_the_look_on() -> None:
    locked = [one._replace(held=(3,)) if one in (REPLACED, RESTORED, AGAIN, STORE) else one for one in WHOLE]
    found = came_back(seen(*locked), switch(5))
    assert found is not None
    words = help_of_came_back(found, replace(seen(*locked), locks={3: "Stack.guard"}))
    assert words.startswith("hold Stack.guard from the first look (prog.py:2) on, or compare a version with Thing.x")
    found = came_back(seen(*WHOLE), switch(5))
    assert found is not None
    assert help_of_came_back(found, seen(*WHOLE)).startswith("compare a version with Thing.x")
    assert found.right is not None
    assert found.right.access.thing == X
