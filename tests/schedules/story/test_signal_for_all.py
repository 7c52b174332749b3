"""One signal that lets several threads go on, each of which takes it back."""

from __future__ import annotations

from dataclasses import replace

import pytest

from replay_dd.schedules.observed.observation import Access, StackFrame
from replay_dd.schedules.story import kinds
from replay_dd.schedules.story.conflict import Conflict, Edge
from replay_dd.schedules.story.kinds import kind_of
from replay_dd.schedules.story.signal_for_all import help_of_signal_for_all, signal_for_all
from tests.schedules.logs import PASSED
from tests.schedules.story.made_accesses import access
from tests.schedules.story.test_victim import seen

EVENT = ("object", 3, "")


def call(thread: str, line: int, detail: str, holder_type: str = "Event") -> Access:
    named = {"name": "Slot.full", "detail": detail, "holder_type": holder_type}
    return access(thread, line, line, "calls", EVENT, reads="wait" in detail, writes="wait" not in detail, **named)


WAITS, OTHER = call("0.1", 4, "wait()"), call("0.2", 4, "wait()")
SETS = call("0", 9, "set()")
CLEARS, AGAIN = call("0.1", 5, "clear()"), call("0.2", 5, "clear()")
RUN = (WAITS, OTHER, SETS, CLEARS, AGAIN)


def told(*accesses: Access) -> Conflict | None:
    failing = seen(*accesses)
    sets = next(one for one in failing.accesses if one.detail == "set()")
    waits = tuple(one for one in failing.accesses if one.detail == "wait()")
    order = Conflict("0", None, Edge(sets, waits, inferred=False), None, waits, (), (sets,))
    return signal_for_all(order, failing)


def test_who_goes_on_by_a_signal_that_another_one_has_taken_acts_on_an_outdated_wait() -> None:
    found = told(*RUN)
    assert found is not None
    assert kind_of(found, PASSED) == kinds.CHECK_THEN_ACT
    assert found.thread == "0.2"
    assert [edge.access.place.line for edge in found.edges] == [4, 5]
    assert [[one.thread for one in edge.others] for edge in found.edges] == [["0.1"], ["0.1"]]
    assert "`set()` of Slot.full lets all go on who wait (prog.py:4)" in help_of_signal_for_all(
        kinds.CHECK_THEN_ACT, found
    )
    assert help_of_signal_for_all(kinds.ORDER_VIOLATION, found) == ""
    assert help_of_signal_for_all(kinds.CHECK_THEN_ACT, found._replace(left=None)) == ""


@pytest.mark.parametrize(
    "accesses",
    [
        (WAITS, OTHER, SETS, CLEARS, SETS, AGAIN),  # each has a signal of its own
        (WAITS, OTHER, SETS, CLEARS, AGAIN._replace(thread="0.1")),  # one thread clears it twice
        (WAITS, SETS, CLEARS, OTHER, AGAIN),  # it waits anew
        (OTHER, SETS, CLEARS, AGAIN),  # who clears it first has not waited
        (WAITS, SETS, CLEARS, AGAIN),
        (WAITS, OTHER, SETS, CLEARS, AGAIN._replace(place=replace(AGAIN.place, line=3))),  # it clears it before
        (WAITS, OTHER, SETS, CLEARS, AGAIN._replace(stack=(*AGAIN.stack, StackFrame("", "", 1, "run", True)))),
        tuple(one._replace(holder_type="Signal") for one in RUN),
    ],
)
def test_else_it_stays_an_order(accesses: tuple[Access, ...]) -> None:
    assert told(*accesses) is None
