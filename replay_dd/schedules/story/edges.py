"""What single accesses, and the sides of a conflict, amount to: to add, to take away, to find nothing."""

from __future__ import annotations

from replay_dd.schedules.observed.observation import TAKES, Access
from replay_dd.schedules.story.conflict import Conflict, Edge, checks, comes_down_to, one_thing

_HANDS_OVER = ("put", "put_nowait")
_ADDS = ("append", "appendleft", "extend", "extendleft", "insert", "add", "put", "heappush")
_ADDS_PLAINLY = ("append", "appendleft", "extend", "extendleft", "insert", "add")  # and nobody waits for it
_REMOVES = (*TAKES, "clear", "heappop")
NUMBERS = ("int", "float")
_RAISES_WITHOUT = ("dict", "OrderedDict")  # other mappings may give a default
_CLOSES = ("close", "shutdown", "cancel", "clear", "stop", "terminate")
_EMPTY = ("{}", "[]", "set()", "()", "deque([])", "None", "''")


def adds(access: Access) -> bool:
    """Whether a call of a container's method puts something in."""
    return access.detail.partition("(")[0] in _ADDS_PLAINLY


def takes_out(access: Access) -> bool:
    """Whether a call of a container's method takes something out; that acts, too, where others have done it already."""
    return access.detail.partition("(")[0] in _REMOVES


def puts_back(first: Access, last: Access) -> bool:
    """Whether one call of a function takes something out of a container, and then adds something to it.

    So does who takes a file away, and makes it anew.
    """
    if first.thing[0] == "file":
        moves = first.writes and first.new.is_missing and last.writes
    else:
        moves = (first.does == "deletes" or takes_out(first)) and not first.in_vain and adds(last)
    return moves and one_thing(first, last) and comes_down_to(first, last)


def hands_over(access: Access) -> bool:
    """Whether it gives another thread something in one step."""
    return access.does == "calls" and access.detail.partition("(")[0] in _HANDS_OVER


def empties(access: Access) -> bool:
    """Whether it stores a new, empty container: that was computed from nothing."""
    return access.does == "stores" and access.new.text in _EMPTY and access.new.text not in ("None", "''")


def replaces(access: Access) -> bool:
    """Whether it stores over what was there; to add something or to take it out leaves the rest as it is."""
    inserts = access.thing[0] == "database" and "INSERT" in access.detail.upper()[:20]
    return access.does != "deletes" and not inserts and access.detail.partition("(")[0] not in (*_ADDS, *_REMOVES)


def misses(first: Access, last: Access) -> bool:
    """Whether a look raised an exception because nothing was there, and its thread then stores what it has made itself.

    That decides like a test does. A number is rather computed from a default that the look gave.
    """
    if first.does not in ("reads", "deletes") or not first.old.is_missing or last.does != "stores":
        return False
    if first.place == last.place:
        return True  # made by the look itself, as a `defaultdict` does
    if first.place.instruction.startswith("CALL") and last.new.type in (*NUMBERS, "str"):
        return False  # getattr() may have had a default
    return first.thing[0] in ("attribute", "global") or (
        first.thing[0] == "item" and first.holder_type in _RAISES_WITHOUT
    )


def is_counted_item(access: Access) -> bool:
    """Whether it is to an item of a container, or to all of them."""
    return access.thing[0] in ("item", "whole")


def invalidates(edge: Edge) -> bool:
    """Whether the last that the others do to the thing is to take it away."""
    writes = [other for other in edge.others if other.writes]
    if not writes:
        return False
    last = writes[-1]
    if last.thing[0] == "file" and last.new.is_missing and last.does != "calls":
        return True
    if last.does == "calls" and last.detail.partition("(")[0] in _CLOSES:
        return True
    return last.thing[0] in ("attribute", "global", "cell") and (last.new.is_missing or last.new.text == "None")


def finds_it_gone(edge: Edge) -> bool:
    """Whether it needs what others have closed, or made None."""
    access = edge.access
    return invalidates(edge) and (access.old.is_missing or (access.old.text == "None" and not access.tested))


def sets_flag(edge: Edge) -> bool:
    """Whether the last that the others do to the thing is to turn it from true to false, or the other way round."""
    writes = [other for other in edge.others if other.writes]
    return bool(writes) and writes[-1].new.type == "bool"


def was_taken(edge: Edge) -> bool:
    """Whether it finds nothing any more, as the last that the others do to the thing is to take it out."""
    writes = [other for other in edge.others if other.writes]
    fails = edge.access.does in ("reads", "deletes") and edge.access.old.is_missing and edge.access.thing[0] == "item"
    return fails and bool(writes) and (writes[-1].does == "deletes" or writes[-1].detail.startswith("pop("))


def clears_unseen(edge: Edge) -> bool:
    """Whether it clears an event that another thread has set meanwhile."""
    clears = edge.access.holder_type == "Event" and edge.access.detail.startswith("clear(")
    return clears and any(other.detail.startswith("set(") for other in edge.others)


def found_nothing(edge: Edge) -> bool:
    """Whether the others find what is only written later missing or empty, and go on with that."""
    reads = [other for other in edge.others if other.reads and not other.tested]
    return any(other.old.is_missing or other.old.text in _EMPTY for other in reads)


def was_there(conflict: Conflict, edge: Edge) -> bool:
    """Whether the thread had changed the thing before, or looked at it: then it does not set it for the first time."""
    if conflict.left is not None and conflict.left.access.reads:
        return True
    before = [one for one in conflict.before if one.writes and one.touches(edge.access)]
    return any(not one.new.is_missing and not (one.does == "stores" and one.new.text in _EMPTY) for one in before)


def publishes(left: Edge | None, right: Edge) -> bool:
    """Whether the first of two writes only shows the others the way to the second: a flag, or the object itself."""
    if left is None or not left.access.writes or one_thing(left.access, right.access):
        return True
    new = left.access.new
    if adds_holder(left.access, right.access):
        return True
    return new.type == "bool" or (bool(new.type) and right.access.name.startswith(f"{new.type}."))


def adds_holder(shown: Access, late: Access) -> bool:
    """Whether a thread adds to a container what seems to be the very object whose attribute it sets later."""
    attribute = late.does == "stores" and late.thing[0] == "attribute"
    return attribute and adds(shown) and shown.detail.endswith(f"({late.holder_type})")


def replaced_together(left: Edge, right: Edge) -> bool:
    """Whether a thread looks at two things that another one replaces in between, each by another value of its sort.

    A flag that is turned, or None, rather says that the other thing must not be used any more.
    """
    for edge in (left, right):
        stores = [one for one in edge.others if one.does == "stores" and one.thing == edge.access.thing]
        if not stores or edge.access.does != "reads":
            return False
        values = (edge.access.old, stores[-1].new)
        if any(one.is_missing or not one.is_known or one.type in ("bool", "NoneType") for one in values):
            return False
    return len({one.thread for edge in (left, right) for one in edge.others if one.writes}) == 1


def replaces_container(left: Edge, right: Edge) -> bool:
    """Whether it goes through a container, and then puts another one in its place."""
    first, last = left.access, right.access
    here = first.thing[0] == "whole" and last.does == "stores" and last.old.number == first.thing[1] >= 0
    return here and not checks(first)
