"""Who put something into a queue before others had put all of theirs, where only a put and a get were seen.

A consumer that stops at a sentinel takes what comes before it. So the order of its `get` and that `put` decides
nothing: what matters is which of two producers was first. Seen at the switch is the consumer, as it runs next.

Rules of this module:

* This is a hypothesis: it is told only if the order of the two puts is proved.
"""

from __future__ import annotations

from replay_dd.schedules.observed.observation import Access, Observation
from replay_dd.schedules.story.conflict import Conflict, Edge
from replay_dd.schedules.story.links import Links

_PUTS, _GETS = ("put", "put_nowait"), ("get", "get_nowait")
_IN_ORDER = ("Queue", "SimpleQueue")


def between_producers(conflict: Conflict, failing: Observation) -> Conflict | None:
    """The conflict of a producer with the others that put something later; None if there is nothing like that.

    Args:
        conflict: of a put with a get.
        failing: all that the failing run accessed.
    """
    seen = conflict.accesses
    put = next((one for one in seen if _calls(one, _PUTS)), None)
    takers = {one.thread for one in seen if _calls(one, _GETS)}
    if put is None or not takers or put.holder_type not in _IN_ORDER or put.thread in takers:
        return None
    later = [one for one in failing.accesses if one.number > put.number and one.thing == put.thing]
    others = tuple(one for one in later if _calls(one, _PUTS) and one.thread not in (put.thread, *takers))
    if not others:
        return None
    own = [one for one in failing.accesses if one.thread == put.thread]
    before = tuple(one for one in own if one.number <= put.number)
    after = tuple(one for one in own if one.number > others[-1].number)
    stretch = tuple(one for one in failing.accesses if put.number < one.number <= others[-1].number and one not in own)
    return Conflict(put.thread, Edge(put, others, inferred=False), None, put.place, stretch, before, after)


def as_proved(conflict: Conflict, links: Links) -> Conflict | None:
    """The conflict up to the access of the others that was proved to matter; None if none was.

    Args:
        conflict: of a producer with others.
        links: what was tried.
    """
    left = conflict.left
    if left is None or len(links.tried) != 1 or not links.tried[0].proved:
        return None
    last = links.tried[0].second
    others = tuple(one for one in left.others if one.number <= last.number and one.thread == last.thread)
    stretch = tuple(one for one in conflict.stretch if one.number <= last.number)
    return conflict._replace(left=left._replace(others=others), stretch=stretch)


def _calls(access: Access, methods: tuple[str, ...]) -> bool:
    return access.thing[0] == "object" and access.does == "calls" and access.detail.partition("(")[0] in methods
