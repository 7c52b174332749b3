"""Semaphores that get a permit back which nobody has taken."""

from __future__ import annotations

from dataclasses import replace

import pytest

from replay_dd.schedules.observed.observation import Access, Observation, StackFrame, Value
from replay_dd.schedules.story import kinds
from replay_dd.schedules.story.conflict import Conflict, Edge
from replay_dd.schedules.story.kinds import kind_of
from replay_dd.schedules.story.own_fault import tell_own_fault
from replay_dd.schedules.story.permits import INFERRED, find_extra_permit
from replay_dd.schedules.story.twins import Twins
from tests.schedules.logs import PASSED
from tests.schedules.story.made_accesses import access
from tests.schedules.story.test_victim import seen

PERMITS = ("object", 3, "")


def call(thread: str, line: int, does: str, there: int, holder_type: str = "Semaphore") -> Access:
    old = Value(str(there), "int", -1)
    named = {"name": "Pool.permits", "detail": does, "holder_type": holder_type}
    return access(thread, line, line, "calls", PERMITS, old=old, writes=True, **named)


def takes(thread: str, there: int = 1, line: int = 4) -> Access:
    return call(thread, line, "acquire()", there)


def gives(thread: str, there: int = 0, line: int = 9) -> Access:
    return call(thread, line, "release()", there)


TWICE = seen(takes("0.1"), gives("0.1", 0, 7), gives("0.1", 1, 8), takes("0.2", 2), takes("0.3", 1))
WITH_ENDS = "release() at the end of with"
REFUSED = seen(takes("0.1"), call("0.2", 4, "acquire(False)", 0), gives("0.1"), gives("0.2", 1, 8), takes("0.3", 2))


def story(failing: Observation, about: Conflict | None = None) -> str:
    nothing = Conflict("0.1", None, None, None, (), (), ())
    found = tell_own_fault(about or nothing, Twins(failing, failing), PASSED)
    if found is None:
        return ""
    assert kind_of(found[0], PASSED) == found[1].kind == kinds.EXTRA_PERMIT
    return f"{found[1].summary} {found[1].help}"


def test_a_permit_that_is_released_twice_is_one_too_many() -> None:
    text = story(TWICE)
    assert "0.1 releases Pool.permits a second time (prog.py:8), as it has done so already (prog.py:7)" in text
    assert "Thread 0.2 gets in by that (prog.py:4)" in text
    assert "either at prog.py:7 or at prog.py:8" in text
    assert "BoundedSemaphore" in text


def test_releases_by_one_line_are_told_by_the_lines_that_call_it() -> None:
    def leaves(thread: str, there: int, line: int) -> Access:
        one = gives(thread, there)
        return one._replace(stack=(*one.stack, StackFrame("prog.py", "prog.py", line, "fetch", True)))

    first, then = leaves("0.1", 0, 20), leaves("0.1", 1, 22)
    text = story(seen(takes("0.1"), first, then, takes("0.2", 2)))
    assert "a second time (prog.py:22), as it has done so already (prog.py:20)" in text
    assert "either at prog.py:20 or at prog.py:22" in text
    alone = story(seen(takes("0.2"), leaves("0.2", 0, 22), takes("0.1"), first, then, takes("0.3", 2)))
    assert "leave out the `release()` at prog.py:20, as other calls give their permit back only at prog.py:22" in alone


def test_a_permit_that_was_refused_is_not_to_be_released() -> None:
    text = story(REFUSED)
    assert "Thread 0.2 releases Pool.permits (prog.py:8) although it got no permit (prog.py:4)" in text
    assert "Thread 0.3 gets in by that (prog.py:4)" in text
    assert "only if `acquire()` (prog.py:4) got a permit" in text


