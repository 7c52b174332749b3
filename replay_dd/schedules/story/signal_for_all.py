"""One signal that lets several threads go on, each of which then takes it back as if it were meant for that one alone.

``full.wait(); full.clear(); item = self.item``: ``set()`` wakes all who wait, and each clears the event only then. The
second of them goes on with what the first one has taken. At the isolated switch there is often nothing but the signal
that comes after both waits.

Rules of this module:

* Two threads have waited for the event, and each clears it further down in the same call. Nobody sets it between the
  two, and the second one did not wait anew after the first one had cleared it.
* That the wait is over decides what its thread does: it is a check, and the other one makes it untrue.
"""

from __future__ import annotations

from itertools import pairwise

from replay_dd.schedules.observed.observation import Access, Observation
from replay_dd.schedules.story import kinds
from replay_dd.schedules.story.conflict import Conflict, Edge, comes_down_to
from replay_dd.schedules.story.words import at_place

_EVENT = "Event"


def signal_for_all(conflict: Conflict, failing: Observation) -> Conflict | None:
    """The conflict of two threads that both go on by one signal; None if there are none.

    Args:
        conflict: what the threads did; the kind is nothing more than an order of a wait and its signal.
        failing: all that the failing run accessed.
    """
    for event in dict.fromkeys(one.thing for one in conflict.accesses if one.holder_type == _EVENT):
        uses = [one for one in failing.accesses if one.thing == event and one.does == "calls"]
        signals = [one for one in uses if _calls(one, "set") or _calls(one, "clear")]
        for first, second in pairwise(signals):
            if first.thread == second.thread or not (_calls(first, "clear") and _calls(second, "clear")):
                continue
            wait, other = _wait_before(second, uses), _wait_before(first, uses)
            if wait is not None and other is not None and wait.number < first.number:
                return _conflict(wait._replace(tested=True), first, second, failing)
    return None


def help_of_signal_for_all(kind: str, conflict: Conflict) -> str:
    """What would help; empty if it is nothing like that.

    Args:
        kind: of the story.
        conflict: what the threads did in the failing run.
    """
    left, right = conflict.left, conflict.right
    if kind != kinds.CHECK_THEN_ACT or left is None or right is None:
        return ""
    if left.access.holder_type != _EVENT or not (_calls(left.access, "wait") and _calls(right.access, "clear")):
        return ""
    return (
        f"hand over by a queue, or by a condition whose `while` looks whether there is anything: `set()` of "
        f"{left.access.name} lets all go on who wait ({at_place(left.access.place)}), and each clears it only then"
    )


def _conflict(wait: Access, first: Access, second: Access, failing: Observation) -> Conflict:
    own = [one for one in failing.accesses if one.thread == wait.thread]
    before = (*(one for one in own if one.number < wait.number), wait)
    after = tuple(one for one in own if one.number > wait.number)
    between = (one for one in failing.accesses if wait.number < one.number < second.number)
    stretch = tuple(one for one in between if one.thread == first.thread)
    left, right = (Edge(one, (first,), inferred=False) for one in (wait, second))
    return Conflict(wait.thread, left, right, None, stretch, before, after)


def _wait_before(clears: Access, uses: list[Access]) -> Access | None:
    """The wait after which a thread clears the event in the same call; None if it did not wait."""
    own = [one for one in uses if one.thread == clears.thread and one.number < clears.number]
    last = own[-1] if own else None
    return last if last is not None and _calls(last, "wait") and comes_down_to(last, clears) else None


def _calls(access: Access, method: str) -> bool:
    return access.detail.startswith(f"{method}(")
