"""Semaphores that get a permit back which nobody has taken."""

from __future__ import annotations

from dataclasses import replace

import pytest

from replay_dd.schedules.observation import Access, Observation, Value
from replay_dd.schedules.story import kinds
from replay_dd.schedules.story.conflict import Conflict, Edge
from replay_dd.schedules.story.kinds import kind_of
from replay_dd.schedules.story.own_fault import tell_own_fault
from replay_dd.schedules.story.permits import find_extra_permit
from replay_dd.schedules.story.twins import Twins
from tests.schedules.logs import PASSED
from tests.schedules.story.test_kinds import access
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


def test_a_permit_that_was_refused_is_not_to_be_released() -> None:
    text = story(REFUSED)
    assert "Thread 0.2 releases Pool.permits (prog.py:8) although it got no permit (prog.py:4)" in text
    assert "Thread 0.3 gets in by that (prog.py:4)" in text
    assert "only if `acquire()` (prog.py:4) got a permit" in text


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
