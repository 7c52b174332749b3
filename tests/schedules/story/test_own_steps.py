"""What a thread can do otherwise by itself: take from a queue in one step, show an object last, go through a copy."""

from __future__ import annotations

import pytest

from replay_dd.schedules.observed.observation import StackFrame, Value
from replay_dd.schedules.story import kinds
from replay_dd.schedules.story.asked_of_loop import help_of_asked_act
from replay_dd.schedules.story.conflict import Conflict, Edge
from replay_dd.schedules.story.look_at_queue import help_of_look_at_queue
from replay_dd.schedules.story.loop_over_copy import help_of_loop
from replay_dd.schedules.story.publication import help_of_publication
from tests.schedules.logs import PASSED
from tests.schedules.story.made_accesses import access, conflict_of, number
from tests.schedules.story.test_victim import seen

QUEUE = ("object", 8, "")
PHONE = Value("", "Phone", 5)
LISTED, LINE, TONE = ("item", 2, "12"), ("attribute", 5, "line"), ("attribute", 5, "tone")


def of_queue(look: str, act: str, kind: str = "Queue", there: int = 1) -> Conflict:
    def call(thread: str, time: int, detail: str, **more: object) -> object:
        return access(thread, time, time, "calls", QUEUE, holder_type=kind, detail=detail, name="Shop.jobs", **more)

    calls = [call("0.1", 4, look, tested=True, reads=True, old=number(there)), call("0.2", 5, "get()", writes=True)]
    return conflict_of([*calls, call("0.1", 6, act, writes=True)], 5, 5)  # type: ignore[list-item]


def test_a_queue_is_not_asked_before_something_is_taken_from_it() -> None:
    words = help_of_look_at_queue(kinds.CHECK_THEN_ACT, of_queue("empty()", "get()"))
    assert words.startswith("call get_nowait() of Shop.jobs (prog.py:6), and take `queue.Empty`")
    assert "empty() says (prog.py:4)" in words
    words = help_of_look_at_queue(kinds.CHECK_THEN_ACT, of_queue("qsize()", "get_nowait()", "LifoQueue"))
    assert words.startswith("take `queue.Empty` for the answer")
    assert "put_nowait() of" in help_of_look_at_queue(kinds.CHECK_THEN_ACT, of_queue("full()", "put(int)"))


@pytest.mark.parametrize(
    ("kind", "conflict"),
    [
        (kinds.ORDER_VIOLATION, of_queue("empty()", "get()")),
        (kinds.CHECK_THEN_ACT, of_queue("empty()", "get()", "Inbox")),
        (kinds.CHECK_THEN_ACT, of_queue("get()", "get()")),
        (kinds.CHECK_THEN_ACT, of_queue("empty()", "task_done()")),
        (kinds.CHECK_THEN_ACT, of_queue("empty()", "get_nowait()", there=0)),  # it clears what is left
    ],
)
def test_other_calls_of_a_queue_have_no_such_help(kind: str, conflict: Conflict) -> None:
    assert help_of_look_at_queue(kind, conflict) == ""


def shown(*, kind: str = kinds.TOO_EARLY, new: Value = PHONE, first: int = 4, late: int = 7) -> str:
    accesses = [
        access("0.1", first, 1, "stores", LISTED, new=new, name="board['12']"),
        access("0.2", 1, 5, "reads", LISTED),
        access("0.2", 2, 6, "reads", LINE, old=Value("nothing", "", -1)),
        access("0.1", late, 7, "stores", LINE, name="Phone.line"),
        access("0.1", late + 2, 8, "stores", TONE, name="Phone.tone"),
    ]
    failing = seen(*accesses)
    return help_of_publication(kind, conflict_of([*failing.accesses], first + 1, first + 1), failing)


def test_an_object_is_shown_after_the_last_that_belongs_to_it() -> None:
    assert shown() == "store board['12'] (prog.py:4) only after prog.py:9: as soon as it is there, others use it"


@pytest.mark.parametrize("holder", [PHONE.number, 99])
def test_what_is_put_into_a_container_of_that_object_belongs_to_it(holder: int) -> None:
    lines, line = Value("dict of 1", "dict", 77), ("item", 77, "1")
    accesses = [
        access("0.1", 4, 1, "stores", LISTED, new=PHONE, name="board['12']"),
        access("0.2", 1, 5, "reads", LISTED),
        access("0.2", 2, 6, "reads", line, old=Value("nothing", "", -1)),
        access("0.1", 6, 7, "reads", ("attribute", holder, "lines"), old=lines),
        access("0.1", 7, 8, "stores", line, name="Phone.lines[1]"),
    ]
    failing = seen(*accesses)
    words = help_of_publication(kinds.TOO_EARLY, conflict_of([*failing.accesses], 5, 5), failing)
    assert words.startswith("store board['12'] (prog.py:4) only after prog.py:7") == (holder == PHONE.number)


