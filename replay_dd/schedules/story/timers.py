"""Whether the function of a `threading.Timer` runs although the timer is cancelled.

``cancel()`` only ends the wait of the timer. Once that is over, the function runs, whatever comes then.

Rules of this module:

* Which timer a thread belongs to is not seen. It is taken for the cancelled one if its function begins while the call
  of ``cancel()`` goes on: once that is over, only another timer's function could begin.
* If nothing at the isolated switch touches what threads share, as where the function then waits for the lock under
  which its timer is cancelled, that is the story: if another thread finds what the function changes, and it changes
  nothing there in the passing run.
"""

from __future__ import annotations

from replay_dd.schedules.observed.observation import Access, Observation
from replay_dd.schedules.story import kinds
from replay_dd.schedules.story.conflict import Conflict, Edge
from replay_dd.schedules.story.words import at_place

INFERRED = "that this is the thread of the cancelled timer: its function begins while `cancel()` is being called"
_RUNS = "Timer.run"
_KINDS = (kinds.ORDER_VIOLATION, kinds.NON_REPEATABLE_READ, kinds.CHECK_THEN_ACT, kinds.TOO_EARLY, kinds.INVALIDATED)


def find_late_cancel(failing: Observation, passing: Observation) -> Conflict | None:
    """The conflict of a call of ``cancel()`` and a function that runs all the same; None if none is seen.

    Args:
        failing: all that the failing run accessed.
        passing: all that the passing run accessed.
    """
    usual = {_line(one) for one in passing.accesses if one.changes and _is_of_timer(one)}
    for thread in dict.fromkeys(one.thread for one in failing.accesses if _is_of_timer(one)):
        did = [one for one in failing.accesses if one.thread == thread]
        cancelled = _cancelled_meanwhile(did[0], failing)
        changes = tuple(one for one in did if one.changes and _line(one) not in usual and _is_found(one, failing))
        if cancelled is None or not changes:
            continue
        own = [one for one in failing.accesses if one.thread == cancelled.thread]
        before = tuple(one for one in own if one.number <= cancelled.number)
        after = tuple(one for one in own if one.number > cancelled.number)
        edge = Edge(cancelled, changes, inferred=False)
        return Conflict(cancelled.thread, edge, None, None, tuple(did), before, after, fault=kinds.LATE_CANCEL)
    return None


def late_cancel_in_words(conflict: Conflict) -> str:
    """What happened, in a sentence.

    Args:
        conflict: of a call of ``cancel()`` and a function that runs all the same.
    """
    [edge] = conflict.edges
    cancels, change = edge.access, edge.others[0]
    method = change.detail.partition("(")[0]
    does = f"calls {method}() of {change.name}" if change.does == "calls" else f"{change.does} {change.name}"
    return (
        f"Thread {conflict.thread} cancels {cancels.name} ({at_place(cancels.place)}) when its time is over already: "
        f"thread {change.thread} runs its function all the same, and {does} ({at_place(change.place)})."
    )


def help_of_late_cancel(conflict: Conflict) -> str:
    """What would help.

    Args:
        conflict: of a call of ``cancel()`` and a function that runs all the same.
    """
    return _look_first(conflict.edges[0].access)


def help_of_cancelled_timer(kind: str, conflict: Conflict, failing: Observation) -> str:
    """What would help; empty if no timer of the conflict begins its work while another thread calls ``cancel()``.

    Args:
        kind: of the story.
        conflict: what the threads did in the failing run.
        failing: what the failing run accessed.
    """
    if kind not in _KINDS:
        return ""  # updates collide whether or not the timer is still wanted
    for one in conflict.accesses:
        cancelled = _cancelled_meanwhile(one, failing) if _is_of_timer(one) else None
        if cancelled is not None:
            return _look_first(cancelled)
    return ""


def _look_first(cancelled: Access) -> str:
    return (
        "let the function of the timer look, under a lock, whether it is still wanted: `cancel()` "
        f"({at_place(cancelled.place)}) does not stop a timer that has expired"
    )


def _line(access: Access) -> tuple[str, int]:
    return access.place.path, access.place.line


def _is_found(change: Access, failing: Observation) -> bool:
    """Whether another thread looks at what was changed, before anybody changes it anew."""
    later = (one for one in failing.accesses if one.number > change.number and one.touches(change))
    first = next(later, None)
    return first is not None and first.reads and first.thread != change.thread


def _is_of_timer(access: Access) -> bool:
    return any(frame.function == _RUNS and not frame.counted for frame in access.stack)


def _cancelled_meanwhile(access: Access, failing: Observation) -> Access | None:
    """The call of ``cancel()`` by another thread during which the thread of an access began; None if there is none."""
    began = next(one.number for one in failing.accesses if one.thread == access.thread)
    for one in failing.accesses:
        if one.holder_type == "Timer" and one.detail.startswith("cancel(") and one.number < began:
            own = (each for each in failing.accesses if each.thread == one.thread and each.number > one.number)
            after = next((each for each in own if each.time > one.time), None)
            if after is None or after.number > began:
                return one
    return None
