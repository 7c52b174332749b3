"""A queue whose consumer stops at a sentinel: what matters is which producer was first."""

from __future__ import annotations

from replay_dd.schedules.story import kinds
from replay_dd.schedules.story.conflict import Conflict, Edge
from replay_dd.schedules.story.kinds import kind_of
from replay_dd.schedules.story.links import Link, Links
from replay_dd.schedules.story.sentences import summary_of, without_promise
from replay_dd.schedules.story.sentinel import as_proved, between_producers
from tests.schedules.logs import PASSED
from tests.schedules.story.made_accesses import access
from tests.schedules.story.test_victim import seen

QUEUE = ("object", 5, "")


def call(thread: str, line: int, does: str, kind: str = "Queue") -> object:
    return access(thread, line, 0, "calls", QUEUE, writes=True, detail=does, holder_type=kind, name="pages")


def conflict(kind: str = "Queue", third: str = "0.3") -> tuple[Conflict, tuple[object, ...]]:
    """0.2 puts its sentinel, 0.1 takes it, and a third thread puts two pages more."""
    failing = seen(
        call("0.2", 12, "put(None)", kind),  # type: ignore[arg-type]
        call("0.1", 17, "get()", kind),  # type: ignore[arg-type]
        call(third, 11, "put('a')", kind),  # type: ignore[arg-type]
        call(third, 11, "put('b')", kind),  # type: ignore[arg-type]
    )
    put, get, *_ = failing.accesses
    shown = Conflict("0.2", Edge(put, (get,), inferred=False), None, None, (get,), (put,), ())
    found = between_producers(shown, failing)
    return found if found is not None else shown, failing.accesses


def test_a_producer_came_before_another_one_was_done() -> None:
    found, (put, _, first, last) = conflict()
    assert found.left is not None
    assert (found.thread, found.left.access, found.left.others) == ("0.2", put, (first, last))
    assert kind_of(found, PASSED) == kinds.ORDER_VIOLATION
    told = summary_of(kinds.ORDER_VIOLATION, found)
    assert "Thread 0.2 calls put() of pages (prog.py:12) before thread 0.3 calls put() of pages (prog.py:11)" in told
    assert told.endswith("(prog.py:11); the other way round it passes.")
    assert without_promise(told).endswith("(prog.py:11).")  # where that was tried, and not proved


def test_it_is_told_only_if_the_order_of_the_two_is_proved() -> None:
    found, (put, _, first, _) = conflict()
    proved = as_proved(found, Links((Link(put, first, True),)))  # type: ignore[arg-type]
    assert proved is not None
    assert proved.left is not None
    assert proved.left.others == (first,)
    assert as_proved(found, Links((Link(put, first, False, "it fails, too"),))) is None  # type: ignore[arg-type]
    assert as_proved(found, Links()) is None


def test_other_queues_and_the_same_threads_tell_nothing() -> None:
    for found, (_, get, *_) in (conflict("LifoQueue"), conflict(third="0.2"), conflict(third="0.1")):
        assert found.left is not None
        assert found.left.others == (get,)
