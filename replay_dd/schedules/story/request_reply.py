"""Two threads that send requests through one connection, and read each other's replies.

A child process, a server or a device answers requests in their order. Who writes one and reads the next reply has its
own only if nobody else does so in between; the order in which two threads begin does not matter.

Rules of this module:

* A request and its reply belong together if one call of a function writes the one and then reads the other: at one
  connection, or at two streams that are attributes of one object, as those of a child process are.
* The reply has come when the thread that reads it goes on.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from replay_dd.schedules.observed.observation import Access, Observation
from replay_dd.schedules.story.conflict import Conflict, Edge
from replay_dd.schedules.story.words import at_place

_SENDS = (
    *("write", "print", "writelines", "writerow", "writerows", "writeheader"),
    *("send", "sendall", "send_bytes", "sendmsg", "sendto"),
)
_RECEIVES = (
    *("read", "readline", "readlines", "read1", "readinto"),
    *("recv", "recv_into", "recv_bytes", "recv_bytes_into", "recvmsg", "recvfrom"),
)


class _Exchange(NamedTuple):
    request: Access
    reply: Access
    end: int  # the number of the next access of that thread


def with_exchange(conflict: Conflict, failing: Observation) -> Conflict | None:
    """The conflict of a request and its reply, where another one is only about who came first; None if none is seen.

    Args:
        conflict: what the threads did to each other.
        failing: all that the failing run accessed.
    """
    about = {one.thing for one in conflict.accesses}
    found = [*_exchanges(failing)]
    for own in found:
        if not about & {own.request.thing, own.reply.thing}:
            continue
        inside = [one for one in found if own.request.number < one.request.number < own.end and _same(own, one)]
        inside = [one for one in inside if one.request.thread != own.request.thread]
        if inside:
            return _conflict(own, inside, failing)
    return None


def sends(access: Access) -> bool:
    """Whether it sends something, or writes it to what is open."""
    return _calls(access, _SENDS)


def receives(access: Access) -> bool:
    """Whether it takes what comes next from what is open, from an iterator or from a queue."""
    methods = (*_RECEIVES, "next", *(("get", "get_nowait") if access.holder_type.endswith("Queue") else ()))
    return access.thing[0] == "object" and _calls(access, methods)


def is_exchange(first: Access, last: Access) -> bool:
    """Whether these are a request and the reading of a reply."""
    return _calls(first, _SENDS) and _calls(last, _RECEIVES)


def exchange_in_words(first: Access, last: Access, other: Access) -> str:
    """What happened, in a sentence.

    Args:
        first: the request.
        last: the reading of its reply.
        other: the request of another thread in between.
    """
    where = f"{first.name} ({at_place(first.place)})"
    there = "there" if first.thing == last.thing else f"from {last.name}"
    return (
        f"Thread {first.thread} sends a request to {where} and reads the reply {there} ({at_place(last.place)}); "
        f"thread {other.thread} sends another one ({at_place(other.place)}) before that reply has come. Whoever reads "
        "first gets the reply that comes first, to whichever request."
    )


def _conflict(own: _Exchange, inside: Sequence[_Exchange], failing: Observation) -> Conflict:
    request, reply, end = own
    accesses = [one for one in failing.accesses if one.thread == request.thread]
    stretch = tuple(
        one for one in failing.accesses if request.number < one.number < end and one.thread != request.thread
    )
    others = tuple(one.request for one in inside)
    reads = tuple(one for one in stretch if one.thing == reply.thing) or others
    first = others[0].number
    return Conflict(
        *(request.thread, Edge(request, others, inferred=False), Edge(reply, reads, inferred=False)),
        *(None, stretch),
        tuple(one for one in accesses if one.number < first),
        tuple(one for one in accesses if one.number > first),
    )


def _exchanges(observed: Observation) -> Iterator[_Exchange]:
    by_thread: dict[str, list[Access]] = {}
    for one in observed.accesses:
        by_thread.setdefault(one.thread, []).append(one)
    for own in by_thread.values():
        request: Access | None = None
        holders: dict[int, int] = {}  # of what has been read from an attribute: the object that has it
        for number, one in enumerate(own):
            if one.thing[0] == "attribute" and one.old.number >= 0:
                holders[one.old.number] = one.thing[1]
            if _calls(one, _SENDS):
                request = one
            elif request is not None and _calls(one, _RECEIVES):
                ends = request.thing[1], one.thing[1]
                one_object = ends[0] == ends[1] or holders.get(ends[0], -1) == holders.get(ends[1], -2)
                if one_object and (request.place.path, request.stack[1:]) == (one.place.path, one.stack[1:]):
                    end = own[number + 1].number if number + 1 < len(own) else observed.accesses[-1].number + 1
                    yield _Exchange(request, one, end)
                request = None


def _same(one: _Exchange, other: _Exchange) -> bool:
    return (one.request.thing, one.reply.thing) == (other.request.thing, other.reply.thing)


def _calls(access: Access, methods: Sequence[str]) -> bool:
    return access.does == "calls" and access.detail.partition("(")[0] in methods
