"""A thread that is woken, and waits again, as what it waited for has gone by."""

from __future__ import annotations

from dataclasses import replace

import pytest

from replay_dd.schedules.hang import DEADLOCK, Hang, HangThread
from replay_dd.schedules.observed.observation import Access, StackFrame
from replay_dd.schedules.story.conflict import Conflict, Edge
from replay_dd.schedules.story.kinds import MISSED_STATE, kind_of
from replay_dd.schedules.story.missed_state import find_missed_state, help_of_missed_state, missed_state_in_words
from replay_dd.schedules.story.own_fault import tell_own_fault
from replay_dd.schedules.story.twins import Twins
from tests.schedules.logs import PASSED
from tests.schedules.story.made_accesses import X, Y, access, number
from tests.schedules.story.test_victim import seen

CONDITION = ("object", 3, "")


def call(thread: str, line: int, detail: str) -> Access:
    return access(thread, line, line, "calls", CONDITION, detail=detail, holder_type="Condition")


def stores(line: int, value: int) -> Access:
    return access("0.2", line, line, "stores", new=number(value))


LOOK = access("0.1", 5, 5, "reads", tested=True)  # finds 1
WAIT = call("0.1", 6, "wait()")
DONE, WAKES, BACK = stores(8, 0), call("0.2", 9, "notify_all()"), stores(2, 1)
LOOKS = LOOK._replace(thread="0.3")
ASKS = LOOKS._replace(stack=(StackFrame("prog.py", "prog.py", 9, "is_empty", True), *LOOK.stack))
TAKES = access("0.3", 6, 6, "stores", new=number(1))
RUN = (LOOK, WAIT, DONE, WAKES, BACK, LOOK, WAIT)


def told(*accesses: Access, state: str = "waits") -> Conflict | None:
    waiter = HangThread("0.1", "", state, 3, "", "waits", 0, 0, (), False)
    return find_missed_state(seen(*accesses), Hang(DEADLOCK, True, (waiter,), (), (), ()))


def test_what_was_there_between_two_looks_is_missed() -> None:
    found = told(*RUN)
    assert found is not None
    assert kind_of(found, PASSED) == MISSED_STATE
    assert [edge.access.number for edge in found.edges] == [1, 6]
    words = missed_state_in_words(found)
    assert "Thread 0.1 is woken, but Thing.x is 1 again when it looks (prog.py:5)" in words
    assert "thread 0.2 has changed that (prog.py:8) and changed it back (prog.py:2)" in words
    assert "instead of Thing.x (prog.py:5)" in help_of_missed_state(found)


def test_of_several_changes_the_one_before_the_notification_counts() -> None:
    found = told(LOOK, WAIT, stores(2, 2), DONE, WAKES, BACK, LOOK, WAIT)
    assert found is not None
    assert [one.place.line for one in found.stretch] == [2, 8, 2]
    assert "thread 0.2 has changed that (prog.py:8)" in missed_state_in_words(found)


@pytest.mark.parametrize("earlier", [1, 2])
def test_another_one_who_comes_again_may_have_changed_it_once_more(earlier: int) -> None:
    """A barrier of three: who was woken comes again first. In the round before, it was the first or the second."""
    again = TAKES._replace(place=replace(TAKES.place, line=2))
    found = told(LOOK._replace(old=number(earlier)), WAIT, DONE, WAKES, LOOKS, again, LOOK, WAIT)
    assert found is not None
    words = missed_state_in_words(found)
    assert f"Thing.x is 1{' again' if earlier == 1 else ''} when it looks" in words
    assert "thread 0.2 has changed that (prog.py:8), and thread 0.3 has changed it (prog.py:2) meanwhile" in words


@pytest.mark.parametrize(
    "accesses",
    [
        (LOOK, WAIT, DONE, WAKES, LOOK, WAIT),  # nobody has changed it back
        (LOOK, WAIT, BACK, WAKES, BACK, LOOK, WAIT),  # it was not changed at all
        (LOOK, WAIT, DONE, WAKES, stores(2, 3), LOOK, WAIT),
        (LOOK, WAIT, DONE, WAKES, LOOKS, TAKES, LOOK, WAIT),  # who takes what many wait for
        (LOOK, WAIT, DONE, WAKES, ASKS, TAKES, LOOK, WAIT),
        (LOOK, WAIT, DONE, WAKES._replace(thread="0.3"), BACK, LOOK, WAIT),
        (LOOK, WAIT, DONE, BACK, LOOK, WAIT),  # nobody is woken
        (LOOK, WAIT, WAKES, DONE, BACK, LOOK, WAIT),
        (LOOK, WAIT, DONE, WAKES, BACK, LOOK),  # it does not wait again
        (LOOK, WAIT, DONE, WAKES, BACK, LOOK, WAIT._replace(place=replace(WAIT.place, line=7))),
        (LOOK, WAIT, DONE, WAKES, BACK, LOOK._replace(tested=False), WAIT),
        (LOOK._replace(thing=Y), WAIT, DONE, WAKES, BACK, LOOK, WAIT),
        (LOOK, WAIT, DONE, WAKES, BACK, LOOK._replace(place=replace(LOOK.place, line=4)), WAIT),
    ],
)
def test_else_nothing_is_missed(accesses: tuple[Access, ...]) -> None:
    assert LOOK.thing == X
    assert told(*accesses) is None


@pytest.mark.parametrize(("look", "is_told"), [(None, True), (LOOK._replace(tested=True), False)])
def test_it_is_told_unless_the_threads_did_something_worse_to_each_other(look: Access | None, is_told: bool) -> None:
    failing = seen(*RUN)
    waiter = HangThread("0.1", "", "waits", 3, "", "waits", 0, 0, (), False)
    twins = Twins(failing, failing, failing_hang=Hang(DEADLOCK, True, (waiter,), (), (), ()))
    left = None if look is None else Edge(look, (DONE,), inferred=False)
    right = None if look is None else Edge(stores(20, 5)._replace(thread="0.1"), (DONE,), inferred=False)
    found = tell_own_fault(Conflict("0.1", left, right, None, (DONE,), (), ()), twins, PASSED)
    assert (found is not None and found[1].kind == MISSED_STATE) is is_told


def test_only_a_thread_that_still_waits_counts() -> None:
    assert told(*RUN, state="ended") is None
