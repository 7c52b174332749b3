"""Whether a thread tells another one to go on, and only then does what that one needs.

``event.set()`` before the result is stored, ``semaphore.release()`` before the connection is back,
``queue.put(number)`` before there is anything under that number, ``queue.task_done()`` before the task is done. So does
who starts a thread, or gives a task to a pool or to an event loop, before what that one needs is there; and who says
that it is done while it still uses what the other one then closes.

Rules of this module:

* A thread that has waited goes on by the last signal that ends such a wait; one that has not, since it was started or
  got its task.
* Which call started a thread, or gave a task, is told only where no other call could have done it.
* What is late must come after the signal in a function that is still the same call: the outermost in which the ways to
  both part.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from replay_dd.schedules.model import Place
from replay_dd.schedules.observed.observation import Access, Observation, StackFrame
from replay_dd.schedules.story import kinds
from replay_dd.schedules.story.conflict import Conflict
from replay_dd.schedules.story.story import path_of
from replay_dd.schedules.story.words import at_place

_Frame = StackFrame | Place
_HANDS_OVER = ("put", "put_nowait"), ("get", "get_nowait")
_DONE = ("task_done",), ("join",)
_GIVES_TO_LOOP = ("run_coroutine_threadsafe", "call_soon_threadsafe")
_NOT_YET = ("nothing", "None")
_KINDS = (kinds.ORDER_VIOLATION, kinds.TOO_EARLY, kinds.TOO_SOON, kinds.INVALIDATED)
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
    if kind not in _KINDS or conflict.right is None:
        return ""
    late, early = conflict.right.access, conflict.right.others[0]
    if kind == kinds.INVALIDATED:
        early = next((other for other in reversed(conflict.right.others) if other.writes), early)
    elif not late.writes:
        return ""
    signal = _signal_to(early, failing)
    if kind == kinds.INVALIDATED and (signal is None or not _pairs(signal)):
        return ""
    if (signal is None or not _pairs(signal)) and kind != kinds.TOO_EARLY and early.old.text not in _NOT_YET:
        return ""  # it may have been meant to begin before that
    if signal is None:
        parts = where_they_part(_of_start(early, failing), way_to(late))
        here = "" if parts is None else f"start thread {early.thread} ({at_place(parts[0])})"
        return "" if parts is None else f"{here} only after {at_place(parts[1])}: it may run at once, and needs that"
    parts = where_they_part(way_to(signal), way_to(late)) if signal.thread == late.thread else None
    if parts is None:
        return ""
    method, here = _method(signal), at_place(signal.place)
    called = f", called at {at_place(parts[0])}" if at_place(parts[0]) != here else ""
    words = f"call {method}() of {signal.name} ({here}{called}) only after {at_place(parts[1])}"
    if not _pairs(signal):
        return f"{words}: what it is given may run at once, and needs that"
    return f"{words}: thread {early.thread} waits for that, and then goes on"


def _signal_to(early: Access, failing: Observation) -> Access | None:
    """The last signal that let the thread of an access go on before that; None if none is known."""
    before = [one for one in failing.accesses if one.number < early.number and one.thing[0] == "object"]
    waits = [one for one in before if one.thread == early.thread and any(_method(one) in on for _, on in _pairs(one))]
    if not waits:
        return _submitted(early, before) or _given_to_loop(early, before)
    wait = waits[-1]
    methods = next(sent for sent, on in _pairs(wait) if _method(wait) in on)
    signals = [one for one in before if one.thing == wait.thing and one.does == "calls" and _method(one) in methods]
    return signals[-1] if signals else None


def _of_start(early: Access, failing: Observation) -> list[_Frame]:
    """The frames from which the thread of an access was started, the outermost first; empty if that is not known.

    A thread that the library has started runs what it was given later, as well.
    """
    stack = failing.started.get(early.thread, ())
    own = next((number for number, frame in enumerate(stack) if frame.counted), 0)
    waited = any(one.thread == early.thread and _pairs(one) for one in failing.accesses if one.number < early.number)
    if waited or [frame.function for frame in stack[:own]] != ["Thread.start"]:
        return []
    return [*reversed(stack[own:])]


def _submitted(early: Access, before: Sequence[Access]) -> Access | None:
    """The call that gave a pool the task that makes an access; None if that is not plain."""
    path = path_of(early)
    name = path[0].function.rpartition(".")[2] if path else ""
    gives = [f"submit({what} {name}" for what in ("function", "method")]
    given = [one for one in before if _method(one) == "submit" and re.split("[,)]", one.detail)[0] in gives]
    return given[-1] if len({(one.place.path, one.place.line) for one in given}) == 1 else None


def _given_to_loop(early: Access, before: Sequence[Access]) -> Access | None:
    """The call that gave an event loop what makes an access; None if that is not plain."""
    if not any(frame.function.endswith("._run_once") and not frame.counted for frame in early.stack):
        return None
    given = [one for one in before if _method(one) in _GIVES_TO_LOOP and one.thread != early.thread]
    return given[-1] if len({(one.place.path, one.place.line) for one in given}) == 1 else None


def where_they_part(first: Sequence[_Frame], then: Sequence[_Frame]) -> tuple[_Frame, _Frame] | None:
    """The frames of one function in which one way goes on to another line than the other, if the first comes first."""
    for one, other in zip(first, then, strict=False):
        if (one.path, one.function) != (other.path, other.function):
            return None
        if one.line != other.line:
            return (one, other) if one.line < other.line else None
    return None


def way_to(access: Access) -> list[_Frame]:
    """The frames on the way to an access, the outermost first."""
    return [*reversed(access.stack[1:]), access.place]


def _pairs(access: Access) -> tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]:
    return _SIGNALS.get(access.holder_type, ()) if access.does == "calls" else ()


def _method(access: Access) -> str:
    return access.detail.partition("(")[0]
