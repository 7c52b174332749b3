"""A thread that goes on after a wait although the state that made it wait is there again, as it does not look again.

``if self.writing: changed.wait()`` goes on when one writer is done, although the next one may have begun by then. What
fails is what the thread does next, perhaps to other things, or what others then find.

Rules of this module:

* Its look decided that it waits. Meanwhile another thread has changed that, and another change has made it what it
  was; the thread then goes on in the same function without another look.
* It is told if what the threads did to each other was done before that changed once more: between these two threads,
  which the wait is there to keep apart.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from replay_dd.schedules.observed.observation import Access, Observation
from replay_dd.schedules.story.conflict import Conflict, Edge, checks
from replay_dd.schedules.story.kinds import WAIT_WITHOUT_LOOP
from replay_dd.schedules.story.words import at_place

INFERRED = "that this wait was to keep both threads apart"
_LOCKS = ("acquires", "wants")


class _Woken(NamedTuple):
    """A look, the wait that it led to, the changes meanwhile, and what the thread does next."""

    look: Access
    wait: Access
    changes: tuple[Access, ...]
    goes_on: Access


def find_woken_in_vain(conflict: Conflict, failing: Observation) -> Conflict | None:
    """The conflict of a thread that does not look again; None if none is seen that explains another conflict.

    Args:
        conflict: what threads did to each other.
        failing: all that the failing run accessed.
    """
    accesses = conflict.accesses
    for look, wait, changes, goes_on in _woken(failing):
        if not _are_both_inside(accesses, look, changes[-1], goes_on, failing):
            continue
        own = [one for one in failing.accesses if one.thread == look.thread]
        before = tuple(one for one in own if one.number <= look.number)
        after = tuple(one for one in own if one.number >= goes_on.number)
        edge = Edge(look, changes, inferred=False)
        return Conflict(look.thread, edge, None, wait.place, changes, before, after, fault=WAIT_WITHOUT_LOOP)
    return None


def _are_both_inside(
    accesses: Sequence[Access], look: Access, change: Access, goes_on: Access, failing: Observation
) -> bool:
    """Whether all these accesses are of two threads, and made before the state changes once more."""
    later = (one for one in failing.accesses if one.number > change.number and one.writes and one.touches(look))
    end = next((one.number for one in later), failing.accesses[-1].number + 1)
    threads = {one.thread for one in accesses}
    own = [one for one in accesses if one.thread == look.thread]
    between = all(goes_on.number <= one.number < end for one in own)
    return threads == {look.thread, change.thread} and bool(own) and between


def _woken(observed: Observation) -> Iterator[_Woken]:
    for wait in observed.accesses:
        if wait.does != "calls" or wait.holder_type != "Condition" or not wait.detail.startswith("wait("):
            continue
        here = [one for one in observed.accesses if one.thread == wait.thread and _activation(one) == _activation(wait)]
        look = next((one for one in reversed(here) if one.number < wait.number and checks(one)), None)
        later = [one for one in here if one.number > wait.number and one.does not in _LOCKS]
        if look is None or not later or not look.old.is_known or later[0].thing == look.thing:
            continue
        meanwhile = (one for one in observed.accesses if wait.number < one.number < later[0].number)
        changes = tuple(one for one in meanwhile if one.writes and one.touches(look) and one.thread != wait.thread)
        if len(changes) > 1 and changes[-1].new.same(look.old) and not changes[0].new.same(look.old):
            yield _Woken(look, wait, changes, later[0])


def _activation(access: Access) -> tuple[object, ...]:
    """The function that makes an access, and from where it was called."""
    return (access.place.path, access.place.function, access.stack[1:])


def woken_in_vain_in_words(conflict: Conflict) -> str:
    """What happened, in two sentences.

    Args:
        conflict: of a thread that does not look again.
    """
    assert conflict.left is not None
    look, last = conflict.left.access, conflict.left.others[-1]
    wait = at_place(conflict.stopped_at or look.place)
    return (
        f"Thread {conflict.thread} waits ({wait}) as {look.name} is {look.old.text or look.old.type} "
        f"({at_place(look.place)}); thread {last.thread} has made it so again ({at_place(last.place)}) before the wait "
        f"is over, and thread {conflict.thread} goes on ({at_place(conflict.after[0].place)}). It must look again: "
        "`while`, not `if`."
    )
