"""Two whole changes by one thread, and what another one does with what it has seen in between."""

from __future__ import annotations

from dataclasses import replace

import pytest

from replay_dd.schedules.observed.observation import Access, StackFrame
from replay_dd.schedules.story import kinds
from replay_dd.schedules.story.acted_later import acted_on_later
from replay_dd.schedules.story.conflict import Conflict, Edge
from replay_dd.schedules.story.kinds import kind_of
from tests.schedules.logs import PASSED
from tests.schedules.story.made_accesses import Y, access
from tests.schedules.story.test_victim import seen

GUARD = 3
PUSHES = {"reads": False, "writes": True, "detail": "heappush()", "held": (GUARD,)}
TAKES = ("lock", GUARD, "")
FIRST = access("0", 19, 1, "calls", **PUSHES)
LOOK = access("0.1", 35, 2, "reads", held=(GUARD,))
AGAIN = access("0", 18, 3, "acquires", TAKES)
SECOND = access("0", 19, 4, "calls", **PUSHES)
RETAKES = access("0.1", 46, 5, "acquires", TAKES)
ACT = access("0.1", 47, 6, "calls", **{**PUSHES, "detail": "heappop()"})
RUN = (FIRST, LOOK, AGAIN, SECOND, RETAKES, ACT)


def told(*accesses: Access) -> Conflict | None:
    failing = seen(*accesses)
    own = [one for one in failing.accesses if one.thread == "0"]
    first, last = (one for one in own if one.does == "calls")
    looks = tuple(one for one in failing.accesses if first.number < one.number < last.number and one.thread != "0")
    left, right = (Edge(one, looks, inferred=False) for one in (first, last))
    torn = Conflict("0", left, right, None, looks, (first,), tuple(own[1:]))
    assert kind_of(torn, PASSED) == kinds.TORN_UPDATE
    return acted_on_later(torn, failing)


def test_who_acts_later_on_what_it_has_seen_between_two_sections_is_to_blame() -> None:
    conflict = told(*RUN)
    assert conflict is not None
    assert conflict.thread == "0.1"
    assert kind_of(conflict, PASSED) == kinds.CHECK_THEN_ACT
    assert [edge.access.place.line for edge in conflict.edges] == [35, 47]
    assert [[one.place.line for one in edge.others] for edge in conflict.edges] == [[19], [19]]
    assert conflict.before[-1].place.line == 35
    assert conflict.after[-1].place.line == 47


def test_without_a_lock_two_calls_of_one_function_are_two_changes() -> None:
    frames = [(StackFrame("prog.py", "prog.py", line, "main", True),) for line in (53, 54)]
    first, last = (
        one._replace(held=(), stack=(*one.stack, *frame)) for one, frame in zip((FIRST, SECOND), frames, strict=True)
    )
    bare = [one._replace(held=()) for one in (LOOK, ACT)]
    assert told(first, bare[0], last, bare[1]) is not None
    assert told(first, bare[0], last._replace(stack=first.stack), bare[1]) is None  # one call: two steps of it


@pytest.mark.parametrize(
    "accesses",
    [
        (FIRST, LOOK, SECOND, RETAKES, ACT),  # one section: the second change belongs to the first
        RUN[:-1],  # it only looks
        (*RUN[:-1], ACT._replace(thing=Y)),
        (*RUN[:-1], LOOK._replace(tested=True), ACT),  # it looks again
        (FIRST, LOOK, AGAIN, SECOND, ACT),  # it has had the lock all the time
        (*RUN[:-1], ACT._replace(place=replace(ACT.place, line=34))),  # a later call does that
        (FIRST, LOOK, RETAKES, ACT, AGAIN, SECOND),  # both are done before the second change
        (FIRST, LOOK._replace(**PUSHES), AGAIN, SECOND, RETAKES, ACT),
    ],
)
def test_else_it_stays_an_update_in_two_steps(accesses: tuple[Access, ...]) -> None:
    assert told(*accesses) is None
