"""A call by which a thread means to wake a task of an event loop that another thread runs: the loop does not notice.

Rules of this module:

* Such a call is a mistake wherever it is made. It explains a failure if a task has waited in vain until its time-out,
  and nothing better is known; and a hang if the loop sleeps for ever although it has work. What was put into a queue
  while a task was about to wait there is no work for the loop, but still explains the hang.
* A thread that runs tasks itself may have made the call before its loop began.
"""

from __future__ import annotations

from replay_dd.schedules.hang import Hang, HangThread
from replay_dd.schedules.model import Ending
from replay_dd.schedules.observed.observation import Access, Observation
from replay_dd.schedules.story.conflict import Conflict, Edge
from replay_dd.schedules.story.kinds import OUTSIDE_LOOP
from replay_dd.schedules.story.words import at_place

INFERRED = "that the task waited in vain for this call: asyncio promises that only for calls in the thread of the loop"
_OUTSIDE = "outside of its event loop"
_IN_VAIN = ("TimeoutError", "CancelledError")
_HAS_WORK = "in its event loop"  # of what a thread waits for: callbacks are ready there


def find_call_outside(failing: Observation, ending: Ending) -> Conflict | None:
    """The conflict of a thread with an event loop that it does not run; None if it explains nothing, or none is seen.

    Args:
        failing: all that the failing run accessed.
        ending: how the failing run ended.
    """
    in_vain = any(error.type.rpartition(".")[2] in _IN_VAIN for error in ending.exceptions)
    return _call_outside(failing, set()) if in_vain else None


def find_call_to_sleeper(failing: Observation, hang: Hang) -> Conflict | None:
    """The conflict of a thread with an event loop that sleeps for ever; None if no call was seen that explains it.

    Args:
        failing: all that the failing run accessed.
        hang: what is known of its end.
    """
    asleep = [thread for thread in hang.threads if thread.state == "waits" and thread.runs_loop]
    found = _call_outside(failing, {thread.thread for thread in asleep}) if asleep else None
    if found is None or any(sleeps_with_work(thread) for thread in asleep):
        return found
    return None if found.before[0].holder_type.endswith("Loop") else found


def sleeps_with_work(thread: HangThread) -> bool:
    """Whether a thread waits in an event loop, although that has callbacks to call."""
    return thread.state == "waits" and thread.runs_loop and _HAS_WORK in thread.explanation


def _call_outside(failing: Observation, run_loops: set[str]) -> Conflict | None:
    run_tasks = run_loops.union(one.thread for one in failing.accesses if one.task)
    calls = [one for one in failing.accesses if one.detail.endswith(_OUTSIDE) and one.thread not in run_tasks]
    if not calls or not run_tasks:
        return None
    call = calls[0]
    return Conflict(call.thread, Edge(call, (), inferred=False), None, None, (), (call,), (), fault=OUTSIDE_LOOP)


def in_words(conflict: Conflict) -> str:
    """What happened, in a sentence or two.

    Args:
        conflict: of a thread with an event loop.
    """
    call = conflict.before[0]
    return (
        f"Thread {call.thread} calls {_method(call)}() of {call.name} ({at_place(call.place)}), which belongs to an "
        "event loop that another thread runs. That is not thread-safe, and does not wake the loop: a task that waits "
        "for it may sleep on."
    )


def help_of_call_outside(conflict: Conflict) -> str:
    """What would help.

    Args:
        conflict: of a thread with an event loop.
    """
    call = conflict.before[0]
    method = _method(call)
    if method == "create_task":
        safe = "`asyncio.run_coroutine_threadsafe(..., loop)`"
    elif call.holder_type.endswith("Loop"):
        safe = "`loop.call_soon_threadsafe(...)`"
    else:
        safe = f"`loop.call_soon_threadsafe({call.name}.{method}, ...)`"
    return f"have the thread of the loop do it: {safe} at {at_place(call.place)}"


def _method(call: Access) -> str:
    return call.detail.partition("(")[0]
