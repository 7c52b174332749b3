"""The kinds of failures of containers: what is taken out, put back, replaced, or gone through."""

from __future__ import annotations

import pytest

from replay_dd.schedules.observed.observation import Value
from replay_dd.schedules.story import kinds
from replay_dd.schedules.story.kinds import kind_of
from replay_dd.schedules.story.sentences import summary_of
from tests.schedules.logs import PASSED
from tests.schedules.story.made_accesses import NOTHING, Y, access, conflict_of, number, on_line


def test_an_item_and_its_container_are_one_thing_if_the_container_changes() -> None:
    item = access("0.1", 1, 1, "reads", ("item", 3, "'a'"))
    cleared = access("0.2", 1, 2, "calls", ("whole", 3, ""), writes=True, detail="clear()")
    measured = access("0.2", 1, 2, "calls", ("whole", 3, ""), reads=True, detail="len()")
    other = access("0.2", 1, 2, "stores", ("item", 3, "'b'"))
    assert item.conflicts(cleared)
    assert not item.conflicts(measured)
    assert not item.conflicts(other)
    assert measured.conflicts(other._replace(old=NOTHING))
    assert not item.conflicts(cleared._replace(thing=("whole", 4, "")))


def test_an_item_that_another_thread_has_taken_out_is_used_after_that() -> None:
    item = ("item", 7, "'k'")
    made = access("0.1", 1, 1, "stores", item)
    other = access("0.2", 1, 5, "deletes", item, new=NOTHING)
    late = access("0.1", 2, 6, "deletes", item, old=NOTHING)
    conflict = conflict_of([made, other, late], 2, 2)
    assert kind_of(conflict, PASSED) == kinds.INVALIDATED
    assert "after thread 0.2 has taken it away" in summary_of(kinds.INVALIDATED, conflict)


def test_what_one_call_takes_out_and_puts_back_is_missing_in_between() -> None:
    """``order.remove(key); order.append(key)``: nothing was looked at that no longer holds."""
    whole = ("whole", 7, "")
    takes = access("0.1", 4, 4, "calls", whole, reads=True, writes=True, detail="remove('a')", old=number("ab"))
    other = takes._replace(thread="0.2", number=5, global_time=5, old=number("b"), new=number("b"))
    adds = access("0.1", 5, 9, "calls", whole, writes=True, detail="append('a')")
    back = conflict_of([takes, other, adds], 5, 5)
    assert kind_of(back, PASSED) == kinds.TORN_UPDATE
    assert "in two steps; thread 0.2 looks in between" in summary_of(kinds.TORN_UPDATE, back)
    for accesses in (
        [takes._replace(old=number("b"), new=number("b")), other._replace(new=number("")), adds],  # it took nothing
        [takes, other, adds._replace(detail="remove('c')", reads=True)],
        [takes, other, adds._replace(place=on_line(3))],  # in the next call
    ):
        assert kind_of(conflict_of(accesses, 5, 5), PASSED) == kinds.CHECK_THEN_ACT


def test_what_is_added_to_a_container_after_another_was_put_in_its_place() -> None:
    """``self.pending.append(record)``, while another thread stores a new list in ``self.pending``."""
    old, whole = Value("list of 1", "list", 7), ("whole", 7, "")
    gets = access("0.1", 4, 4, "reads", old=old)
    replaces = access("0.2", 1, 5, "stores")
    sends = access("0.2", 2, 6, "reads", whole)
    adds = access("0.1", 5, 9, "calls", whole, writes=True, detail="append(1)")
    late = conflict_of([gets, replaces, sends, adds], 5, 5)
    assert kind_of(late, PASSED) == kinds.INVALIDATED
    told = (
        "Thread 0.1 finds a list in Thing.x (prog.py:4), but changes it (prog.py:5) only after thread 0.2 has replaced"
    )
    assert summary_of(kinds.INVALIDATED, late).startswith(told)
    assert summary_of(kinds.INVALIDATED, late).endswith("there (prog.py:1).")
    looked = conflict_of([gets._replace(tested=True), replaces, sends, adds], 5, 5)
    assert kind_of(looked, PASSED) == kinds.CHECK_THEN_ACT
    of_another = conflict_of([gets._replace(old=old._replace(number=8)), replaces, sends, adds], 5, 5)
    assert kind_of(of_another, PASSED) == kinds.CHECK_THEN_ACT


def test_a_container_that_is_gone_through_and_then_replaced_loses_what_was_added() -> None:
    items = ("whole", 7, "")
    accesses = [
        access("0.1", 4, 4, "iterates", items, reads=True),
        access("0.2", 1, 5, "calls", items, writes=True, detail="append(1)"),
        access("0.2", 2, 6, "reads"),
        access("0.1", 5, 9, "stores", old=Value("list of 2", "list", 7), new=Value("[]", "list", 8)),
    ]
    found = conflict_of(accesses, 5, 5)
    assert kind_of(found, PASSED) == kinds.LOST_UPDATE
    assert "and then replaces it" in summary_of(kinds.LOST_UPDATE, found)
    accesses[3] = accesses[3]._replace(old=Value("list of 2", "list", 9))
    assert kind_of(conflict_of(accesses, 5, 5), PASSED) == kinds.CHECK_THEN_ACT


@pytest.mark.parametrize(("detail", "kind"), [("enumerate()", kinds.CHECK_THEN_ACT), ("copy()", kinds.LOST_UPDATE)])
def test_who_looks_for_a_place_in_a_container_and_stores_there_acts_on_a_check(detail: str, kind: str) -> None:
    items, item = ("whole", 7, ""), ("item", 7, "2")
    accesses = [
        access("0.1", 4, 4, "calls", items, reads=True, detail=detail),
        access("0.2", 1, 5, "stores", item),
        access("0.1", 5, 9, "stores", item),
    ]
    assert kind_of(conflict_of(accesses, 5, 5), PASSED) == kind


def test_to_take_out_what_others_have_taken_already_is_to_act() -> None:
    look, use = access("0.1", 4, 4, "reads"), access("0.1", 5, 9, "reads", Y)
    meanwhile = [access("0.2", 1, 5, "stores"), access("0.2", 2, 6, "stores", Y)]
    takes_out = use._replace(does="calls", detail="pop('key', None)")
    assert kind_of(conflict_of([look, *meanwhile, use], 5, 5), PASSED) == kinds.TORN_READ
    assert kind_of(conflict_of([look, *meanwhile, takes_out], 5, 5), PASSED) == kinds.CHECK_THEN_ACT


def test_a_file_that_one_call_takes_away_and_makes_anew_is_missing_in_between() -> None:
    """As a log is rotated: what was renamed is not computed from, so no update is lost."""
    log = ("file", -1, "/tmp/app.log")
    away = access("0.1", 4, 4, "os.rename", log, reads=True, writes=True, new=NOTHING)
    meanwhile = access("0.2", 1, 5, "os.rename", log, reads=True, writes=True, old=NOTHING, new=NOTHING)
    anew = access("0.1", 5, 6, "open", log, writes=True)
    assert kind_of(conflict_of([away, meanwhile, anew], 5, 5), PASSED) == kinds.TORN_UPDATE
    looks = away._replace(new=number(2))
    assert kind_of(conflict_of([looks, meanwhile, anew], 5, 5), PASSED) == kinds.LOST_UPDATE
