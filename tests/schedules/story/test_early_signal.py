"""Threads that tell another one to go on before they have done what that one needs."""

from __future__ import annotations

from dataclasses import replace

import pytest

from replay_dd.schedules.observation import Access, StackFrame
from replay_dd.schedules.story import kinds
from replay_dd.schedules.story.conflict import Conflict, Edge
from replay_dd.schedules.story.early_signal import help_of_early_signal
from tests.schedules.story.test_kinds import NOTHING, access
from tests.schedules.story.test_victim import seen

FREE = ("object", 3, "free")


def call(thread: str, time: int, detail: str, holder_type: str = "Semaphore") -> Access:
    return access(thread, time, time, "calls", FREE, detail=detail, holder_type=holder_type)


def told(*accesses: Access, kind: str = kinds.ORDER_VIOLATION, never: bool = False) -> str:
    failing = seen(*accesses)
    late = next(one for one in failing.accesses if one.does in ("stores", "deletes"))
    early = next(one for one in failing.accesses if one.does == "reads")
    conflict = Conflict("0.1", None, Edge(late, (early,), inferred=False), None, (early,), (), (late,), never=never)
    return help_of_early_signal(kind, conflict, failing)


LOOK, LATE = access("0.2", 6, 6, "reads", old=NOTHING), access("0.1", 9, 9, "stores")


@pytest.mark.parametrize(
    ("holder", "signal", "wait"),
    [
        ("Semaphore", "release", "acquire"),
        ("Event", "set", "wait"),
        ("Queue", "put", "get"),
        ("Queue", "task_done", "join"),
        ("Future", "set_result", "result"),
    ],
)
def test_a_signal_that_comes_before_what_it_is_about_is_told(holder: str, signal: str, wait: str) -> None:
    early, waits = call("0.1", 4, f"{signal}()", holder), call("0.2", 5, f"{wait}()", holder)
    text = f"call {signal}() of Thing.free (prog.py:4) only after prog.py:9"
    assert text in told(early, waits, LOOK, LATE)
    assert text in told(waits, early, LOOK, LATE)  # it waited already
    assert text in told(early, waits, LOOK, LATE, kind=kinds.TOO_EARLY)
    assert told(early, waits, LOOK, LATE, kind=kinds.LOST_UPDATE) == ""


def test_what_a_called_function_does_after_the_signal_comes_too_late_as_well() -> None:
    signal, wait = call("0.1", 4, "task_done()", "Queue"), call("0.2", 5, "join()", "Queue")
    inside = StackFrame("prog.py", "prog.py", 19, "note", True)
    noted = LATE._replace(place=replace(LATE.place, line=19, function="note"), stack=(inside, *LATE.stack))
    text = "call task_done() of Thing.free (prog.py:4) only after prog.py:9"
    assert text in told(signal, wait, LOOK, noted)
    assert text in told(signal, wait, LOOK, noted, never=True), "the program has ended before"
    assert told(signal, wait, LOOK, noted._replace(stack=(inside,))) == ""


def test_a_signal_of_one_kind_does_not_end_a_wait_of_another_kind() -> None:
    put, wait = call("0.1", 4, "put()", "Queue"), call("0.2", 5, "join()", "Queue")
    assert told(put, wait, LOOK, LATE) == ""


def test_only_a_signal_that_the_other_thread_waits_for_comes_too_early() -> None:
    signal, wait = call("0.1", 4, "release()"), call("0.2", 5, "acquire()")
    assert told(signal, LOOK, LATE) == told(wait, LOOK, LATE) == told(LOOK, signal, wait, LATE) == ""
    assert told(signal, wait._replace(thing=("object", 8, "free")), LOOK, LATE) == ""
    assert told(signal, call("0.3", 4, "release()"), wait, LOOK, LATE) == ""  # that of another thread let it go on
    assert told(signal._replace(place=LATE.place), wait, LOOK, LATE) == ""
