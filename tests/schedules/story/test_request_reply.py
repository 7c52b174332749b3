"""Requests and replies of two threads at one connection."""

from __future__ import annotations

from dataclasses import replace

import pytest

from replay_dd.schedules.observed.observation import Access
from replay_dd.schedules.story import kinds
from replay_dd.schedules.story.conflict import Conflict, Edge
from replay_dd.schedules.story.kinds import kind_of
from replay_dd.schedules.story.request_reply import with_exchange
from replay_dd.schedules.story.sentences import summary_of
from tests.schedules.logs import PASSED
from tests.schedules.story.made_accesses import Value, access
from tests.schedules.story.test_victim import seen

INPUT, OUTPUT, SOCKET = ("object", 2, ""), ("object", 3, ""), ("object", 4, "")


def calls(thread: str, line: int, thing: tuple[str, int, str], method: str) -> Access:
    return access(thread, line, 0, "calls", thing, detail=f"{method}()", reads=method[0] == "r")


def finds(thread: str, line: int, number: int, holder: int = 1) -> Access:
    return access(thread, line, 0, "reads", ("attribute", holder, str(number)), old=Value("", "TextIOWrapper", number))


def exchange(thread: str, holder: int = 1) -> list[Access]:
    return [
        finds(thread, 3, 2),
        calls(thread, 4, INPUT, "write"),
        finds(thread, 5, 3, holder),
        calls(thread, 6, OUTPUT, "readline"),
        access(thread, 9, 0, "stores", ("attribute", 1, f"answer of {thread}")),
    ]


def told(*accesses: Access) -> Conflict | None:
    failing = seen(*accesses)
    sent = [one for one in failing.accesses if one.detail in ("write()", "sendall()")]
    order = Conflict(sent[0].thread, None, Edge(sent[0], tuple(sent[1:]), inferred=False), None, (), (), ())
    assert kind_of(order, PASSED) == kinds.ORDER_VIOLATION
    return with_exchange(order, failing)


def test_a_request_comes_between_another_one_and_its_reply() -> None:
    one, other = exchange("0.1"), exchange("0.2")
    conflict = told(*one[:4], *other[:4], one[4], other[4])
    assert conflict is not None
    assert kind_of(conflict, PASSED) == kinds.MIXED_REPLIES
    assert conflict.left is not None
    assert conflict.right is not None
    assert (conflict.thread, conflict.left.access.place.line, conflict.right.access.place.line) == ("0.1", 4, 6)
    assert {other.thread for other in conflict.left.others} == {"0.2"}
    words = summary_of(kinds.MIXED_REPLIES, conflict, ())
    assert [f"prog.py:{line}" in words for line in (4, 6)] == [True, True]


def test_a_socket_is_both_ends_of_a_connection() -> None:
    one, other = ([calls(thread, 4, SOCKET, "sendall"), calls(thread, 5, SOCKET, "recv")] for thread in ("0.1", "0.2"))
    assert told(*one, *other) is not None


@pytest.mark.parametrize(
    "accesses",
    [
        [*exchange("0.1"), *exchange("0.2")],
        [*exchange("0.1", 7)[:4], *exchange("0.2", 7)[:4]],
        [*exchange("0.1")[:4], *exchange("0.2")[:2]],
    ],
    ids=["one after the other", "of two objects", "nobody reads"],
)
def test_what_does_not_belong_together(accesses: list[Access]) -> None:
    assert told(*accesses) is None


def test_who_reads_in_another_function_may_read_for_all() -> None:
    one, other = exchange("0.1"), exchange("0.2")
    for own in (one, other):
        own[3] = own[3]._replace(place=replace(own[3].place, path="reader.py"))
    assert told(*one[:4], *other[:4]) is None
