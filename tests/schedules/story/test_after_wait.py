"""Threads that act on what they have seen before their wait, where only an order of waits was seen."""

from __future__ import annotations

from dataclasses import replace

import pytest

from replay_dd.schedules.observed.observation import Access
from replay_dd.schedules.story import kinds
from replay_dd.schedules.story.after_wait import acted_after_wait
from replay_dd.schedules.story.conflict import Conflict, Edge
from replay_dd.schedules.story.kinds import kind_of
from tests.schedules.logs import PASSED
from tests.schedules.story.made_accesses import Y, access
from tests.schedules.story.test_victim import seen

CONDITION = ("object", 8, "")
LOOK = access("0.1", 3, 1, "reads", tested=True)
WAIT = access("0.1", 4, 2, "calls", CONDITION, holder_type="Condition", detail="wait()")
TAKE = access("0.2", 9, 3, "stores")
PUT = access("0.3", 5, 4, "stores")
ACT = access("0.1", 5, 5, "stores")
NOTIFY = access("0.1", 6, 6, "calls", CONDITION, holder_type="Condition", detail="notify_all()")


def told(*accesses: Access) -> Conflict | None:
    order = Conflict("0.1", None, Edge(NOTIFY, (WAIT,), inferred=False), None, (), (), ())
    return acted_after_wait(order, seen(*accesses))


def test_who_is_woken_must_look_again_as_another_thread_may_have_come_first() -> None:
    conflict = told(LOOK, WAIT, TAKE, PUT, ACT)
    assert conflict is not None
    assert conflict.left is not None
    assert conflict.right is not None
    assert (conflict.left.access.place, conflict.right.access.place) == (LOOK.place, ACT.place)
    assert [one.thread for one in conflict.right.others] == ["0.2", "0.3"]
    assert kind_of(conflict, PASSED) == kinds.WAIT_WITHOUT_LOOP


@pytest.mark.parametrize(
    "accesses",
    [
        (LOOK, WAIT, TAKE, ACT),  # it was woken, and nobody came in between
        (LOOK, WAIT, TAKE, PUT, LOOK, ACT),  # it looks again
        (LOOK, WAIT, TAKE, PUT, ACT._replace(thing=Y)),
        (LOOK._replace(tested=False), WAIT, TAKE, PUT, ACT),
        (LOOK, WAIT._replace(detail="wait_for(function)"), TAKE, PUT, ACT),
        (LOOK, WAIT, TAKE, PUT, ACT._replace(place=replace(ACT.place, function="other"))),
    ],
)
def test_nothing_is_wrong_with_other_waits(accesses: tuple[Access, ...]) -> None:
    assert told(*accesses) is None


def test_it_may_be_an_update_and_its_result_may_be_looked_at() -> None:
    reads = ACT._replace(does="reads", reads=True, writes=False)
    failing = seen(LOOK, WAIT, TAKE, PUT, reads, ACT)
    for access_seen, is_told in ((ACT, True), (ACT._replace(thing=Y), False)):
        order = Conflict("0.1", None, Edge(access_seen, (TAKE,), inferred=False), None, (), (), ())
        assert (acted_after_wait(order, failing) is not None) == is_told
