"""Whether the function of a `threading.Timer` runs although the timer is cancelled.

``cancel()`` only ends the wait of the timer. Once that is over, the function runs, whatever comes then.

Rules of this module:

* Which timer a thread belongs to is not seen. It is taken for the cancelled one if its function begins while the call
  of ``cancel()`` goes on: once that is over, only another timer's function could begin.
"""

from __future__ import annotations

from replay_dd.schedules.observed.observation import Access, Observation
from replay_dd.schedules.story import kinds
from replay_dd.schedules.story.conflict import Conflict
from replay_dd.schedules.story.words import short_file

_RUNS = "Timer.run"
_KINDS = (kinds.ORDER_VIOLATION, kinds.NON_REPEATABLE_READ, kinds.CHECK_THEN_ACT, kinds.TOO_EARLY, kinds.INVALIDATED)


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
            return (
                f"let the function of the timer look, under a lock, whether it is still wanted: `cancel()` "
                f"({short_file(cancelled.place.file)}:{cancelled.place.line}) does not stop a timer that has expired"
            )
    return ""


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
