"""Calls by which threads mean to wake a task of an event loop that another thread runs."""

from __future__ import annotations

from dataclasses import replace

import pytest

from replay_dd.schedules.hang import DEADLOCK, NO_STACK, Hang, HangThread
from replay_dd.schedules.model import Ending, UncaughtException
from replay_dd.schedules.observed.observation import Access, Observation
from replay_dd.schedules.story import kinds
from replay_dd.schedules.story.conflict import Conflict
from replay_dd.schedules.story.outside_loop import find_call_outside, find_call_to_sleeper
from replay_dd.schedules.story.own_fault import WHY_NOT_TRIED, tell_own_fault
from replay_dd.schedules.story.twins import Twins
from tests.schedules.logs import PASSED
from tests.schedules.story.made_accesses import access
from tests.schedules.story.test_victim import seen

IN_VAIN = replace(PASSED, status=1, exceptions=(UncaughtException("0.1", "TimeoutError", "", ()),))
TASK = access("0.1", 1, 1, "reads", task=1)


def calls(method: str, holder_type: str, thread: str = "0.2") -> Access:
    detail = f"{method}() outside of its event loop"
    return access(thread, 4, 4, "calls", ("object", 3, ""), detail=detail, holder_type=holder_type, name="box")


@pytest.mark.parametrize(
    ("call", "safe"),
    [
        (calls("put_nowait", "asyncio.Queue"), "`loop.call_soon_threadsafe(box.put_nowait, ...)` at prog.py:4"),
        (calls("call_later", "_UnixSelectorEventLoop"), "`loop.call_soon_threadsafe(...)` at prog.py:4"),
        (calls("create_task", "_UnixSelectorEventLoop"), "`asyncio.run_coroutine_threadsafe(..., loop)` at prog.py:4"),
    ],
)
def test_a_task_waits_in_vain_for_a_call_of_another_thread(call: Access, safe: str) -> None:
    failing = seen(TASK, call)
    found = tell_own_fault(Conflict("0.1", None, None, None, (), (), ()), Twins(failing, failing), IN_VAIN)
    assert found is not None
    assert found[1].kind == kinds.OUTSIDE_LOOP
    assert found[1].kind in WHY_NOT_TRIED
    assert found[1].summary.startswith(f"Thread 0.2 calls {call.detail.partition('(')[0]}() of box (prog.py:4), which")
    assert safe in found[1].help


@pytest.mark.parametrize(
    ("failing", "ending"),
    [
        (seen(TASK, calls("put_nowait", "asyncio.Queue")), PASSED),
        (seen(TASK, calls("put_nowait", "asyncio.Queue", "0.1")), IN_VAIN),  # before its loop began
        (seen(calls("put_nowait", "asyncio.Queue")), IN_VAIN),  # no loop runs at all
        (seen(TASK), IN_VAIN),
    ],
)
def test_no_call_from_outside_explains_a_failure(failing: Observation, ending: Ending) -> None:
    assert find_call_outside(failing, ending) is None


def test_a_task_that_was_about_to_wait_gets_nothing_of_what_another_thread_has_put_there() -> None:
    loop = HangThread("0.1", "", "waits", -1, "", "waits for the descriptors [4]", NO_STACK, NO_STACK, (), True)
    hang = Hang(DEADLOCK, True, (loop,), (), (), ())
    assert find_call_to_sleeper(seen(calls("put_nowait", "asyncio.Queue")), hang) is not None
    assert find_call_to_sleeper(seen(calls("put_nowait", "asyncio.Queue", "0.1")), hang) is None


@pytest.mark.parametrize(
    ("state", "explanation", "runs_loop", "explains"),
    [
        ("waits", "waits for the descriptors [4]; 1 callback is ready in its event loop", True, True),
        ("waits", "waits for the descriptors [4]", True, False),  # nobody gave it work
        ("waits", "waits for a lock", False, False),
        ("can run", "1 callback is ready in its event loop", True, False),
    ],
)
def test_a_loop_that_sleeps_with_work_was_not_woken(
    state: str, explanation: str, runs_loop: bool, explains: bool
) -> None:
    loop = HangThread("0.1", "", state, -1, "", explanation, NO_STACK, NO_STACK, (), runs_loop)
    hang = Hang(DEADLOCK, True, (loop,), (), (), ())
    failing = seen(TASK, calls("call_soon", "_UnixSelectorEventLoop"))
    found = find_call_to_sleeper(failing, hang)
    assert (found is not None) is explains
    told = tell_own_fault(
        Conflict("0.1", None, None, None, (), (), ()), Twins(failing, failing, failing_hang=hang), PASSED
    )
    assert (told is not None and told[1].kind == kinds.OUTSIDE_LOOP) is explains
