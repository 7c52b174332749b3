"""The conflict of an isolated switch: what must come before the others' stretch, and what after it.

Rules of this module:

* The failing range of a switch of thread A has two edges. Left: the instruction before the range must come before
  what the others do meanwhile (their *stretch*), or the run passes. Right: the last instruction of the range must come
  after it.
* What of the stretch touches the same thing as an edge is the conflict. Where an edge itself touches nothing that the
  stretch touches, the nearest access of A that does stands in, and is marked as inferred.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from replay_dd.schedules.isolating.answer import GuiltySwitch
from replay_dd.schedules.isolating.failing_range import FailingRange
from replay_dd.schedules.model import Place, Switch
from replay_dd.schedules.observed.observation import Access, Observation, StackFrame, Value

_FARTHEST = 60  # accesses of A between an edge and what stands in for it
_IN_CALL = 1  # a call and the operation inside of it are one step
_NO_THING = ("lock",)
_UNKNOWN = Value("?", "", -1)
_ASKED_BY_CONTAINERS = ("__hash__", "__eq__", "__lt__")
_GO_THROUGH = ("enumerate", "index", "iter", "max", "min", "reversed", "zip")  # functions, and methods of containers
_NOTHING_YET = ("None", "False")


class Edge(NamedTuple):
    """One side of a conflict.

    Attributes:
        access: of the thread that is interrupted.
        others: what of the stretch conflicts with it, in order.
        inferred: the edge itself touches nothing of the stretch; this access is the nearest one that does.
    """

    access: Access
    others: tuple[Access, ...]
    inferred: bool


class Conflict(NamedTuple):
    """The two sides of a conflict, and all that was done between them.

    Attributes:
        thread: the interrupted thread.
        left: what must come before the stretch; None if nothing must.
        right: what must come after it; None if nothing must.
        stopped_at: where the thread was interrupted, if that is known.
        stretch: all accesses of other threads meanwhile.
        before: the accesses of the thread before the switch, the latest last.
        after: its accesses after the stretch.
        never: the failing run ends before the right access, which is that of the passing run.
        looked: the look of the thread before the right access that found what the other one then found, too.
        since: where the thread has done something before the stretch that the others should have known.
        inside: the call of an installed package that the thread has not come back from while another one calls it, too.
        fault: the kind, where one thread does something wrong whatever the others do; otherwise empty.
        left_out: of two things that one thread does, the one that is too much, if the code shows which; else None.
        of_tasks: those who did it are tasks of one event loop; each is named like a thread of its own.
        outdated: what the thread has read elsewhere since it looked, and stores although others have changed that, as
            it finds at the right edge what it had found at the left one; None if it does not.
        interrupter: what interrupted the thread within itself, such as ``finalizer``; it is named like a thread of its
            own. Empty if it was another thread.
        refused: the right access raises an exception, as what the left one has checked no longer holds.
    """

    thread: str
    left: Edge | None
    right: Edge | None
    stopped_at: Place | None
    stretch: tuple[Access, ...]
    before: tuple[Access, ...]
    after: tuple[Access, ...]
    never: bool = False
    looked: Access | None = None
    since: Place | None = None
    inside: StackFrame | None = None
    fault: str = ""
    left_out: Access | None = None
    of_tasks: bool = False
    outdated: Access | None = None
    interrupter: str = ""
    refused: bool = False

    @property
    def edges(self) -> list[Edge]:
        """The sides that there are."""
        return [edge for edge in (self.left, self.right) if edge is not None]

    @property
    def accesses(self) -> list[Access]:
        """Those of both sides, each with the others of its side behind it."""
        return [one for edge in self.edges for one in (edge.access, *edge.others)]


def find_conflict(failing: Observation, guilty: GuiltySwitch, failing_range: FailingRange | None) -> Conflict:
    """The conflict that an observed failing run shows.

    Args:
        failing: what the failing run accessed.
        guilty: the isolated switch.
        failing_range: the range in which it fails, if it has one.
    """
    switch = guilty.failing
    thread = switch.thread
    own = [access for access in failing.accesses if access.thread == thread]
    # At its switch the thread has passed the yield point, but not run the instruction behind it.
    before = [access for access in own if access.time < switch.time]
    after = [access for access in own if access.time >= switch.time]
    first_after = after[0].number if after else math.inf
    goes_on = math.inf if after else failing.resumed.get((thread, switch.time), math.inf)
    meanwhile = [
        access
        for access in failing.accesses
        if access.thread != thread
        and switch.global_time <= access.global_time < goes_on
        and access.number < first_after
    ]
    stretch = [*_calls_in_progress(failing, switch, meanwhile), *meanwhile]
    left_time, right_time = _edges(guilty, failing_range)
    left = None
    if left_time is not None:
        # The range may begin with another failure than the one it ends with; then the edge explains nothing here.
        left = _edge([one for one in reversed(before) if one.time <= left_time], stretch, left_time) or _edge(
            before[::-1], stretch, left_time
        )
        left = _with_own_check(left, before, stretch)
    progress = _looking_up(before, failing.switch_stacks.get((thread, switch.time), ())) or _in_progress(before, switch)
    right = _edge([*progress, *after], stretch, right_time)
    if left is not None and right is not None:
        same = right.access.number == left.access.number  # one access cannot be on both sides
        if right.inferred and same:
            right = None
        elif left.inferred and same:
            left = None  # it is the call in which the thread was interrupted, and mostly still to come
        elif left.inferred and not one_thing(left.access, right.access):
            left = None  # it stands in for the edge, so it must not be what the story is about
    return Conflict(thread, left, right, switch.place, tuple(stretch), tuple(before), tuple(after))


def in_one_section(first: Access, last: Access, accesses: Sequence[Access]) -> bool:
    """Whether a thread holds one lock from one of its accesses to another one.

    Args:
        first: the earlier one.
        last: the later one.
        accesses: what the thread does, with all that comes between them.
    """
    between = (one.held for one in accesses if first.number <= one.number <= last.number)
    return bool(set(last.held).intersection(*between))


def _with_own_check(left: Edge | None, before: Sequence[Access], stretch: Sequence[Access]) -> Edge | None:
    """What a thread takes away in vain, it may have looked for in the same section: that look decides, not this."""
    if left is None or not left.access.in_vain:
        return left
    vain = left.access
    for one in reversed([one for one in before if one.number < vain.number and one.thing == vain.thing]):
        if checks(one) and one.old.is_missing and in_one_section(one, vain, before):
            return Edge(one, tuple(other for other in stretch if other.conflicts(one)), left.inferred)
    return left


def with_own_look(conflict: Conflict) -> Conflict:
    """A conflict of two threads that both store, with what the interrupted one had read there before.

    That may be a look in an earlier turn that found nothing yet, where the failing range does not reach; or the first
    half of `+=`, where the range begins with another failure.

    Args:
        conflict: what the threads did.
    """
    left, right = conflict.left, conflict.right
    if right is None or right.access.does != "stores" or (left is not None and one_thing(left.access, right.access)):
        return conflict
    thing = right.access.thing
    if not any(other.does == "stores" and other.thing == thing for other in right.others):
        return conflict
    own = [one for one in conflict.before if one.thing == thing]
    if not own or own[-1].writes:
        return conflict
    nothing_yet = own[-1].old.is_missing or own[-1].old.text in _NOTHING_YET
    here = (right.access.place.path, right.access.place.line, right.access.place.function)
    same_line = (own[-1].place.path, own[-1].place.line, own[-1].place.function) == here
    if not (nothing_yet if left is None else same_line):
        return conflict
    others = tuple(other for other in conflict.stretch if other.conflicts(own[-1]))
    return conflict._replace(left=Edge(own[-1], others, inferred=True))


def with_deciding_look(conflict: Conflict) -> Conflict:
    """A conflict of two things, with the look that decided in the place of a later one that found the same.

    A look further down in the function belongs to an earlier call of it, and decided about what that did.

    Args:
        conflict: what the threads did.
    """
    left, right = conflict.left, conflict.right
    if left is None or right is None or one_thing(left.access, right.access):
        return conflict
    again = left.access
    own = [one for one in conflict.before if one.thing == again.thing and one.number < again.number]
    if not own or again.writes or again.tested or not checks(own[-1]) or not own[-1].old.same(again.old):
        return conflict
    look = own[-1]
    return conflict._replace(left=left._replace(access=look)) if comes_down_to(look, again) else conflict


def used_unready(conflict: Conflict) -> Access | None:
    """Where another thread misses an attribute of the object that the interrupted thread has only just shown it."""
    left = conflict.left
    if left is None or not left.access.writes or left.access.new.number < 0:
        return None
    missing = (one for one in conflict.stretch if one.reads and one.old.is_missing)
    return next((one for one in missing if one.thing[:2] == ("attribute", left.access.new.number)), None)


def expired_in(conflict: Conflict) -> Access | None:
    """The time-out that gives another thread its turn, although the first one could go on; None if none does.

    The call that waits so long began before.
    """
    others = [access.thread for edge in conflict.edges for access in edge.others]
    first = {access.thread: access for access in reversed(conflict.stretch) if access.does != "calls"}
    expired = (first[thread] for thread in reversed(others) if thread in first)
    return next((one for one in expired if one.does == "gives up"), None)


def is_about(conflict: Conflict, victim: Access) -> bool:
    """Whether what was seen at the edges of the failing range explains why an access failed."""
    if not conflict.edges or any(edge.inferred for edge in conflict.edges):
        return False
    return any(one_thing(access, victim) for access in conflict.accesses)


def until_closed(access: Access, others: Sequence[Access]) -> tuple[Access, ...]:
    """What others did to a file until they closed it, if an access finds that closed; else all that they did.

    A file that is opened anew has the same name, but whoever holds the closed one does not get it by that.

    Args:
        access: of one thread.
        others: what others did to the same thing.
    """
    if access.thing[0] != "file" or access.does != "calls" or not access.old.is_missing:
        return tuple(others)
    opened: list[str] = []  # by whom; each closes its own file first
    end = 0
    for number, one in enumerate(others, 1):
        if one.does == "open" and one.writes:
            opened.append(one.thread)
        elif one.does == "calls" and one.writes and one.detail.startswith("close("):
            if one.thread in opened:
                opened.remove(one.thread)
            else:
                end = number
    return tuple(others[:end] if end else others)


def checks(access: Access) -> bool:
    """Whether what an access found decides what its thread does; to take the next item of a loop decides nothing."""
    return access.tested and not access.writes and access.does != "iterates"


def searches(access: Access) -> bool:
    """Whether it goes through a container; what it finds there may decide under which key something is stored."""
    goes_through = access.does == "iterates" or access.detail.partition("(")[0] in _GO_THROUGH
    return goes_through and access.thing[0] == "whole" and not access.writes


def one_thing(one: Access, other: Access) -> bool:
    """Whether two accesses are to the same thing, or to one container."""
    in_container = {one.thing[0], other.thing[0]} <= {"item", "whole"} and "whole" in (one.thing[0], other.thing[0])
    return one.touches(other) or (in_container and one.thing[1] == other.thing[1])


def in_one_call(one: Access, other: Access) -> bool:
    """Whether two accesses are made in one call of a function, or in calls of it that the same lines make."""
    here, there = one.place, other.place
    same = (here.path, here.function) == (there.path, there.function)
    return same and one.stack[1:] == other.stack[1:]


def comes_down_to(one: Access, other: Access) -> bool:
    """Whether one call of a function makes an access, and at its line or further down another one.

    What is further up comes in the next round of a loop, or in a later call.
    """
    return in_one_call(one, other) and one.place.line <= other.place.line


def is_further_up(one: Access, other: Access) -> bool:
    """Whether an access is further up than another one in the very same function.

    Who comes there after the other one comes there by a later call, from wherever, or by the next round of a loop.
    """
    here, there = one.place, other.place
    return (here.path, here.function) == (there.path, there.function) and here.line < there.line


def about_one_thing(conflict: Conflict, other: Conflict) -> bool:
    """Whether two conflicts of one run have a thing, or a container, in common."""
    return any(one_thing(one, another) for one in conflict.accesses for another in other.accesses)


def _in_progress(before: Sequence[Access], switch: Switch) -> list[Access]:
    """The call inside which the thread was interrupted, at an operation of library code: most of it comes later.

    What was seen of its object before the others ran is not what it works on.
    """
    place = switch.place
    if place is None or not place.operation or not before:
        return []
    last = next((access for access in reversed(before) if access.thing[0] not in _NO_THING), None)
    if last is None or (last.place.path, last.place.line) != (place.path, place.line):
        return []
    if last.does != "calls" and not _is_kept_outside(last):
        return []
    return [last._replace(old=_UNKNOWN) if last.thing[0] == "object" else last]


def _is_kept_outside(access: Access) -> bool:
    """Whether it is to what `ctypes` keeps: code of the library takes a lock for it, and does it only then."""
    sort, _, key = access.thing
    return (sort in ("item", "whole") or (sort, key) == ("attribute", "value")) and access.holder_type.startswith("c_")


def _looking_up(before: Sequence[Access], stack: Sequence[StackFrame]) -> list[Access]:
    """The access to a container that is not over yet, as it asks a key of the program what it is.

    What it finds in the end is not known.
    """
    for access in before[: -_FARTHEST - 1 : -1]:
        inner = len(stack) - len(access.stack)
        asks = inner > 0 and stack[inner - 1].function.rpartition(".")[2] in _ASKED_BY_CONTAINERS
        if asks and tuple(stack[inner:]) == access.stack:
            return [access._replace(old=_UNKNOWN)]
    return []


def _calls_in_progress(failing: Observation, switch: Switch, meanwhile: Sequence[Access]) -> list[Access]:
    """The calls of library code in which the other threads wait when they get their turn: they take effect after it.

    A look that waits for what somebody else does meanwhile finds that; the interrupted thread need not come before it.
    """
    waiting: dict[str, Access | None] = {}
    for access in failing.accesses:
        if access.global_time >= switch.global_time:
            break
        if access.thing[0] not in _NO_THING:
            waiting[access.thread] = access
    first = {access.thread: access for access in reversed(meanwhile)}
    found = []
    for thread, access in first.items():
        call = waiting.get(thread)
        waits = call is not None and call.does == "calls" and access.thing[0] in _NO_THING
        if call is not None and not call.writes and _is_changed(call, meanwhile, access):
            continue
        if call is not None and waits and (call.place.path, call.place.line) == (access.place.path, access.place.line):
            found.append(call)
    return found


def _is_changed(look: Access, meanwhile: Sequence[Access], goes_on: Access) -> bool:
    """Whether others change what a waiting thread looks at before it goes on."""
    before = (one for one in meanwhile if one.number < goes_on.number and one.thread != goes_on.thread)
    return any(one.writes and one.touches(look) for one in before)


def _edges(guilty: GuiltySwitch, failing_range: FailingRange | None) -> tuple[int | None, int | None]:
    """The thread times of the instructions at both edges; None where it is not known that there is one."""
    failing, passing = guilty.failing, guilty.passing
    if failing_range is not None:
        left = None if failing_range.begins_turn else failing_range.first.time - 1
        return left, failing_range.last.time
    if passing is not None and passing.time < failing.time:
        return failing.time - 1, None
    return None, failing.time


def _guarded(access: Access, others: Sequence[Access]) -> bool:
    """Whether one lock guards both sides: then the edge is where that lock is taken or released."""
    return any(set(access.held) & set(other.held) for other in others)


def _edge(candidates: Sequence[Access], stretch: Sequence[Access], time: int | None) -> Edge | None:
    """The access nearest to an edge that conflicts with the stretch."""
    for access in candidates[:_FARTHEST]:
        if access.thing[0] in _NO_THING:
            continue
        others = until_closed(access, [other for other in stretch if other.conflicts(access)])
        if others:
            at_edge = time is not None and access.time <= time <= access.time + _IN_CALL
            return Edge(access, others, inferred=not at_edge and not _guarded(access, others))
    return None
