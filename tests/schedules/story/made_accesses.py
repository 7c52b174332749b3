"""Accesses and conflicts of runs, made by hand."""

from __future__ import annotations

from typing import Any

from replay_dd.schedules.isolating.answer import GuiltySwitch
from replay_dd.schedules.isolating.failing_range import FailingRange
from replay_dd.schedules.model import Place, Switch
from replay_dd.schedules.observed.observation import Access, Observation, StackFrame, Value
from replay_dd.schedules.story.conflict import Conflict, find_conflict
from tests.schedules.logs import PASSED

NOTHING = Value("nothing", "", -1)
X, Y = ("attribute", 1, "x"), ("attribute", 1, "y")


def number(value: object) -> Value:
    return Value(str(value), type(value).__name__, -1)


def on_line(line: int) -> Place:
    return Place("prog.py", "prog.py", line, 1, "work", "LOAD_ATTR", True)


def access(thread: str, time: int, global_time: int, does: str, thing: Any = X, **more: Any) -> Access:
    frames = (StackFrame("prog.py", "prog.py", time, "work", True),)
    plain = Access(
        *(global_time, thread, time, global_time, on_line(time), frames, does, thing, "Thing", f"Thing.{thing[2]}"),
        reads=does in ("reads", "checks"),
        writes=does in ("stores", "deletes"),
        old=number(1),
        new=number(2) if does == "stores" else Value("?", "", -1),
        detail="",
        tested=False,
        held=(),
    )
    return plain._replace(**more)


def switch(time: int) -> Switch:
    return Switch("0.1", time, "0.2", False, False, None, time, time)


def conflict_of(accesses: list[Access], first: int, last: int, *, begins_turn: bool = False) -> Conflict:
    """The conflict of a run in which thread 0.1 is interrupted before its yield point ``last``."""
    guilty = GuiltySwitch(switch(last), switch(last + 1))
    runs = FailingRange(
        *(switch(first), switch(last), "ValueError", True, True, PASSED, PASSED),
        begins_turn=begins_turn,
    )
    return find_conflict(Observation(tuple(accesses), {}), guilty, runs)


def shape(
    left: str, other: str, right: str, *, left_thing: Any = X, right_thing: Any = X, others: Any = None, **more: Any
) -> Conflict:
    """Thread 0.1 does ``left``, 0.2 does ``other`` to the things of both, 0.1 does ``right``."""
    meanwhile = others or [access("0.2", 1, 5, other, left_thing), access("0.2", 2, 6, other, right_thing)]
    return conflict_of(
        [access("0.1", 4, 4, left, left_thing, **more), *meanwhile, access("0.1", 5, 9, right, right_thing)], 5, 5
    )
