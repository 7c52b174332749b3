"""What is removed as nobody uses it, while another thread begins to."""

from __future__ import annotations

from dataclasses import replace

import pytest

from replay_dd.schedules.observed.observation import Access, StackFrame
from replay_dd.schedules.story import kinds
from replay_dd.schedules.story.conflict import Conflict, Edge
from replay_dd.schedules.story.kinds import kind_of
from replay_dd.schedules.story.removed_unused import removed_unused
from tests.schedules.logs import PASSED
from tests.schedules.story.made_accesses import NOTHING, Y, access, number
from tests.schedules.story.test_victim import seen

CALLER = StackFrame("prog.py", "prog.py", 90, "main", True)
CALLED_AT = StackFrame("prog.py", "prog.py", 7, "work", True)


def called(one: Access, *frames: StackFrame) -> Access:
    return one._replace(stack=(*one.stack, *frames))


ENTRY = ("item", 4, "'db'")
LOOK = called(access("0.1", 5, 1, "reads", old=number(0), tested=True), CALLER)
FINDS = access("0.2", 20, 2, "reads", ENTRY)
USES = access("0.2", 21, 3, "stores", old=number(0), new=number(1))
REMOVES = called(access("0.1", 7, 4, "deletes", ENTRY, new=NOTHING), CALLER)
MISSES = access("0.2", 30, 5, "reads", ENTRY, old=NOTHING)
RUN = (LOOK, FINDS, USES, REMOVES, MISSES)


def told(*accesses: Access) -> Conflict | None:
    """What is told of the thread that looks for it, and misses it then."""
    failing = seen(*accesses)
    act = next(one for one in failing.accesses if one.does == "deletes")
    finds, *_, misses = [one for one in failing.accesses if one.thread == "0.2"]
    left, right = (Edge(one, (act,), inferred=False) for one in (finds, misses))
    return removed_unused(Conflict("0.2", left, right, None, (act,), (finds,), (misses,)), failing)


def test_who_found_that_nobody_uses_it_is_to_blame() -> None:
    found = told(*RUN)
    assert found is not None
    assert found.thread == "0.1"
    assert kind_of(found, PASSED) == kinds.CHECK_THEN_ACT
    assert [edge.access.place.line for edge in found.edges] == [5, 7]
    assert [[one.place.line for one in edge.others] for edge in found.edges] == [[21], [20]]
    assert [one.place.line for one in found.stretch] == [20, 21]


def test_what_the_looking_function_calls_then_belongs_to_its_act() -> None:
    inside = access("0.1", 60, 4, "deletes", ENTRY, new=NOTHING)
    inside = inside._replace(place=replace(inside.place, function="destroy"))
    assert told(LOOK, FINDS, USES, called(inside, CALLED_AT, CALLER), MISSES) is not None
    assert told(LOOK, FINDS, USES, called(inside, CALLED_AT._replace(line=4), CALLER), MISSES) is None
    assert told(LOOK, FINDS, USES, called(inside, CALLED_AT, CALLER._replace(line=91)), MISSES) is None


@pytest.mark.parametrize(
    "accesses",
    [
        (FINDS, USES, REMOVES, MISSES),  # nothing was looked at
        (LOOK._replace(old=number(1)), *RUN[1:]),  # somebody used it
        (LOOK._replace(tested=False), *RUN[1:]),
        (LOOK._replace(place=replace(LOOK.place, line=8)), *RUN[1:]),  # the look of an earlier call
        (LOOK, FINDS, USES._replace(thing=Y), REMOVES, MISSES),
        (LOOK, FINDS, USES._replace(thread="0.3"), REMOVES, MISSES),  # who begins to use it is another one
        (LOOK, FINDS, USES._replace(new=number(0)), REMOVES, MISSES),
        (USES, LOOK, FINDS, REMOVES, MISSES),
    ],
)
def test_else_it_is_no_removal_of_what_is_used(accesses: tuple[Access, ...]) -> None:
    assert told(*accesses) is None
