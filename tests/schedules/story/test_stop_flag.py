"""Flags that end a loop although a queue still has items for it."""

from __future__ import annotations

import pytest

from replay_dd.schedules.observed.observation import Access
from replay_dd.schedules.story import kinds
from replay_dd.schedules.story.conflict import Conflict, Edge
from replay_dd.schedules.story.stop_flag import ends_no_wait, help_of_stop_flag
from tests.schedules.story.made_accesses import access
from tests.schedules.story.test_victim import seen

QUEUE = ("object", 8, "")
PUT = access("0", 1, 1, "calls", QUEUE, holder_type="Queue", detail="put(str)", name="Sender.queue")
GET = access("0.1", 5, 5, "calls", QUEUE, holder_type="Queue", detail="get()", name="Sender.queue")
PUT_TOO = PUT._replace(thread="0.1")
SET = access("0", 3, 3, "stores", name="Sender.stopping")
SET = SET._replace(new=SET.new._replace(text="True", type="bool"))
LOOK = access("0.1", 4, 4, "reads", tested=True, name="Sender.stopping")


def told(*accesses: Access, kind: str = kinds.ORDER_VIOLATION, passing: tuple[Access, ...] = (PUT, GET)) -> str:
    failing = seen(*accesses)
    looks = [one for one in failing.accesses if one.thing == LOOK.thing]
    conflict = Conflict("0", Edge(looks[0], tuple(looks[1:]), inferred=False), None, None, (), (), ())
    return help_of_stop_flag(kind, conflict, failing, seen(*passing))


def test_a_flag_that_is_set_while_items_wait_is_no_end() -> None:
    words = told(PUT, SET, LOOK)
    assert "put a sentinel into Sender.queue instead of setting Sender.stopping" in words
    assert "(prog.py:4)" in words
    event = SET._replace(does="calls", holder_type="Event", detail="set()")
    assert "put a sentinel" in told(PUT, event, LOOK)


@pytest.mark.parametrize(
    "accesses",
    [
        (PUT, GET, SET, LOOK),  # nothing is left
        (PUT, GET, GET, SET, LOOK),  # nor where somebody has asked for more, in vain
        (PUT, LOOK, SET),  # it has looked before
        (PUT, SET, LOOK._replace(tested=False)),
        (PUT, SET._replace(new=LOOK.old), LOOK),
    ],
)
def test_there_is_no_such_help_where_nothing_waits_or_no_flag_ends_the_loop(accesses: tuple[Access, ...]) -> None:
    assert told(*accesses) == ""


def test_who_waits_for_an_item_sees_no_flag() -> None:
    inside = access("0.1", 5, 6, "wants", ("lock", 9, ""))
    words = told(PUT, LOOK, SET, GET, inside)
    assert words.startswith("put a sentinel into Sender.queue when Sender.stopping is set")
    assert ends_no_wait(words)
    assert told(PUT, LOOK, SET, GET, inside, kind=kinds.CHECK_THEN_ACT) == words
    assert told(PUT, SET, LOOK, kind=kinds.CHECK_THEN_ACT) == ""
    assert not ends_no_wait(told(PUT, SET, LOOK))
    for accesses in ((PUT, LOOK, SET, GET, inside._replace(place=SET.place)), (PUT, LOOK, SET, GET, PUT_TOO)):
        assert told(*accesses) == "", "it does not wait there to the end"


def test_there_is_no_such_help_in_other_stories() -> None:
    assert told(PUT, SET, LOOK, kind=kinds.LOST_UPDATE) == ""
    assert told(PUT, SET, LOOK, passing=(PUT,)) == ""


def test_a_flag_that_is_set_while_a_list_has_items_is_no_end_either() -> None:
    """The loop empties a list in each round, and looks at the flag only then."""
    tray = ("whole", 8, "")
    put = access("0.2", 2, 2, "calls", tray, detail="append('letter')", name="Sender.tray")
    empty = access("0.1", 1, 1, "stores", ("attribute", 1, "tray"), name="Sender.tray")
    empty = empty._replace(new=empty.new._replace(text="[]", type="list"))
    words = told(empty, put, SET, LOOK)
    assert words.startswith("take what is left in Sender.tray once more when Sender.stopping is found set")
    assert "(prog.py:4)" in words
    clear = empty._replace(does="calls", thing=tray, detail="clear()")
    assert told(clear, put, SET, LOOK) == words
    elsewhere = empty._replace(stack=())
    for accesses in ((put, empty, SET, LOOK), (elsewhere, put, SET, LOOK), (empty, SET, LOOK, put), (put, SET, LOOK)):
        assert told(*accesses) == ""
    assert told(empty, put._replace(thread="0.1"), SET, LOOK) == ""
