"""Items of a queue that are parts of one thing: a thread puts one after the other, and whoever takes them joins them.

Rules of this module:

* Two items belong together if one call of a function puts them, the second one further down: itself, or through a
  helper that it calls at both lines. Items of one line in a loop are rather tasks of their own.
* An access that only stands in for an edge counts if its order is proved to matter: the other one may only have come
  between.
"""

from __future__ import annotations

from collections.abc import Collection

from replay_dd.schedules.observed.observation import Access
from replay_dd.schedules.story.conflict import Conflict, Edge
from replay_dd.schedules.story.edges import hands_over


def are_parts(left: Edge, right: Edge) -> bool:
    """Whether a thread puts two items that belong together, and another one puts its own in between.

    Args:
        left: the first of them.
        right: the second.
    """
    if left.inferred or right.inferred or not (hands_over(left.access) and hands_over(right.access)):
        return False
    between = any(hands_over(other) for edge in (left, right) for other in edge.others)
    return between and _of_one_call(left.access, right.access)


def with_parts(conflict: Conflict, proved: Collection[Access]) -> Conflict:
    """The same conflict, with edges that are accesses of their own if these put parts, and both orders are proved.

    Args:
        conflict: what the threads did.
        proved: the accesses whose order is proved to matter.
    """
    left, right = conflict.left, conflict.right
    if left is None or right is None or left.access not in proved or right.access not in proved:
        return conflict
    own = left._replace(inferred=False), right._replace(inferred=False)
    return conflict._replace(left=own[0], right=own[1]) if are_parts(*own) else conflict


def parts_in_words(first: Access, last: Access, other: Access, places: tuple[str, str, str]) -> str:
    """What happened, in a sentence; empty if these are no items of a queue.

    Args:
        first: the first item.
        last: the second one, which belongs to it.
        other: what another thread does in between.
        places: where each of them does so.
    """
    if not all(hands_over(one) for one in (first, last, other)):
        return ""
    return (
        f"Thread {first.thread} puts two items that belong together into {first.name} ({places[0]} and {places[1]}); "
        f"thread {other.thread} puts one in between ({places[2]})."
    )


def help_of_parts(first: Access) -> str:
    """What would help.

    Args:
        first: the first of the items that belong together.
    """
    return f"put both into {first.name} as one item, such as a tuple: nothing comes between its parts then"


def _of_one_call(first: Access, last: Access) -> bool:
    for number, (one, other) in enumerate(zip(first.stack, last.stack, strict=False), 1):
        if (one.path, one.function) != (other.path, other.function):
            return False
        if one.line != other.line:
            return one.line < other.line and first.stack[number:] == last.stack[number:]
    return False
