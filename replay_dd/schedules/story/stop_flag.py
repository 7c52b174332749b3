"""Whether a flag ends a loop that takes items from a queue, although items are left there; or too late, as none come.

``while not self.stopping: item = self.queue.get()`` leaves what was put in before the flag was set. So does a loop that
empties a list in each round, and then looks at the flag. No lock and no order of the two helps: the loop has to know
that nothing is left. And if the flag is set when the loop has just looked at it, it waits for an item for ever: who
waits in a queue sees no flag.
"""

from __future__ import annotations

from replay_dd.schedules.observed.observation import Access, Observation
from replay_dd.schedules.story import kinds
from replay_dd.schedules.story.conflict import Conflict, checks
from replay_dd.schedules.story.edges import adds, empties, takes_out
from replay_dd.schedules.story.look_at_queue import QUEUES
from replay_dd.schedules.story.words import short_file

_KINDS = (kinds.ORDER_VIOLATION, kinds.INVALIDATED, kinds.TOO_EARLY)
_SEES_NO_FLAG = "and end the loop when it comes out: who waits for an item sees no flag"


def help_of_stop_flag(kind: str, conflict: Conflict, failing: Observation, passing: Observation) -> str:
    """What would help; empty if it is nothing like that.

    Args:
        kind: of the story.
        conflict: what the threads did in the failing run.
        failing: what the failing run accessed.
        passing: what the passing run accessed.
    """
    accesses = conflict.accesses
    flag = next((one for one in accesses if _sets(one)), None)
    if kind not in (*_KINDS, kinds.CHECK_THEN_ACT) or flag is None:
        return ""
    others = (one for one in accesses if one.thing == flag.thing and one.thread != flag.thread)
    look = next(filter(checks, others), None)
    if look is None:
        return ""
    if look.number < flag.number:
        queue = _waits_at(look, failing)
        return "" if queue is None else f"put a sentinel into {queue.name} when {flag.name} is set, {_SEES_NO_FLAG}"
    if kind not in _KINDS:
        return ""
    for one in (*failing.accesses, *passing.accesses):
        same_place = (one.place.path, one.place.function) == (look.place.path, look.place.function)
        if same_place and one.thread == look.thread and _is(one, "get") and _left(one, failing) > 0:
            return (
                f"put a sentinel into {one.name} instead of setting {flag.name}, and end the loop when it comes out; "
                f"or take what is left there after the loop: it ends ({short_file(look.place.file)}:"
                f"{look.place.line}) although items wait"
            )
    left = _left_in(look, failing)
    if left:
        return (
            f"take what is left in {left} once more when {flag.name} is found set: the loop ends "
            f"({short_file(look.place.file)}:{look.place.line}) although items wait there"
        )
    return ""


def ends_no_wait(help_told: str) -> bool:
    """Whether what would help is told of a wait that the flag does not end."""
    return help_told.endswith(_SEES_NO_FLAG)


def _waits_at(look: Access, failing: Observation) -> Access | None:
    """The call by which a thread waits for an item, from after its look at the flag to the end of the run."""
    after = [one for one in failing.accesses if one.thread == look.thread and one.number > look.number]
    calls = [one for one in after if one.does == "calls"]
    if not calls or not _is(calls[-1], "get"):
        return None
    inside = all(one.place.line == calls[-1].place.line for one in after if one.number > calls[-1].number)
    return calls[-1] if inside else None


def _left_in(look: Access, failing: Observation) -> str:
    """The container that a loop empties, and to which others have added something since, when it finds the flag set."""
    loop = (look.place.path, look.place.function)
    own = [one for one in failing.accesses if one.thread == look.thread and one.number < look.number]
    taken = {one.name: one for one in own if takes_out(one) or empties(one)}
    for name, last in taken.items():
        inside = any((frame.path, frame.function) == loop for frame in last.stack)
        since = (one for one in failing.accesses if last.number < one.number < look.number and one.name == name)
        if inside and any(one.thread != look.thread and adds(one) for one in since):
            return name
    return ""


def _sets(access: Access) -> bool:
    is_flag = access.does == "stores" and access.new.type == "bool"
    return is_flag or (access.holder_type == "Event" and access.detail.startswith("set("))


def _left(queue: Access, failing: Observation) -> int:
    """How many items more were put into a queue than threads tried to take out, in the failing run."""
    own = [one for one in failing.accesses if one.name == queue.name]
    return sum(_is(one, "put") for one in own) - sum(_is(one, "get") for one in own)


def _is(access: Access, method: str) -> bool:
    called = access.detail.partition("(")[0]
    return access.does == "calls" and access.holder_type in QUEUES and called in (method, f"{method}_nowait")
