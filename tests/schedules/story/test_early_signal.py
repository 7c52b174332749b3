"""Threads that tell another one to go on before they have done what that one needs."""

from __future__ import annotations

from dataclasses import replace

import pytest

from replay_dd.schedules.observed.observation import Access, StackFrame
from replay_dd.schedules.story import kinds
from replay_dd.schedules.story.conflict import Conflict, Edge
from replay_dd.schedules.story.early_signal import help_of_early_signal
from tests.schedules.story.made_accesses import NOTHING, access
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


def test_who_tells_another_one_to_close_what_it_still_uses_is_told() -> None:
    signal, wait = call("0.1", 4, "set()", "Event"), call("0.2", 5, "wait()", "Event")
    closes = access("0.2", 6, 6, "calls", writes=True, detail="shutdown()")
    uses = access("0.1", 9, 9, "reads")
    for accesses, helps in (((signal, wait, closes, uses), True), ((wait, closes, uses), False)):
        failing = seen(*accesses)
        use, close = failing.accesses[-1], failing.accesses[-2]
        conflict = Conflict("0.1", None, Edge(use, (close,), inferred=False), None, (close,), (), (use,))
        told = help_of_early_signal(kinds.INVALIDATED, conflict, failing)
        assert told.startswith("call set() of Thing.free (prog.py:4) only after prog.py:9") == helps, told
        assert bool(told) == helps


def test_a_signal_of_one_kind_does_not_end_a_wait_of_another_kind() -> None:
    put, wait = call("0.1", 4, "put()", "Queue"), call("0.2", 5, "join()", "Queue")
    assert told(put, wait, LOOK, LATE) == ""


def test_only_a_signal_that_the_other_thread_waits_for_comes_too_early() -> None:
    signal, wait = call("0.1", 4, "release()"), call("0.2", 5, "acquire()")
    assert told(signal, LOOK, LATE) == told(wait, LOOK, LATE) == told(LOOK, signal, wait, LATE) == ""
    assert told(signal, wait._replace(thing=("object", 8, "free")), LOOK, LATE) == ""
    assert told(signal, call("0.3", 4, "release()"), wait, LOOK, LATE) == ""  # that of another thread let it go on
    assert told(signal._replace(place=LATE.place), wait, LOOK, LATE) == ""


def at(*lines: int, path: str = "prog.py", counted: bool = True) -> tuple[StackFrame, ...]:
    """Frames of calls, the outermost first given, as a stack."""
    names = ("main", "make", "begin")
    return tuple(StackFrame(path, path, line, name, counted) for line, name in zip(lines, names, strict=False))[::-1]


STARTS = StackFrame("threading.py", "threading.py", 900, "Thread.start", False)


def told_of_start(*started: StackFrame, late: tuple[StackFrame, ...], kind: str = kinds.TOO_EARLY) -> str:
    place = replace(LATE.place, line=late[0].line, function=late[0].function)
    stored = access("0", 9, 9, "stores", place=place, stack=late)
    failing = replace(seen(LOOK, stored), started={"0.2": started})
    conflict = Conflict("0", None, Edge(stored, (LOOK,), inferred=False), None, (LOOK,), (), (stored,))
    return help_of_early_signal(kind, conflict, failing)


def test_a_thread_that_is_started_before_what_it_needs_is_there_begins_too_early() -> None:
    text = "start thread 0.2 (prog.py:12) only after prog.py:14"
    assert text in told_of_start(STARTS, *at(3, 12, 20), late=at(3, 14))
    assert text in told_of_start(STARTS, *at(3, 12), late=at(3, 14, 30))
    assert text in told_of_start(STARTS, *at(3, 12), late=at(3, 14), kind=kinds.ORDER_VIOLATION)  # it found nothing
    assert told_of_start(STARTS, *at(3, 14), late=at(3, 12)) == ""  # in another round
    assert told_of_start(STARTS, *at(3, 12), late=at(2, 14)) == told_of_start(late=at(3, 14)) == ""
    of_pool = StackFrame("thread.py", "thread.py", 200, "ThreadPoolExecutor.submit", False)
    assert told_of_start(STARTS, of_pool, *at(3, 12), late=at(3, 14)) == ""  # it runs other tasks, too


def test_a_thread_may_be_meant_to_begin_before_a_later_change() -> None:
    change = access("0", 9, 9, "stores")
    look = access("0.2", 6, 6, "reads")  # finds something
    failing = replace(seen(look, change), started={"0.2": (STARTS, change.stack[0]._replace(line=4))})
    conflict = Conflict("0", None, Edge(change, (look,), inferred=False), None, (look,), (), (change,))
    assert help_of_early_signal(kinds.ORDER_VIOLATION, conflict, failing) == ""
    assert "start thread 0.2 (prog.py:4)" in help_of_early_signal(kinds.TOO_EARLY, conflict, failing)


@pytest.mark.parametrize(
    ("gives", "function"),
    [("submit(function look, 3)", "look"), ("submit(method look)", "Page.look"), ("call_soon_threadsafe()", "look")],
)
def test_what_is_given_to_a_pool_or_a_loop_too_early_is_told(gives: str, function: str) -> None:
    loop = StackFrame("base_events.py", "base_events.py", 9, "BaseEventLoop._run_once", False)
    frames = (StackFrame("prog.py", "prog.py", 6, function, True), *([loop] if "call_soon" in gives else []))
    given, look = call("0.1", 4, gives, "ThreadPoolExecutor"), LOOK._replace(stack=frames)
    text = f"call {gives.partition('(')[0]}() of Thing.free (prog.py:4) only after prog.py:9"
    assert text in told(given, look, LATE, kind=kinds.TOO_EARLY)
    assert text in told(given, given, look, LATE, kind=kinds.TOO_EARLY)
    before = call("0.1", 2, gives, "ThreadPoolExecutor")
    assert told(before, given, look, LATE, kind=kinds.TOO_EARLY) == ""  # it may be what was given before
    other = frames[0]._replace(function="other")
    assert told(given, look._replace(stack=(other,)), LATE, kind=kinds.TOO_EARLY) == ""
