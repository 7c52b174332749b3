"""Threads that go on after a wait without looking again, while another one is where they must not be."""

from __future__ import annotations

from dataclasses import replace

import pytest

from replay_dd.schedules.observed.observation import Access
from replay_dd.schedules.story import kinds
from replay_dd.schedules.story.conflict import Conflict, Edge
from replay_dd.schedules.story.kinds import kind_of
from replay_dd.schedules.story.sentences import summary_of
from replay_dd.schedules.story.woken_in_vain import find_woken_in_vain
from tests.schedules.logs import PASSED
from tests.schedules.story.made_accesses import Y, access, number
from tests.schedules.story.test_victim import seen

CONDITION, TABLE = ("object", 8, ""), ("attribute", 9, "rows")
LOOK = access("0.1", 3, 1, "reads", tested=True, old=number(True))
WAIT = access("0.1", 4, 2, "calls", CONDITION, holder_type="Condition", detail="wait()")
ENDS = access("0.2", 8, 3, "stores", new=number(False))
BEGINS = access("0.3", 9, 4, "stores", new=number(True))
GOES_ON = access("0.1", 5, 5, "stores", Y)
LOOK_AGAIN = LOOK._replace(place=replace(LOOK.place, line=4))
READS = access("0.1", 20, 6, "reads", TABLE)
WRITES = access("0.3", 21, 7, "stores", TABLE)
IS_DONE = access("0.3", 8, 8, "stores", new=number(False))


def told(*accesses: Access) -> Conflict | None:
    failing = seen(*accesses)
    torn = [one for one in failing.accesses if one.thing == TABLE]
    reads, writes = (next(one for one in torn if one.does == does) for does in ("reads", "stores"))
    return find_woken_in_vain(Conflict("0.3", None, Edge(writes, (reads,), inferred=False), None, (), (), ()), failing)


def test_what_made_a_thread_wait_is_there_again_when_it_goes_on() -> None:
    conflict = told(LOOK, WAIT, ENDS, BEGINS, GOES_ON, READS, WRITES, IS_DONE)
    assert conflict is not None
    assert kind_of(conflict, PASSED) == kinds.WAIT_WITHOUT_LOOP
    assert conflict.left is not None
    assert [one.thread for one in conflict.left.others] == ["0.2", "0.3"]
    words = summary_of(kinds.WAIT_WITHOUT_LOOP, conflict, ())
    assert [f"prog.py:{line}" in words for line in (3, 4, 5, 9)] == [True] * 4
    assert "`while`" in words


@pytest.mark.parametrize(
    "accesses",
    [
        (LOOK, WAIT, ENDS, GOES_ON, READS, WRITES, IS_DONE),
        (LOOK, WAIT, ENDS, BEGINS, LOOK_AGAIN, GOES_ON, READS, WRITES, IS_DONE),
        (LOOK, WAIT, ENDS, BEGINS, GOES_ON, IS_DONE, READS, WRITES),
        (LOOK, WAIT, ENDS, BEGINS, GOES_ON, READS, WRITES._replace(thread="0.4"), IS_DONE),
        (READS, LOOK, WAIT, ENDS, BEGINS, GOES_ON, WRITES, IS_DONE),
        (LOOK._replace(tested=False), WAIT, ENDS, BEGINS, GOES_ON, READS, WRITES, IS_DONE),
        (LOOK, WAIT._replace(detail="wait_for(function)"), ENDS, BEGINS, GOES_ON, READS, WRITES, IS_DONE),
        (LOOK, WAIT, BEGINS, ENDS, GOES_ON, READS, WRITES, IS_DONE),
    ],
    ids=[
        *("free", "looks again", "over by then", "another thread", "before it"),
        *("does not decide", "looks itself", "free at last"),
    ],
)
def test_waits_that_are_not_to_blame(accesses: tuple[Access, ...]) -> None:
    assert told(*accesses) is None
