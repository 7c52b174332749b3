"""Items of a queue that are parts of one thing, with others in between."""

from __future__ import annotations

from dataclasses import replace

import pytest

from replay_dd.schedules.observed.observation import Access, StackFrame
from replay_dd.schedules.story import kinds
from replay_dd.schedules.story.conflict import Conflict, Edge
from replay_dd.schedules.story.kinds import kind_of
from replay_dd.schedules.story.parts import help_of_parts, with_parts
from replay_dd.schedules.story.sentences import summary_of
from tests.schedules.logs import PASSED
from tests.schedules.story.made_accesses import access

QUEUE = ("object", 8, "")


def puts(thread: str, line: int, detail: str = "put('x')") -> Access:
    return access(thread, line, line, "calls", QUEUE, detail=detail, name="frames", writes=True)


def called(at: Access, line: int) -> Access:
    """The same in a helper that is called at a line."""
    frame = StackFrame("prog.py", "prog.py", 3, "send", True)
    return at._replace(
        place=replace(at.place, line=3, function="send"), stack=(frame, at.stack[0]._replace(line=line), *at.stack[1:])
    )


def conflict_of(first: Access, last: Access, *, other: Access | None = None, inferred: bool = False) -> Conflict:
    others = (other or puts("0.2", 4),)
    edges = (Edge(first, others, inferred), Edge(last, others, inferred))
    return Conflict("0.1", *edges, None, others, (first,), (last,))


HEADER, BODY = puts("0.1", 4), puts("0.1", 5)


def test_two_items_of_one_call_belong_together() -> None:
    conflict = conflict_of(HEADER, BODY)
    assert kind_of(conflict, PASSED) == kinds.TORN_UPDATE
    words = summary_of(kinds.TORN_UPDATE, conflict)
    assert words == (
        "Thread 0.1 puts two items that belong together into frames (prog.py:4 and prog.py:5); thread 0.2 puts one in "
        "between (prog.py:4)."
    )
    assert help_of_parts(HEADER).startswith("put both into frames as one item")


def test_so_do_items_that_one_helper_puts_for_it() -> None:
    assert kind_of(conflict_of(called(HEADER, 4), called(BODY, 5)), PASSED) == kinds.TORN_UPDATE


@pytest.mark.parametrize(
    "conflict",
    [
        conflict_of(HEADER, HEADER),  # in a loop: tasks of their own
        conflict_of(BODY, HEADER),  # of the next round
        conflict_of(called(HEADER, 4), called(BODY, 4)),
        conflict_of(HEADER, BODY, other=puts("0.2", 9, "get()")),
        conflict_of(HEADER, BODY, inferred=True),  # the other one may only have come between
        conflict_of(HEADER, BODY._replace(place=replace(BODY.place, function="rest"), stack=called(BODY, 9).stack)),
    ],
)
def test_other_items_are_only_out_of_order(conflict: Conflict) -> None:
    assert kind_of(conflict, PASSED) == kinds.ORDER_VIOLATION


def test_what_stands_in_for_an_edge_counts_if_both_orders_are_proved() -> None:
    guessed = conflict_of(HEADER, BODY, inferred=True)
    assert kind_of(with_parts(guessed, [HEADER, BODY]), PASSED) == kinds.TORN_UPDATE
    assert with_parts(guessed, [BODY]) is guessed
    tasks = conflict_of(HEADER, HEADER, inferred=True)
    assert with_parts(tasks, [HEADER]) is tasks
    assert with_parts(guessed._replace(left=None), [BODY]).left is None
