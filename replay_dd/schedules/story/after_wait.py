"""The conflict of a thread that acts on what it has seen before its wait: it was woken, but others came first.

``if self.letter is not None: self.changed.wait()`` goes on once the letter was taken, although the next one may lie
there by then. Where the failure shows late, the edges of the failing range only tell who waited before whom notified,
or who looked at the result too early.

Rules of this module:

* The look decided about the wait, and the thread has not looked again before it acts, all in one function.
* Two other threads have changed the thing meanwhile: one woke it, the other one came in between.
"""

from __future__ import annotations

from collections.abc import Sequence

from replay_dd.schedules.observed.observation import Access, Observation
from replay_dd.schedules.story.conflict import Conflict, Edge, checks, one_thing


def acted_after_wait(conflict: Conflict, failing: Observation) -> Conflict | None:
    """The conflict of the look before a wait; None if none is seen, or if the order is one of other things.

    Args:
        conflict: what the edges of the failing range tell; the kind is nothing more than an order.
        failing: all that the failing run accessed.
    """
    about = [edge.access for edge in conflict.edges]
    for wait in failing.accesses:
        if wait.does != "calls" or wait.holder_type != "Condition" or not wait.detail.startswith("wait("):
            continue
        own = [one for one in failing.accesses if one.thread == wait.thread]
        here = [one for one in own if _function(one) == _function(wait)]
        look = next((one for one in reversed(here) if one.number < wait.number and checks(one)), None)
        if look is None or not all(one.holder_type == "Condition" or one_thing(one, look) for one in about):
            continue
        later = (one for one in own if one.number > wait.number and one_thing(one, look))
        act = next((one for one in later if one.writes or checks(one)), None)
        if act is None or not act.writes or _function(act) != _function(look):
            continue
        stretch = tuple(
            one for one in failing.accesses if look.number < one.number < act.number and one.thread != act.thread
        )
        changes = _changes(stretch, look)
        if len({one.thread for one in changes}) > 1:
            return Conflict(
                *(act.thread, Edge(look, changes, inferred=False), Edge(act, changes, inferred=False)),
                wait.place,
                stretch,
                tuple(one for one in own if one.number <= look.number),
                tuple(one for one in own if one.number > look.number),
            )
    return None


def _changes(stretch: Sequence[Access], look: Access) -> tuple[Access, ...]:
    return tuple(one for one in stretch if one.writes and one.touches(look))


def _function(access: Access) -> tuple[str, str]:
    return access.place.path, access.place.function
