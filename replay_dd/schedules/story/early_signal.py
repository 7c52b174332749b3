"""Whether a thread tells another one to go on, and only then does what that one needs.

``event.set()`` before the result is stored, ``semaphore.release()`` before the connection is back,
``queue.put(number)`` before there is anything under that number.
"""

from __future__ import annotations

from replay_dd.schedules.observation import Access, Observation
from replay_dd.schedules.story import kinds
from replay_dd.schedules.story.conflict import Conflict
from replay_dd.schedules.story.words import short_file

_SIGNALS = {
    "Event": (("set",), ("wait",)),
    "Semaphore": (("release",), ("acquire",)),
    "BoundedSemaphore": (("release",), ("acquire",)),
    "Queue": (("put", "put_nowait"), ("get", "get_nowait")),
    "LifoQueue": (("put", "put_nowait"), ("get", "get_nowait")),
    "PriorityQueue": (("put", "put_nowait"), ("get", "get_nowait")),
    "SimpleQueue": (("put", "put_nowait"), ("get", "get_nowait")),
    "Future": (("set_result", "set_exception"), ("result", "exception")),
}
"""For each type, the methods that let another thread go on, and those in which that one waits for it."""


def help_of_early_signal(kind: str, conflict: Conflict, failing: Observation) -> str:
    """What would help; empty if no signal comes too early.

    Args:
        kind: of the story.
        conflict: what the threads did in the failing run.
        failing: what the failing run accessed.
    """
    if kind not in (kinds.ORDER_VIOLATION, kinds.TOO_EARLY, kinds.TOO_SOON) or conflict.right is None or conflict.never:
        return ""
    late, early = conflict.right.access, conflict.right.others[0]
    if not late.writes:
        return ""
    signal = _signal_to(early, late, failing)
    if signal is None:
        return ""
    method = signal.detail.partition("(")[0]
    return (
        f"call {method}() of {signal.name} ({_at(signal)}) only after {_at(late)}: thread {early.thread} waits for "
        "that, and then goes on"
    )


def _signal_to(early: Access, late: Access, failing: Observation) -> Access | None:
    """The last signal to the thread of an access before that, if the other access comes after it in one function."""
    before = [one for one in failing.accesses if one.number < early.number and one.thing[0] == "object"]
    waits = [one for one in before if one.thread == early.thread and _is(one, waits=True)]
    if not waits:
        return None
    signals = [one for one in before if one.thing == waits[-1].thing and _is(one, waits=False)]
    if not signals or signals[-1].thread != late.thread:
        return None
    place, here = signals[-1].place, late.place
    same = (place.path, place.function) == (here.path, here.function)
    return signals[-1] if same and place.line < here.line else None


def _is(access: Access, *, waits: bool) -> bool:
    methods = _SIGNALS.get(access.holder_type, ((), ()))[waits]
    return access.does == "calls" and access.detail.partition("(")[0] in methods


def _at(access: Access) -> str:
    return f"{short_file(access.place.file)}:{access.place.line}"
