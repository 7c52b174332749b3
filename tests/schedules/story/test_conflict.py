"""The two sides of a conflict: what of the others' stretch belongs to each."""

from __future__ import annotations

from dataclasses import replace

import pytest

from replay_dd.schedules.isolating.answer import GuiltySwitch
from replay_dd.schedules.isolating.failing_range import FailingRange
from replay_dd.schedules.model import Place
from replay_dd.schedules.observed.observation import NOTHING_OBSERVED
from replay_dd.schedules.story import kinds
from replay_dd.schedules.story.conflict import Conflict, find_conflict, until_closed, with_deciding_look
from replay_dd.schedules.story.kinds import kind_of
from replay_dd.schedules.story.victim import conflict_of_victim
from tests.schedules.logs import PASSED
from tests.schedules.story.made_accesses import X, Y, access, conflict_of, number, switch
from tests.schedules.story.test_victim import NOTHING, seen


def test_a_file_that_is_opened_anew_is_not_the_one_that_was_closed() -> None:
    """A log is moved away, and another one gets its name."""
    path = ("file", -1, "/tmp/log")
    write = access("0.1", 1, 1, "calls", path, detail="write()", writes=True, reads=True)
    close = access("0.2", 1, 5, "calls", path, detail="close()", writes=True)
    opened = access("0.2", 2, 6, "open", path, detail="open(..., 'w')", writes=True)
    late = write._replace(time=5, global_time=7, old=NOTHING)
    failing = seen(write, close, opened, late)
    for conflict in (
        find_conflict(failing, GuiltySwitch(replace(switch(5), global_time=5), None), None),
        conflict_of_victim(failing, NOTHING_OBSERVED, failing.accesses[3]),
    ):
        assert conflict is not None
        assert conflict.right is not None
        assert conflict.right.others == (failing.accesses[1],)
        assert kind_of(conflict, PASSED) == kinds.INVALIDATED
    assert until_closed(write, [close, opened]) == (close, opened)  # it is open
    reads = opened._replace(detail="open(..., 'r')", writes=False)
    own = close._replace(detail="close() at the end of with")
    assert until_closed(late, [reads, close, opened, own, opened]) == (reads, close)  # it closes its own one later
    assert until_closed(late, [opened, own]) == (opened, own)


def of_two_things(*, again: bool = False, **look: object) -> Conflict:
    """Thread 0.1 looks at x in line 2, reads it again in line 4, and changes y; thread 0.2 changes both meanwhile."""
    meanwhile = [access("0.2", 1, 5, "stores", X), access("0.2", 2, 6, "stores", Y)]
    own = [access("0.1", 2, 2, "reads", tested=True)._replace(**look), access("0.1", 4, 4, "reads", tested=again)]
    return conflict_of([*own, *meanwhile, access("0.1", 5, 9, "stores", Y)], 5, 5)


def test_the_look_that_decided_is_told_and_not_what_reads_the_same_once_more() -> None:
    conflict = of_two_things()
    assert conflict.left is not None
    assert conflict.left.access.place.line == 4
    told = with_deciding_look(conflict)
    assert told.left is not None
    assert told.left.access.place.line == 2
    assert told == conflict._replace(left=conflict.left._replace(access=told.left.access))


@pytest.mark.parametrize(
    "look",
    [
        {"tested": False},
        {"old": number(7)},
        {"thing": Y},
        {"does": "stores", "writes": True},
        {"place": Place("prog.py", "prog.py", 2, 1, "other", "LOAD_ATTR", True)},
        {"place": Place("prog.py", "prog.py", 6, 1, "work", "LOAD_ATTR", True)},
    ],
    ids=["decides nothing", "found something else", "another thing", "changes it", "another function", "earlier call"],
)
def test_other_looks_did_not_decide(look: dict[str, object]) -> None:
    conflict = of_two_things(**look)
    assert with_deciding_look(conflict) == conflict


