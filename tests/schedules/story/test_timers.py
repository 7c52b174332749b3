"""Timers that go on although they are cancelled."""

from __future__ import annotations

from replay_dd.schedules.observed.observation import Access, StackFrame
from replay_dd.schedules.story import kinds
from replay_dd.schedules.story.conflict import Conflict, Edge
from replay_dd.schedules.story.timers import help_of_cancelled_timer
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
