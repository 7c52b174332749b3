"""Two threads that write to one stream, or take from it, in several steps."""

from __future__ import annotations

import pytest

from replay_dd.schedules.observed.observation import Access
from replay_dd.schedules.story import kinds
from replay_dd.schedules.story.kinds import kind_of
from replay_dd.schedules.story.sentences import summary_of
from tests.schedules.logs import PASSED
from tests.schedules.story.made_accesses import access, conflict_of

STREAM = ("object", 4, "")


def calls(thread: str, time: int, at: int, method: str, *, writes: bool = True, of: str = "socket") -> Access:
    one = access(thread, time, at, "calls", STREAM, detail=f"{method}()", reads=True, writes=writes, name="stream")
    return one._replace(holder_type=of)


def told(own: str, other: str, *, then: str = "", writes: bool = True, of: str = "socket") -> tuple[str, str]:
    """The kind, and its sentence; a thread calls methods of a stream, and another one comes between."""
    methods = (own, 1, 1), (then or own, 2, 9)
    first, last = (calls("0.1", time, at, method, writes=method != "tell", of=of) for method, time, at in methods)
    conflict = conflict_of([first, calls("0.2", 1, 5, other, writes=writes, of=of), last], 1, 2)
    kind = kind_of(conflict, PASSED)
    return kind, summary_of(kind, conflict)


@pytest.mark.parametrize("method", ["sendall", "write", "send_bytes", "print"])
def test_the_parts_of_two_messages_get_mixed(method: str) -> None:
    kind, words = told(method, method)
    assert kind == kinds.TORN_UPDATE
    assert words == (
        "Thread 0.1 writes to stream (prog.py:1 and prog.py:2) in two steps; thread 0.2 writes there in between "
        "(prog.py:1), so that their parts are mixed."
    )


def test_who_looks_in_between_sees_only_the_first_part() -> None:
    kind, words = told("write", "getvalue", writes=False)
    assert kind == kinds.TORN_UPDATE
    assert words.endswith("in two steps; thread 0.2 looks in between (prog.py:1) and sees only the first.")


def test_what_changes_in_between_in_another_way_does_not_only_look() -> None:
    kind, words = told("write", "truncate")
    assert kind == kinds.TORN_UPDATE
    assert words.endswith("in two steps; thread 0.2 changes it in between (prog.py:1).")


@pytest.mark.parametrize("method", ["recv", "readline", "recv_bytes", "next"])
def test_another_thread_takes_what_would_have_come_next(method: str) -> None:
    kind, words = told(method, method)
    assert kind == kinds.TORN_READ
    assert words == (
        "Thread 0.1 takes from stream (prog.py:1 and prog.py:2) in two steps; thread 0.2 takes in between (prog.py:1) "
        "what would have come next."
    )


def test_what_is_only_looked_at_is_not_taken() -> None:
    assert told("tell", "seek")[0] == kinds.NON_REPEATABLE_READ
    assert told("tell", "seek", then="read")[0] != kinds.TORN_READ


def test_what_comes_next_in_a_queue_is_taken_by_get() -> None:
    assert told("get", "get", of="LifoQueue")[0] == kinds.TORN_READ
    assert told("get", "get", of="ContextVar")[0] != kinds.TORN_READ
