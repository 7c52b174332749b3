"""Timers that go on although they are cancelled."""

from __future__ import annotations

from replay_dd.schedules.observed.observation import Access, StackFrame
from replay_dd.schedules.story import kinds
from replay_dd.schedules.story.conflict import Conflict, Edge
from replay_dd.schedules.story.kinds import kind_of
from replay_dd.schedules.story.own_fault import tell_own_fault
from replay_dd.schedules.story.timers import INFERRED, find_late_cancel, help_of_cancelled_timer
from replay_dd.schedules.story.twins import Twins
from tests.schedules.logs import PASSED
from tests.schedules.story.made_accesses import Y, access
from tests.schedules.story.test_victim import seen

TIMER = ("object", 3, "")
RUNS = StackFrame("threading.py", "/lib/threading.py", 1431, "Timer.run", False)


def of_timer(time: int, does: str) -> Access:
    plain = access("0.1", time, time, does)
    return plain._replace(stack=(*plain.stack, RUNS))


def call(time: int, detail: str) -> Access:
    return access("0", time, time, "calls", TIMER, detail=detail, holder_type="Timer")


def told(*accesses: Access, kind: str = kinds.ORDER_VIOLATION) -> str:
    failing = seen(*accesses)
    own = next(one for one in failing.accesses if one.does == "stores")
    look = next(one for one in failing.accesses if one.does == "reads")
    conflict = Conflict(look.thread, None, Edge(look, (own,), inferred=False), None, (own,), (), (look,))
    return help_of_cancelled_timer(kind, conflict, failing)


LOOK = access("0", 9, 9, "reads")


def test_a_function_that_begins_while_its_timer_is_cancelled_is_told() -> None:
    assert "`cancel()` (prog.py:4)" in told(call(4, "cancel()"), of_timer(5, "stores"), LOOK)


def test_a_function_that_begins_later_is_that_of_another_timer() -> None:
    over = access("0", 5, 5, "checks", Y)
    assert told(call(4, "cancel()"), over, of_timer(6, "stores"), LOOK) == ""
    assert told(of_timer(3, "stores"), call(4, "cancel()"), LOOK) == ""


def test_only_a_timer_that_is_cancelled_counts() -> None:
    assert told(call(4, "join()"), of_timer(5, "stores"), LOOK) == ""
    assert told(call(4, "cancel()"), access("0.1", 5, 5, "stores"), LOOK) == ""
    assert told(call(4, "cancel()"), of_timer(5, "stores"), LOOK, kind=kinds.LOST_UPDATE) == ""


def found_of(*accesses: Access, passing: tuple[Access, ...] = ()) -> Conflict | None:
    return find_late_cancel(seen(*accesses), seen(*passing))


CANCELS, STORES = call(4, "cancel()"), of_timer(5, "stores")


def test_a_function_that_waits_for_the_lock_while_it_is_cancelled_is_a_story_of_its_own() -> None:
    failing = seen(CANCELS, STORES, LOOK)
    nothing = Conflict("0", None, None, None, (), (), ())
    told = tell_own_fault(nothing, Twins(failing, seen(CANCELS, LOOK)), PASSED)
    assert told is not None
    conflict, story = told
    assert kind_of(conflict, PASSED) == story.kind == kinds.LATE_CANCEL
    assert "thread 0.1 runs its function all the same, and stores Thing.x (prog.py:5)" in story.summary
    assert "`cancel()` (prog.py:4)" in story.help
    assert [[step.accesses[0].place.line for step in turn.steps] for turn in story.turns] == [[4], [5]]
    assert INFERRED in story.inferred
    order = Conflict("0", None, Edge(failing.accesses[2], (failing.accesses[1],), inferred=False), None, (), (), ())
    assert tell_own_fault(order, Twins(failing, seen(CANCELS, LOOK)), PASSED) is None  # that is told by itself


def test_what_the_function_does_must_matter() -> None:
    assert found_of(CANCELS, STORES, LOOK) is not None
    assert found_of(CANCELS, STORES) is None  # nobody looks
    assert found_of(CANCELS, STORES, LOOK._replace(thread="0.1")) is None
    assert found_of(CANCELS, STORES, access("0", 8, 8, "stores"), LOOK) is None  # that is overwritten
    assert found_of(CANCELS, STORES, LOOK, passing=(STORES, LOOK)) is None  # it does so where all is well
    assert found_of(STORES, CANCELS, LOOK) is None
