"""A thread that is woken, and waits again: what it waited for was there, and has gone by when it looks.

The last one who comes to a barrier sets its count to zero, wakes the others, and comes again for the next round before
they have looked: they find the count as it was before. They were notified, and look in a loop; no lock is missing.

Rules of this module:

* Its last look before the wait that never ends is that of the same loop before the wait that ended, and decides alike.
* The thread that notified it has changed that before, and it is no longer so. If another one has changed that because
  it had looked, as who takes an item that several wait for, all is well.
"""

from __future__ import annotations

from collections.abc import Sequence

from replay_dd.schedules.hang import Hang
from replay_dd.schedules.observed.observation import Access, Observation
from replay_dd.schedules.story.conflict import Conflict, Edge, checks, in_one_call
from replay_dd.schedules.story.kinds import MISSED_STATE
from replay_dd.schedules.story.words import at_place

INFERRED = "that this look was to find what had been there in between"


def find_missed_state(failing: Observation, hang: Hang) -> Conflict | None:
    """The conflict of a look that comes too late, and who has changed back what it was for; None if there is none.

    Args:
        failing: all that the failing run accessed.
        hang: what is known of the hang.
    """
    for thread in dict.fromkeys(one.thread for one in hang.threads if one.state == "waits"):
        own = [one for one in failing.accesses if one.thread == thread]
        waits = [one for one in own if _notifies_or_waits(one, "wait")]
        if len(waits) < 2 or waits[-2].place.line != waits[-1].place.line:
            continue
        first, last = waits[-2:]
        look = next((one for one in reversed(own) if first.number < one.number < last.number and checks(one)), None)
        before = None if look is None else _same_before(look, first, own)
        if look is None or before is None:
            continue
        between = [one for one in failing.accesses if first.number < one.number < look.number and one.thread != thread]
        changes = tuple(one for one in between if one.writes and one.thing == look.thing)
        done = _done_for(changes, first, between)
        back = changes[-1] if changes else None
        if done is None or back is None or done.new.same(look.old) or not back.new.same(look.old):
            continue
        if done != back and (back.thread == done.thread or not _looked_before(back, done, failing)):
            left, right = (Edge(one, (done, changes[-1]), inferred=False) for one in (before, look))
            seen = tuple(one for one in own if one.number <= first.number)
            after = tuple(one for one in own if one.number >= look.number)
            return Conflict(thread, left, right, first.place, changes, seen, after, fault=MISSED_STATE)
    return None


def missed_state_in_words(conflict: Conflict) -> str:
    """What happened, in a sentence.

    Args:
        conflict: of a look that comes too late.
    """
    assert conflict.left is not None
    assert conflict.right is not None
    look, (first, last) = conflict.right.access, conflict.right.others
    again = " again" if look.old.same(conflict.left.access.old) else ""
    then = " and changed it back" if last.thread == first.thread else f", and thread {last.thread} has changed it"
    return (
        f"Thread {conflict.thread} is woken, but {look.name} is {look.old.text or look.old.type}{again} when it looks "
        f"({at_place(look.place)}): thread {first.thread} has changed that ({at_place(first.place)}){then} "
        f"({at_place(last.place)}) meanwhile."
    )


def help_of_missed_state(conflict: Conflict) -> str:
    """What would help.

    Args:
        conflict: of a look that comes too late.
    """
    assert conflict.right is not None
    look = conflict.right.access
    return (
        f"wait for something that does not come back, such as a number of the round that is counted up when it ends, "
        f"instead of {look.name} ({at_place(look.place)})"
    )


def _same_before(look: Access, wait: Access, own: Sequence[Access]) -> Access | None:
    """The look of the same loop before the wait, in the same call; else None."""
    earlier = [one for one in own if one.number < wait.number and one.thing == look.thing and checks(one)]
    last = earlier[-1] if earlier else None
    same = (
        last is not None and last.place.line == look.place.line and in_one_call(last, wait) and in_one_call(look, wait)
    )
    return last if same and last is not None and look.old.is_known and last.old.is_known else None


def _done_for(changes: Sequence[Access], wait: Access, between: Sequence[Access]) -> Access | None:
    """The last change before the last notification of the thread; None unless the same thread has made both."""
    wakes = [one for one in between if one.thing == wait.thing and _notifies_or_waits(one, "notify")]
    done = [one for one in changes if wakes and one.number < wakes[-1].number]
    return done[-1] if done and done[-1].thread == wakes[-1].thread else None


def _looked_before(change: Access, done: Access, failing: Observation) -> bool:
    """Whether a thread has looked at a thing since then, in the call that changes it or in one that this has made."""
    looks = (one for one in failing.accesses if one.thread == change.thread and one.thing == change.thing)
    since = (one for one in looks if done.number < one.number < change.number)
    return any(checks(one) and _leads_to(one, change) for one in since)


def _leads_to(look: Access, change: Access) -> bool:
    """Whether the call that makes a change has made a look, at its line or further up."""
    for number, frame in enumerate(look.stack, 1):
        same = (frame.path, frame.function) == (change.place.path, change.place.function)
        if same and look.stack[number:] == change.stack[1:]:
            return frame.line <= change.place.line
    return False


def _notifies_or_waits(access: Access, method: str) -> bool:
    return access.does == "calls" and access.holder_type == "Condition" and access.detail.startswith(method)