def test_a_look_that_decides_itself_is_told() -> None:
    conflict = of_two_things(again=True)
    assert with_deciding_look(conflict) == conflict


def test_the_look_of_one_thing_stays_as_it_is() -> None:
    meanwhile = access("0.2", 1, 5, "stores")
    own = [access("0.1", 2, 2, "reads", tested=True), access("0.1", 4, 4, "reads")]
    conflict = conflict_of([*own, meanwhile, access("0.1", 5, 9, "stores")], 5, 5)
    assert with_deciding_look(conflict) == conflict


def test_the_call_in_which_a_thread_is_interrupted_is_not_what_came_before_it() -> None:
    """An event is set: inside, at its lock, another thread is let in, which looks at it and waits."""
    event = ("object", 5, "")
    sets = access("0.1", 4, 4, "calls", event, writes=True, detail="set()")
    looks = access("0.2", 1, 6, "calls", event, reads=True, detail="wait(0.1)")
    inside = replace(switch(5), place=replace(sets.place, operation=True))
    runs = FailingRange(
        *(replace(inside, time=4), inside, "deadlock", True, True, PASSED, PASSED),
        begins_turn=False,
    )
    conflict = find_conflict(seen(sets, looks), GuiltySwitch(inside, None), runs)
    assert conflict.right is not None
    assert conflict.right.access.detail == "set()"
    assert conflict.left is None
    assert kind_of(conflict, PASSED) == kinds.ORDER_VIOLATION


@pytest.mark.parametrize(
    ("value", "holder", "is_left"),
    [
        (("attribute", 5, "value"), "c_int", False),
        (("item", 5, "0"), "c_int_Array_4", False),
        (("attribute", 5, "value"), "Counter", True),
    ],
)
def test_a_store_that_a_lock_of_the_library_comes_before_is_not_done_yet(
    value: tuple[str, int, str], holder: str, is_left: bool
) -> None:
    """So it is with what `multiprocessing` shares. Another attribute is set before a lock in the same line."""
    reads = access("0.1", 3, 3, "reads", value, holder_type=holder)
    stores = access("0.1", 4, 4, "stores", value, holder_type=holder)
    others = access("0.2", 1, 6, "stores", value, holder_type=holder)
    inside = replace(switch(5), place=replace(stores.place, operation=True))
    runs = FailingRange(
        *(replace(inside, time=4), inside, "ValueError", True, True, PASSED, PASSED),
        begins_turn=False,
    )
    conflict = find_conflict(seen(reads, stores, others), GuiltySwitch(inside, None), runs)
    assert (conflict.right is None) is is_left
    assert (kind_of(conflict, PASSED) == kinds.LOST_UPDATE) is not is_left


def test_the_stretch_is_over_when_the_thread_goes_on_even_if_it_touches_nothing_more() -> None:
    """It was stopped inside of its last call, which another thread closes later."""
    sends = access("0.1", 4, 4, "calls", ("object", 4, ""), detail="sendall()", reads=True, writes=True)
    others = sends._replace(thread="0.2", time=1, number=6, global_time=6)
    closes = sends._replace(thread="0", time=9, number=9, global_time=9, detail="close()", reads=False)
    failing = seen(sends, others, closes)
    at = sends.place
    inside = replace(switch(5), global_time=5, place=replace(at, operation=True))
    for resumed, stretch in (({("0.1", 5): 8}, 1), ({("0.1", 5): 12}, 2), ({("0.2", 5): 8}, 2), ({}, 2)):
        found = find_conflict(replace(failing, resumed=resumed), GuiltySwitch(inside, None), None)
        assert found.stretch == failing.accesses[1 : 1 + stretch]
        assert found.right is not None
        assert found.right.others == found.stretch
    later = access("0.1", 6, 12, "reads", ("attribute", 1, "z"))
    goes_on = replace(seen(sends, others, closes, later), resumed={("0.1", 5): 8})
    assert find_conflict(goes_on, GuiltySwitch(inside, None), None).stretch == goes_on.accesses[1:3]