def test_what_is_not_of_that_object_does_not_come_before_it() -> None:
    assert shown(new=Value("", "Phone", 6)) == ""
    assert shown(kind=kinds.TORN_UPDATE) == ""
    assert shown(first=12, late=6) == ""  # it stands above: a loop


def loop(**more: object) -> Conflict:
    going = access("0.1", 4, 4, "iterates", ("whole", 1, ""), holder_type="dict", name="Room.guests", reads=True)
    changes = access("0.2", 1, 5, "calls", ("whole", 1, ""), writes=True, detail="pop('ann')")
    return conflict_of([going, changes, going._replace(number=9, global_time=9, time=6, **more)], 5, 5)


def test_a_loop_goes_through_a_copy() -> None:
    assert help_of_loop(kinds.CHANGED_IN_LOOP, loop()).startswith("go through a copy of Room.guests (prog.py:4)")


def test_a_loop_of_a_package_or_over_something_else_has_no_such_help() -> None:
    inside = StackFrame("pack/a.py", "/lib/site-packages/pack/a.py", 9, "run", True)
    own = StackFrame("prog.py", "prog.py", 3, "work", True)
    assert help_of_loop(kinds.CHANGED_IN_LOOP, loop(stack=(inside, own))) == ""
    assert help_of_loop(kinds.CHANGED_IN_LOOP, loop(holder_type="Rows")) == ""
    assert help_of_loop(kinds.CHANGED_IN_LOOP, loop(does="reads")) == ""
    assert help_of_loop(kinds.NON_REPEATABLE_READ, loop()) == ""


def test_an_object_is_added_to_a_container_last_as_well() -> None:
    nothing = Value("nothing", "", -1)
    accesses = [
        access("0.1", 4, 1, "calls", ("whole", 2, ""), detail="append(Phone)", writes=True, name="Board.phones"),
        access("0.2", 1, 5, "iterates", ("whole", 2, ""), reads=True),
        access("0.2", 2, 6, "reads", LINE, old=nothing),
        access("0.1", 7, 7, "stores", LINE, name="Phone.line", holder_type="Phone", old=nothing),
    ]
    failing = seen(*accesses)
    found = conflict_of([*failing.accesses], 5, 5)
    assert kinds.kind_of(found, PASSED) == kinds.TOO_EARLY
    words = help_of_publication(kinds.TOO_EARLY, found, failing)
    assert words.startswith("add to Board.phones (prog.py:4) only after prog.py:7")


def test_to_move_in_a_file_twice_is_no_change_in_two_steps() -> None:
    file = ("file", -1, "data")
    moves = [access("0.1", time, time, "calls", file, detail="seek(0)", writes=True) for time in (4, 9)]
    other = access("0.2", 1, 6, "calls", file, detail="write()", writes=True)
    found = conflict_of([moves[0], other, moves[1]._replace(time=5)], 5, 5)
    assert kinds.kind_of(found, PASSED) == kinds.ORDER_VIOLATION
    wrote = moves[1]._replace(time=5, detail="write()")
    assert kinds.kind_of(conflict_of([moves[0], other, wrote], 5, 5), PASSED) == kinds.TORN_UPDATE


def test_who_asks_a_loop_to_act_lets_it_look_too() -> None:
    def of_future(act: str) -> Conflict:
        return of_queue("done()", act, "asyncio.Future")

    words = help_of_asked_act(kinds.CHECK_THEN_ACT, of_future("asks the loop for set_result(7)"))
    assert words.startswith("look at Shop.jobs in the thread of the loop, too")
    assert "in the place of Shop.jobs.set_result (prog.py:6), hand the loop a function" in words
    assert not help_of_asked_act(kinds.LOST_UPDATE, of_future("asks the loop for set_result(7)"))
    asks = of_future("asks the loop for set_result(7)")
    cancels = access("0", 9, 9, "calls", QUEUE, holder_type="asyncio.Future", detail="cancel()", writes=True)
    order = Conflict("0", None, Edge(cancels, asks.before, inferred=False), None, (*asks.before, *asks.after), (), ())
    assert help_of_asked_act(kinds.ORDER_VIOLATION, order) == words
    assert not help_of_asked_act(kinds.CHECK_THEN_ACT, of_future("set_result(7)"))
