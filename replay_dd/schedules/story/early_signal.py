"""Whether a thread tells another one to go on, and only then does what that one needs.

``event.set()`` before the result is stored, ``semaphore.release()`` before the connection is back,
``queue.put(number)`` before there is anything under that number, ``queue.task_done()`` before the task is done.
"""

from __future__ import annotations

from replay_dd.schedules.observation import Access, Observation
from replay_dd.schedules.story import kinds
from replay_dd.schedules.story.conflict import Conflict
from replay_dd.schedules.story.words import short_file

_HANDS_OVER = ("put", "put_nowait"), ("get", "get_nowait")
_DONE = ("task_done",), ("join",)
_SIGNALS = {
    "Event": ((("set",), ("wait",)),),
    "Semaphore": ((("release",), ("acquire",)),),
    "BoundedSemaphore": ((("release",), ("acquire",)),),
    "Queue": (_HANDS_OVER, _DONE),
    "LifoQueue": (_HANDS_OVER, _DONE),
    "PriorityQueue": (_HANDS_OVER, _DONE),
    "SimpleQueue": (_HANDS_OVER,),
    "Future": ((("set_result", "set_exception"), ("result", "exception")),),
}
"""For each type, the methods that let another thread go on, with those in which that one waits for them."""


def help_of_early_signal(kind: str, conflict: Conflict, failing: Observation) -> str:
    """What would help; empty if no signal comes too early.

    Args:
        kind: of the story.
        conflict: what the threads did in the failing run.
        failing: what the failing run accessed.
    """
    if kind not in (kinds.ORDER_VIOLATION, kinds.TOO_EARLY, kinds.TOO_SOON) or conflict.right is None:
        return ""
    late, early = conflict.right.access, conflict.right.others[0]
    if not late.writes:
        return ""
    signal = _signal_to(early, late, failing)
    if signal is None:
        return ""
    method = _method(signal)
    return (
        f"call {method}() of {signal.name} ({_at(signal.place.file, signal.place.line)}) only after "
        f"{_at(signal.place.file, _line_in_function_of(signal, late))}: thread {early.thread} waits for that, and then "
        "goes on"
    )


def _signal_to(early: Access, late: Access, failing: Observation) -> Access | None:
    """The last signal to the thread of an access before that, if the other access comes after it in one function."""
    before = [one for one in failing.accesses if one.number < early.number and one.thing[0] == "object"]
    waits = [one for one in before if one.thread == early.thread and any(_method(one) in on for _, on in _pairs(one))]
    if not waits:
        return None
    wait = waits[-1]
    methods = next(sent for sent, on in _pairs(wait) if _method(wait) in on)
    signals = [one for one in before if one.thing == wait.thing and one.does == "calls" and _method(one) in methods]
    if not signals or signals[-1].thread != late.thread:
        return None
    return signals[-1] if signals[-1].place.line < _line_in_function_of(signals[-1], late) else None


def _line_in_function_of(signal: Access, late: Access) -> int:
    """The line from which the function that sends a signal makes another access; 0 if that is made from elsewhere."""
    where = signal.place.path, signal.place.function
    if (late.place.path, late.place.function) == where:
        return late.place.line
    return next((frame.line for frame in late.stack if (frame.path, frame.function) == where), 0)


def _pairs(access: Access) -> tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]:
    return _SIGNALS.get(access.holder_type, ()) if access.does == "calls" else ()


def _method(access: Access) -> str:
    return access.detail.partition("(")[0]


def _at(file: str, line: int) -> str:
    return f"{short_file(file)}:{line}"
