"""A thread that the interpreter interrupts within itself: by a finalizer, or by the handler of a signal.

The garbage collector may run at any allocation of any thread, and with it the program's ``__del__`` methods and
callbacks of weak references; the handler of a signal may run between any two instructions of the main thread. To the
scheduler it is the same thread, but it does there what another thread might do.

Rules of this module:

* What was done inside is named like a thread of its own, and the rest is the story of a race.
* It is told if the thread goes on with something that was changed inside, after it had looked at that before, and no
  interruption comes between these two lines in the passing run.
* A look at the same instruction belongs to an earlier round of a loop. What the thread has read since then, and was
  changed inside together with what it reads now, belongs to this one.
* No order of threads can be tried: the story is inferred from what was seen.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from replay_dd.schedules.hang import GARBAGE_COLLECTION, SIGNAL_HANDLER
from replay_dd.schedules.model import Ending
from replay_dd.schedules.observed.observation import Access, Observation
from replay_dd.schedules.story import kinds
from replay_dd.schedules.story.conflict import Conflict, Edge, in_one_call
from replay_dd.schedules.story.edges import replaced_together
from replay_dd.schedules.story.story import Story
from replay_dd.schedules.story.tell import tell_race
from replay_dd.schedules.story.words import at_place

_NAMES = {GARBAGE_COLLECTION: "finalizer", SIGNAL_HANDLER: "signal handler"}
_INFERRED = "that the interruption decides: in the passing run, none comes between these two lines"


def tell_interruption(failing: Observation, passing: Observation, ending: Ending) -> tuple[Conflict, Story] | None:
    """The story of a thread that was interrupted within itself; None if what was seen shows none.

    Args:
        failing: all that the failing run accessed.
        passing: all that the passing run accessed.
        ending: how the failing run ended.
    """
    failing, passing = failing.apart(_interrupter), passing.apart(_interrupter)
    usual = {_key(one) for one in _interruptions(passing)}
    for conflict in reversed(list(_interruptions(failing))):
        if _key(conflict) in usual:
            continue
        story = tell_race(conflict, failing, passing, ending)
        if story is not None:
            summary = f"{_opening(conflict)} {story.summary}"
            inferred = (*story.inferred, _INFERRED)
            return conflict, story._replace(
                summary=summary, locks=(), help=_help(story.kind, conflict), inferred=inferred
            )
    return None


def _interrupter(access: Access) -> str:
    """What interrupted the thread that makes an access; empty if nothing did."""
    return next((_NAMES[frame.function] for frame in access.stack if frame.function in _NAMES), "")


def _interruptions(observed: Observation) -> Iterator[Conflict]:
    """The conflicts of threads with what interrupted them, in order."""
    accesses = observed.accesses
    start = 0
    while start < len(accesses):
        name = _interrupter(accesses[start])
        if not name:
            start += 1
            continue
        thread = accesses[start].thread
        stop = start
        while stop < len(accesses) and accesses[stop].thread == thread:
            stop += 1
        found = _conflict(observed, accesses[start:stop], name)
        if found is not None:
            yield found
        start = stop


def _conflict(observed: Observation, stretch: tuple[Access, ...], name: str) -> Conflict | None:
    thread = stretch[0].thread.partition(" ")[0]
    own = [one for one in observed.accesses if one.thread == thread]
    before = tuple(one for one in own if one.number < stretch[0].number)
    after = tuple(one for one in own if one.number > stretch[-1].number)
    for then in after:
        right = Edge(then, _conflicting(stretch, then), inferred=False)
        look = next((one for one in reversed(before) if one.touches(then)), None)
        left = None
        if right.others and (look is None or look.place == then.place):
            left = _first_of_two(right, look, before, stretch)
        if left is None:
            if not right.others or look is None or not look.reads or look.place.function != then.place.function:
                continue
            left = Edge(look, _conflicting(stretch, look), inferred=False)
        if left.others:
            return Conflict(thread, left, right, before[-1].place, stretch, before, after, interrupter=name)
    return None


def _conflicting(stretch: Sequence[Access], access: Access) -> tuple[Access, ...]:
    return tuple(one for one in stretch if one.conflicts(access))


def _first_of_two(right: Edge, look: Access | None, before: Sequence[Access], stretch: Sequence[Access]) -> Edge | None:
    """What a thread has read of two things that were replaced together before it reads the second; None if nothing.

    Args:
        right: the read of the second thing, and what was done to it inside.
        look: the last access to that thing before; None if there is none.
        before: all accesses of the thread before it was interrupted.
        stretch: what was done inside.
    """
    then = right.access
    since = [one for one in before if look is None or one.number > look.number]
    for one in reversed(since):
        left = Edge(one, _conflicting(stretch, one), inferred=False)
        if in_one_call(one, then) and left.others and not one.touches(then):
            return left if one.place != then.place and replaced_together(left, right) else None
    return None


def _key(conflict: Conflict) -> tuple[object, ...]:
    """What makes it the same one in another run."""
    assert conflict.left is not None
    assert conflict.right is not None
    first, last = conflict.left.access, conflict.right.access
    where = (conflict.stopped_at and conflict.stopped_at.line, first.place.line, last.place.line)
    return first.place.path, first.name, first.does, last.does, *where


def _opening(conflict: Conflict) -> str:
    """What interrupts the thread, in a sentence."""
    what = _called(conflict)
    if conflict.interrupter == "finalizer":
        does = f"that calls `{what}`" if what else f"takes away {_gone(conflict).name}, to which nothing else refers"
        return f"Garbage is collected in thread {conflict.thread}, and {does}."
    return f"A signal interrupts thread {conflict.thread}, and its handler is `{what}`."


def _gone(conflict: Conflict) -> Access:
    assert conflict.right is not None
    return conflict.right.others[-1]


def _called(conflict: Conflict) -> str:
    """The function of the program that the interpreter called; empty if it only let something weak go."""
    stack = _gone(conflict).stack
    names = [frame.function for frame in stack]
    inside = stack[: next(number for number, name in enumerate(names) if name in _NAMES)]
    return next((frame.function for frame in reversed(inside) if frame.counted), "")


def _help(kind: str, conflict: Conflict) -> str:
    """What would help, in words: no lock does, as both are one thread."""
    assert conflict.left is not None
    assert conflict.right is not None
    first, then = conflict.left.access, conflict.right.access
    if kind == kinds.CHANGED_IN_LOOP or then.does == "iterates":
        return f"go through a copy of {then.name} ({at_place(first.place)}), made in one call such as `copy()`"
    if not _called(conflict):
        return f"look only once ({at_place(first.place)}), with `get()`, and keep what it returns: that keeps it alive"
    return (
        f"let the {conflict.interrupter} only put what is to be done into a `queue.SimpleQueue`, and do that where "
        f"{then.name} is used anyway; no lock helps, as both are the same thread"
    )
