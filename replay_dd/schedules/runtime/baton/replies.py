"""Replies whose length is not the recorded one: a number has a digit more, a name is another one.

Rules of this module:

* A stream has no messages. But where the recorded run read something and then wrote to the same descriptor, or found
  its end, what it read was the end of a reply: whoever lacks the rest of one reads on.
* So a replay takes a few bytes more there if the reply is longer, and is content with fewer if no more come. Anywhere
  else it takes what the recorded run took: the next bytes belong to what is read next.
* A server may also send unasked, and be faster than it was. So bytes that could be the next thing that the recorded run
  read are not taken for the end of a reply.
* Whatever differs is told, in case the program takes another path because of it.
"""

from __future__ import annotations

from ..channel import ARRIVAL, FROM, TO

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from typing import Any

_MOST_MORE = 512  # less than a part of a larger message that arrives on its own (RFC 9293, 3.7.1: 536 bytes and more)
_MOST_MORE_OF_SHORT = 16  # a number or two


class Reply:
    """What the log knows of one read of a stream.

    Args:
        amount: how many bytes it got.
        ends: whether a reply ended there.
        following: the next read of the same stream.
    """

    __slots__ = ("amount", "ends", "following")

    def __init__(self, amount: int, ends: bool, following: Reply | None) -> None:
        self.amount = amount
        self.ends = ends
        self.following = following

    def has_grown(self, more: int) -> bool:
        """Whether so many bytes more belong to this reply, and not to what was read next."""
        if not self.ends or more >= _MOST_MORE or more > max(_MOST_MORE_OF_SHORT, self.amount // 2):
            return False
        following, total = self.following, 0
        while following is not None and total < more:
            total += following.amount
            following = following.following
        return total != more


def replies_in(records: list[tuple[Any, ...]]) -> dict[tuple[str, int], Reply]:
    """What a log knows of each read, by the thread and the number of its wait."""
    found: dict[tuple[str, int], Reply] = {}
    latest: dict[str, Reply] = {}  # by descriptor
    goes_on: set[str] = set()  # descriptors of which more is read next
    for record in reversed(records):
        if record[0] != ARRIVAL or len(record) < 7 or not isinstance(record[5], int):
            continue
        _, thread, number, _, _, amount, which = record
        way, _, descriptor = which.partition(" ")
        if way == TO and amount >= 0:
            goes_on.discard(descriptor)
        elif way == FROM and amount > 0:
            reply = Reply(amount, descriptor not in goes_on, latest.get(descriptor))
            found[thread, number] = latest[descriptor] = reply
            goes_on.add(descriptor)
        elif way == FROM and amount == 0:
            goes_on.discard(descriptor)  # its end
    return found
