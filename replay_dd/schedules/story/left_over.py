"""What a thread has left for itself in a thread-local object, and finds in a later call: threads of a pool do that.

Which call comes to which thread depends on the schedule. So the isolated switch is where a thread takes its next call,
and what goes wrong is in one thread.

Rules of this module:

* A look finds what is left over if its thread stored it, and has looked from the same place since, or from another
  function than that which stored it, of those that one line or the library calls one after the other.
* What the ``__init__`` of a class of thread-local objects stores for a thread is as good as nothing.
* So do variables of `contextvars`, as long as the thread stays in one context. Where it does not, as in the tasks of an
  event loop, or where a call runs in a context of its own, nothing is concluded.
* It is told if no look from that place does so in the passing run, and more of them find nothing there.
"""

from __future__ import annotations

from collections.abc import Iterator

from replay_dd.schedules.observed.observation import Access, Observation, StackFrame
from replay_dd.schedules.story.conflict import Conflict, Edge
from replay_dd.schedules.story.kinds import LEFT_OVER

VARIABLE = "ContextVar"
INFERRED = "that it is left over: an earlier call has stored it, and nothing was stored since"


def find_left_over(failing: Observation, passing: Observation) -> Conflict | None:
    """The conflict of a thread with itself; None if none is seen.

    Args:
        failing: all that the failing run accessed.
        passing: all that the passing run accessed.
    """
    usual = {_place(look) for _, look in _left_over(passing)}
    for stored, look in _left_over(failing):
        here = _place(look)
        if here in usual or _found_nothing(passing, look) <= _found_nothing(failing, look):
            continue
        own = [one for one in failing.accesses if one.thread == look.thread]
        before = tuple(one for one in own if one.number < look.number)
        after = tuple(one for one in own if one.number >= look.number)
        edge = Edge(look, (stored,), inferred=False)
        return Conflict(look.thread, None, edge, None, (), before, after, looked=stored, fault=LEFT_OVER)
    return None


def _left_over(observed: Observation) -> Iterator[tuple[Access, Access]]:
    """Each look that finds what is left over, behind the store that left it."""
    stored: dict[tuple[str, int, str], Access] = {}
    looked: set[tuple[tuple[str, int, str], tuple[str, int, str]]] = set()
    for one in observed.accesses:
        if one.thing[0] != "local" or one.task:
            continue
        if one.writes and not _is_first_value(one):
            stored[one.thing] = one
            looked = {seen for seen in looked if seen[0] != one.thing}
        elif one.thing in stored and not one.old.is_missing and _is_left(one, stored[one.thing]):
            if (one.thing, _place(one)) in looked or _is_of_another_call(one, stored[one.thing]):
                yield stored[one.thing], one
            looked.add((one.thing, _place(one)))


def _is_left(look: Access, stored: Access) -> bool:
    """Whether a look may find what was stored: another value is that of another context."""
    return look.holder_type != VARIABLE or look.old.same(stored.new)


def help_of_left_over(look: Access) -> str:
    """What would help.

    Args:
        look: what finds something left over.
    """
    keeps = "a thread that serves one call after another keeps it"
    if look.holder_type == VARIABLE:
        return (
            f"run each call in a context of its own (`contextvars.copy_context().run`), or `reset()` {look.name} when "
            f"a call ends; {keeps}"
        )
    return f"set {look.name} in each call, or delete it when a call ends; {keeps}"


def _found_nothing(observed: Observation, look: Access) -> int:
    """How many looks from a place found nothing, or made ``__init__`` store something first."""
    found = sum(_place(one) == _place(look) and one.old.is_missing for one in observed.accesses)
    return found + sum(_is_made_for(one, look) for one in observed.accesses)


def _is_made_for(access: Access, look: Access) -> bool:
    """Whether ``__init__`` stores an attribute because a thread looks at it from the same place as another look."""
    attribute = look.name.rpartition(".")[2]
    if access.thing[0] != "local" or access.name.rpartition(".")[2] != attribute or not _is_first_value(access):
        return False
    callers = [frame for frame in access.stack if not _is_init(frame, access)]
    return bool(callers) and (callers[0].path, callers[0].line) == (look.place.path, look.place.line)


def _is_first_value(access: Access) -> bool:
    """Whether the ``__init__`` of its class stores what a thread has of a thread-local object at first."""
    return access.does == "stores" and any(_is_init(frame, access) for frame in access.stack)


def _is_init(frame: StackFrame, access: Access) -> bool:
    return frame.function == f"{access.holder_type}.__init__"


def _is_of_another_call(look: Access, stored: Access) -> bool:
    """Whether one function has stored something, and another one looks at it, which one line or the library has called.

    The further up they part, the surer: from there on down, all that the first one did is over.
    """
    for one, other in zip(reversed(look.stack), reversed(stored.stack), strict=False):
        if (one.path, one.function) != (other.path, other.function):
            return True
        if one.line != other.line:
            return False
    return False


def _place(access: Access) -> tuple[str, int, str]:
    return access.place.path, access.place.line, access.name