def test_the_release_that_no_other_call_makes_is_the_one_to_leave_out() -> None:
    first, then = gives("0.1", 0, 7), call("0.1", 4, WITH_ENDS, 1)
    other = takes("0.2", 2), call("0.2", 4, WITH_ENDS, 1)
    by_with = story(seen(takes("0.1"), first, then, *other))
    assert "a second time (prog.py:4, where `with` ends), as it has done so already (prog.py:7)" in by_with
    assert (
        "leave out the `release()` at prog.py:7, as other calls give their permit back only at prog.py:4, where"
        in by_with
    )
    late = story(seen(takes("0.2"), gives("0.2", 0, 7), takes("0.1"), first, gives("0.1", 1, 8)))
    assert "leave out the `release()` at prog.py:8, as other calls give their permit back only at prog.py:7;" in late
    alike = story(seen(*TWICE.accesses, gives("0.2", 1, 7), gives("0.3", 2, 8)))
    assert "either at prog.py:7 or at prog.py:8" in alike, "each of them is made alone elsewhere"


def waits_in_vain(thread: str) -> Access:
    return access(thread, 4, 4, "gives up", ("lock", 5, ""))


def test_a_wait_whose_time_runs_out_gets_no_permit() -> None:
    begins = takes("0.1"), call("0.2", 4, "acquire(5)", 0), takes("0.3", 0)
    ends = gives("0.2", 0, 8), gives("0.3", 1), takes("0.4", 2)
    served = gives("0.1"), access("0.3", 6, 6, "reads")  # the permit that came back went to another one
    for between in ((), served):
        text = story(seen(*begins, *between, waits_in_vain("0.2"), access("0.2", 6, 6, "reads"), *ends))
        assert "Thread 0.2 releases Pool.permits (prog.py:8) although it got no permit (prog.py:4)" in text
    came_back = gives("0.1"), waits_in_vain("0.2"), access("0.2", 6, 6, "reads")
    assert story(seen(*begins, *came_back, *ends)) == "", "it may have got that one"


def test_the_kind_is_not_said_to_be_inferred_from_an_order() -> None:
    nothing = Conflict("0.1", None, None, None, (), (), ())
    found = tell_own_fault(nothing, Twins(TWICE, TWICE), PASSED)
    assert found is not None
    assert found[1].inferred == (INFERRED,)


@pytest.mark.parametrize(
    "failing",
    [
        seen(takes("0.1"), gives("0.1", 0), takes("0.2", 1), gives("0.2", 0)),
        seen(takes("0.1", 0), gives("0.2", 0), takes("0.2", 0), gives("0.2", 1)),  # it sends signals
        seen(takes("0.1", 2), takes("0.2", 1), gives("0.3", 0), gives("0.3", 1)),  # it never takes any
        seen(takes("0.1"), gives("0.2"), takes("0.2"), gives("0.1"), gives("0.2", 0)),  # never too many at a time
        seen(takes("0.1", 2), takes("0.1", 1), gives("0.1", 0), gives("0.1", 1)),
        seen(
            *TWICE.accesses, takes("0.4", 0), gives("0.4", 1, 20), gives("0.4", 2, 21)
        ),  # not clear which one is wrong
        replace(TWICE, accesses=tuple(one._replace(holder_type="Hotel") for one in TWICE.accesses)),
    ],
)
def test_no_permit_is_too_many(failing: Observation) -> None:
    assert find_extra_permit(failing) is None


def test_a_race_of_threads_that_the_extra_permit_let_in_is_not_the_cause() -> None:
    first, then = access("0.2", 20, 20, "reads"), access("0.2", 30, 30, "stores")
    other = access("0.3", 25, 25, "stores")

    def race(failing: Observation) -> Conflict:
        mine, theirs, last = failing.accesses[-3:]
        left, right = Edge(mine, (theirs,), inferred=False), Edge(last, (theirs,), inferred=False)
        return Conflict("0.2", left, right, None, (theirs,), (mine,), (last,))

    inside = seen(*TWICE.accesses, first, other, then)
    assert kind_of(race(inside), PASSED) == kinds.LOST_UPDATE
    assert "a second time" in story(inside, race(inside))
    outside = seen(*TWICE.accesses, gives("0.3", 0, 22), first, other, then)
    assert story(outside, race(outside)) == ""
