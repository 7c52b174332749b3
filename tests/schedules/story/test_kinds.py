"""The conflict at the edges of a failing range, and its kind in the field's words."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from replay_dd.schedules.model import Place
from replay_dd.schedules.observed.observation import Access, Value
from replay_dd.schedules.story import kinds
from replay_dd.schedules.story.conflict import Conflict, with_own_look
from replay_dd.schedules.story.kinds import essential, kind_of
from replay_dd.schedules.story.sentences import summary_of
from replay_dd.schedules.story.words import Letters
from tests.schedules.logs import PASSED
from tests.schedules.story.made_accesses import NOTHING, X, Y, access, conflict_of, number, on_line, shape

STORES_X = [access("0.2", 1, 5, "stores"), access("0.2", 2, 6, "calls", Y, reads=False, writes=True)]
TAKES_Y_AWAY = [access("0.2", 1, 5, "stores"), access("0.2", 2, 6, "stores", Y, new=number(None))]
OF_TWO_THREADS = [access("0.2", 1, 5, "stores"), access("0.3", 2, 6, "stores", Y)]


@pytest.mark.parametrize(
    ("conflict", "kind"),
    [
        (shape("reads", "stores", "stores"), kinds.LOST_UPDATE),
        (shape("reads", "stores", "stores", tested=True), kinds.CHECK_THEN_ACT),
        (shape("checks", "stores", "reads", tested=True), kinds.CHECK_THEN_ACT),
        (shape("reads", "stores", "reads"), kinds.NON_REPEATABLE_READ),
        (shape("reads", "stores", "stores", old=NOTHING), kinds.CHECK_THEN_ACT),  # it raised an exception there
        (shape("reads", "deletes", "deletes"), kinds.CHECK_THEN_ACT),
        (shape("stores", "reads", "stores"), kinds.TORN_UPDATE),
        (shape("stores", "reads", "stores", right_thing=Y), kinds.TORN_UPDATE),
        (shape("reads", "stores", "reads", right_thing=Y), kinds.TORN_READ),
        # A cache compares the key before it gives the value; another thread has replaced both meanwhile.
        (shape("reads", "stores", "reads", right_thing=Y, tested=True), kinds.TORN_READ),
        (shape("reads", "stores", "reads", right_thing=Y, tested=True, old=number(True)), kinds.CHECK_THEN_ACT),
        (shape("reads", "", "reads", right_thing=Y, tested=True, others=STORES_X), kinds.CHECK_THEN_ACT),
        (shape("reads", "", "reads", right_thing=Y, tested=True, others=TAKES_Y_AWAY), kinds.INVALIDATED),
        (shape("reads", "", "reads", right_thing=Y, tested=True, others=OF_TWO_THREADS), kinds.CHECK_THEN_ACT),
        (
            shape("reads", "", "reads", tested=True, others=[access("0.2", 1, 5, "stores", new=number(None))]),
            kinds.INVALIDATED,
        ),
        (
            conflict_of(
                [access("0.2", 1, 5, "reads", old=NOTHING), access("0.1", 5, 9, "stores")], 1, 5, begins_turn=True
            ),
            kinds.TOO_EARLY,
        ),
        (
            conflict_of([access("0.2", 1, 5, "stores"), access("0.1", 5, 9, "reads")], 1, 5, begins_turn=True),
            kinds.ORDER_VIOLATION,
        ),
    ],
)
def test_the_kind_follows_from_both_edges(conflict: Conflict, kind: str) -> None:
    assert kind_of(conflict, PASSED) == kind


def test_a_change_of_a_database_that_another_thread_rolls_back() -> None:
    database = ("database", -1, "")
    others = [
        access("0.2", 1, 5, "calls", database, writes=True, detail="execute('INSERT')"),
        access("0.2", 2, 6, "calls", database, writes=True, detail="rollback()"),
    ]
    both = {"left_thing": database, "right_thing": database}
    undone = shape("stores", "", "stores", others=others, **both)
    assert kind_of(undone, PASSED) == kinds.ROLLED_BACK
    assert "thread 0.2 rolls back" in summary_of(kinds.ROLLED_BACK, undone)
    assert kind_of(shape("stores", "", "stores", others=others[:1], **both), PASSED) == kinds.TORN_UPDATE


def test_a_number_is_drawn_from_where_another_thread_has_left_the_generator() -> None:
    own = {"left_thing": ("object", 5, ""), "right_thing": ("object", 5, "")}
    others = [access("0.2", 1, 5, "calls", ("object", 5, ""), writes=True, detail="seed(2)")]
    drawn = shape("stores", "", "stores", others=others, **own)
    assert drawn.right is not None
    right = drawn.right._replace(access=drawn.right.access._replace(holder_type="Random", reads=True))
    assert kind_of(drawn._replace(right=right), PASSED) == kinds.UPDATE_AND_READ


def test_an_event_that_is_cleared_after_another_thread_has_set_it_is_a_missed_notification() -> None:
    event = {"thing": ("object", 5, ""), "holder_type": "Event", "writes": True}
    told = access("0.2", 1, 5, "calls", detail="set()", **event)
    conflict = conflict_of([told, access("0.1", 5, 9, "calls", detail="clear()", **event)], 1, 5, begins_turn=True)
    assert kind_of(conflict, PASSED) == kinds.MISSED_NOTIFICATION


def test_without_a_common_thing_there_is_no_kind() -> None:
    conflict = conflict_of([access("0.2", 1, 5, "stores", Y), access("0.1", 5, 9, "reads", X)], 1, 5)
    assert (conflict.left, conflict.right) == (None, None)
    assert kind_of(conflict, PASSED) == ""


def test_the_edges_are_seen_and_what_stands_in_for_them_is_inferred() -> None:
    seen = conflict_of(
        [access("0.1", 4, 4, "reads"), access("0.2", 1, 6, "stores"), access("0.1", 6, 9, "stores")], 5, 6
    )
    assert seen.left is not None
    assert seen.right is not None
    assert (seen.left.inferred, seen.right.inferred) == (False, False)
    farther = conflict_of(
        [access("0.1", 2, 2, "reads"), access("0.2", 1, 6, "stores"), access("0.1", 9, 9, "stores")], 5, 6
    )
    assert farther.left is not None
    assert farther.right is not None
    assert (farther.left.inferred, farther.right.inferred) == (True, True)


def test_only_what_is_done_meanwhile_is_the_stretch() -> None:
    conflict = conflict_of(
        [
            *(access("0.2", 1, 1, "stores"), access("0.1", 4, 4, "reads"), access("0.2", 2, 6, "stores")),
            *(access("0.1", 5, 9, "stores"), access("0.2", 3, 10, "stores")),
        ],
        5,
        5,
    )
    assert [one.global_time for one in conflict.stretch] == [6]


def test_objects_get_letters_by_type() -> None:
    letters = Letters()
    one, other = Value("", "bidict", 4), Value("", "bidict", 9)
    assert [letters.value(value) for value in (one, other, one)] == ["bidict A", "bidict B", "bidict A"]
    assert letters.does(access("0", 1, 1, "stores", old=one, new=other)) == "stores bidict B over bidict A"
    assert letters.does(access("0", 1, 1, "checks", ("item", 1, "'a'"), old=number(False))) == "'a' is not there"


def saved_and_restored(*body: Access) -> Conflict:
    """Thread 0.1 reads 1, stores 2, does more, and stores 1 again; 0.2 stores in between."""
    own = [access("0.1", 1, 1, "reads"), access("0.1", 2, 2, "stores"), *body]
    other = access("0.2", 1, 5, "stores", new=number(3))
    return conflict_of([*own, other, access("0.1", 4, 9, "stores", new=number(1))], 4, 4)


def test_what_is_saved_and_put_back_is_no_lost_update() -> None:
    assert kind_of(saved_and_restored(), PASSED) == kinds.SAVE_AND_RESTORE


def test_a_number_that_is_counted_up_and_down_is_not_saved() -> None:
    assert kind_of(saved_and_restored(access("0.1", 3, 3, "reads", old=number(2))), PASSED) == kinds.LOST_UPDATE


def test_a_default_of_a_look_is_no_check() -> None:
    """``counts[key] += 1`` of a counter, and ``setattr(x, name, getattr(x, name, 0) + 1)``."""
    item = ("item", 1, "'a'")
    counted = shape("reads", "stores", "stores", left_thing=item, right_thing=item, old=NOTHING, holder_type="Counter")
    assert kind_of(counted, PASSED) == kinds.LOST_UPDATE
    called = Place("prog.py", "prog.py", 4, 1, "work", "CALL", True)
    assert kind_of(shape("reads", "stores", "stores", old=NOTHING, place=called), PASSED) == kinds.LOST_UPDATE


def test_both_threads_that_found_nothing_are_told_even_from_an_earlier_turn() -> None:
    """The failing range begins its turn, so it has no left edge."""
    accesses = [
        access("0.1", 4, 4, "reads", old=NOTHING),
        access("0.2", 1, 5, "reads", old=NOTHING),
        access("0.2", 2, 6, "stores", old=NOTHING),
        access("0.1", 5, 9, "stores"),
    ]
    found = with_own_look(conflict_of(accesses, 5, 5, begins_turn=True))
    assert found.left is not None
    assert (found.left.access, found.left.inferred) == (accesses[0], True)
    had_one = [accesses[0]._replace(old=number(1)), *accesses[1:]]
    assert with_own_look(conflict_of(had_one, 5, 5, begins_turn=True)).left is None


def test_a_thread_that_read_what_the_class_holds_has_not_found_nothing() -> None:
    def told(found: Value) -> str:
        stored = access("0.2", 2, 6, "stores", old=NOTHING)
        accesses = [access("0.1", 4, 4, "reads", old=found, tested=True), stored, access("0.1", 5, 9, "stores")]
        return summary_of(kinds.CHECK_THEN_ACT, conflict_of(accesses, 5, 5))

    assert "both found nothing there" in told(NOTHING)
    assert "both found nothing there" in told(number(None))
    assert told(number(1)).startswith("What thread 0.1 has seen (prog.py:4) no longer holds")


def test_a_generator_that_is_running_already_is_used_concurrently() -> None:
    thing: dict[str, Any] = {"holder_type": "generator", "detail": "next()", "reads": True, "writes": True}
    generator = ("object", 1, "")
    other = access("0.2", 1, 5, "calls", generator, **thing)
    own = access("0.1", 5, 9, "calls", generator, old=NOTHING, **thing)
    conflict = conflict_of([other, own], 5, 5, begins_turn=True)
    assert kind_of(conflict, PASSED) == kinds.CONCURRENT_USE
    assert "while thread 0.2 is still inside it" in summary_of(kinds.CONCURRENT_USE, conflict)
    assert Letters().does(own) == "next(): it is running already"
    mine, theirs = access("0.1", 4, 4, "calls", generator, **thing), own._replace(thread="0.2", time=1, number=5)
    stopped_inside = conflict_of([mine, theirs], 5, 5)
    assert kind_of(stopped_inside, PASSED) == kinds.CONCURRENT_USE
    assert "Thread 0.2 asks Thing. for its next" in summary_of(kinds.CONCURRENT_USE, stopped_inside)


def test_the_first_half_of_an_update_goes_before_another_thing() -> None:
    """The failing range begins with another failure: what it begins with says nothing of the update that is lost."""
    line = Place("prog.py", "prog.py", 5, 1, "work", "LOAD_ATTR", True)
    accesses = [
        access("0.1", 2, 2, "reads", Y),
        access("0.1", 4, 4, "reads", place=line),
        access("0.2", 1, 5, "stores", Y),
        access("0.2", 2, 6, "stores"),
        access("0.1", 5, 9, "stores", place=line),
    ]
    found = conflict_of(accesses, 3, 5)
    assert found.left is not None
    assert found.left.access == accesses[0]
    mended = with_own_look(found)
    assert mended.left is not None
    assert mended.left.access == accesses[1]
    assert kind_of(mended, PASSED) == kinds.LOST_UPDATE
    elsewhere = [accesses[0], accesses[1]._replace(place=replace(line, line=4)), *accesses[2:]]
    assert with_own_look(conflict_of(elsewhere, 3, 5)).left == found.left


def test_what_is_used_after_it_was_closed_is_not_what_an_earlier_look_found() -> None:
    event = ("object", 9, "")
    clears = access("0.2", 2, 6, "calls", event, writes=True, detail="clear()", holder_type="Event")
    others = [access("0.2", 1, 5, "stores"), clears]
    waits = access("0.1", 5, 9, "calls", event, reads=True, detail="wait()", holder_type="Event", name="Gate.open")
    looks = access("0.1", 4, 4, "reads", tested=True)
    conflict = conflict_of([looks, *others, waits], 5, 5)
    assert kind_of(conflict, PASSED) == kinds.INVALIDATED
    told = "Thread 0.1 uses Gate.open (prog.py:5) after thread 0.2 has cleared it (prog.py:2)."
    assert summary_of(kinds.INVALIDATED, conflict) == told


def test_an_update_after_a_look_rests_on_it_although_it_reads_anew() -> None:
    """``if free(): taken += 1``: the look is stale, but nothing that others stored is lost."""
    accesses = [
        access("0.1", 4, 4, "reads"),
        access("0.2", 1, 5, "stores"),
        access("0.1", 5, 9, "reads", place=on_line(5)),
        access("0.1", 6, 10, "stores", place=on_line(5)),
    ]
    assert kind_of(conflict_of(accesses, 5, 5), PASSED) == kinds.CHECK_THEN_ACT
    elsewhere = [*accesses[:3], accesses[3]._replace(place=on_line(6))]
    assert kind_of(conflict_of(elsewhere, 5, 5), PASSED) == kinds.NON_REPEATABLE_READ


@pytest.mark.parametrize(("line", "kind"), [(7, kinds.UPDATE_AND_READ), (6, kinds.OVERWRITTEN)])
@pytest.mark.parametrize("first", [0, 1])  # the failing range may begin with the read of the update, or its store
def test_what_is_changed_and_then_read_again(line: int, kind: str, first: int) -> None:
    """``n += 1; return n`` in two threads; or another thread stores what has nothing to do with it."""
    accesses = [
        access("0.1", 3, 3, "reads", place=on_line(3)),
        access("0.1", 4, 4, "stores", place=on_line(3)),
        access("0.2", 1, 5, "reads", place=on_line(line)),
        access("0.2", 2, 6, "stores", place=on_line(7)),
        access("0.1", 5, 9, "reads", place=on_line(4)),
    ]
    found = conflict_of(accesses, 4 + first, 5)
    assert found.left is not None
    assert found.left.access == accesses[first]
    assert kind_of(found, PASSED) == kind
    words = "does not see its own value" if kind == kinds.UPDATE_AND_READ else "is replaced by thread 0.2"
    assert words in summary_of(kind, found)


def test_what_is_done_after_a_wait_needs_another_look() -> None:
    wait = access("0.1", 5, 5, "calls", ("object", 7, ""), holder_type="Condition", detail="wait()")
    accesses = [
        access("0.1", 4, 4, "reads", tested=True),
        wait,
        access("0.2", 1, 6, "stores"),
        access("0.1", 6, 9, "deletes"),
    ]
    found = conflict_of(accesses, 5, 6)
    assert kind_of(found, PASSED) == kinds.WAIT_WITHOUT_LOOP
    assert "It must look again" in summary_of(kinds.WAIT_WITHOUT_LOOP, found)
    accesses[1] = wait._replace(holder_type="Event")
    assert kind_of(conflict_of(accesses, 5, 6), PASSED) == kinds.CHECK_THEN_ACT


def test_an_object_that_is_shown_before_it_is_complete() -> None:
    """``self.index = Index(); self.index.add(...)``, while another thread searches it."""
    shown = Value("", "Index", 7)
    accesses = [
        access("0.1", 4, 4, "stores", new=shown),
        access("0.2", 1, 5, "reads", old=shown),
        access("0.2", 2, 6, "reads", ("attribute", 7, "words"), tested=True),
        access("0.1", 5, 9, "stores", ("attribute", 7, "words")),
    ]
    found = conflict_of(accesses, 5, 5)
    assert kind_of(found, PASSED) == kinds.INCOMPLETE
    assert "completes it only then" in summary_of(kinds.INCOMPLETE, found)
    accesses[3] = accesses[3]._replace(thing=("item", 9, "0"), name="Index.words[0]")  # deeper in it
    accesses[2] = accesses[2]._replace(thing=("item", 9, "0"))
    assert kind_of(conflict_of(accesses, 5, 5), PASSED) == kinds.INCOMPLETE
    accesses[3] = accesses[3]._replace(name="Other.words[0]")
    assert kind_of(conflict_of(accesses, 5, 5), PASSED) == kinds.TORN_UPDATE


def test_who_started_a_thread_looks_before_it_is_done() -> None:
    """A thread adds line by line: each is an update of its own, so no lock helps."""
    lines = ("whole", 3, "")
    adds = [access("0.1", time, at, "calls", lines, writes=True, detail="append('x')") for time, at in ((4, 4), (5, 9))]
    adds[1] = adds[1]._replace(place=adds[0].place)
    look = access("0", 1, 5, "reads", lines)
    found = conflict_of([adds[0], look, adds[1]], 5, 5)
    assert kind_of(found, PASSED) == kinds.TOO_SOON
    assert "looks at Thing. (prog.py:1) before thread 0.1 is done with it (prog.py:4)" in summary_of(
        kinds.TOO_SOON, found
    )
    alone = found._replace(left=None)
    assert kind_of(alone, PASSED) == kinds.TOO_SOON
    assert "Thread 0 looks at Thing. (prog.py:1) before thread 0.1 is done" in summary_of(kinds.TOO_SOON, alone)
    # Another place completes what the first one began; and whoever did not start the thread has nothing to wait for.
    elsewhere = adds[1]._replace(place=look.place)
    assert kind_of(conflict_of([adds[0], look, elsewhere], 5, 5), PASSED) == kinds.TORN_UPDATE
    stranger = look._replace(thread="0.2")
    assert kind_of(conflict_of([adds[0], stranger, adds[1]], 5, 5), PASSED) == kinds.TORN_UPDATE
    taken = adds[1]._replace(detail="pop()")
    assert kind_of(conflict_of([look, taken], 1, 5, begins_turn=True), PASSED) == kinds.ORDER_VIOLATION


def test_a_row_that_is_added_replaces_none() -> None:
    """Two threads find no such row, and both insert it."""
    sql = ("database", -1, "")
    looks = access("0.1", 4, 4, "calls", sql, reads=True, detail="execute('SELECT name FROM user')")
    other = access("0.2", 1, 5, "calls", sql, writes=True, detail="commit()")
    adds = access("0.1", 5, 9, "calls", sql, writes=True, detail="execute('insert into user values (?)')")
    assert kind_of(conflict_of([looks, other, adds], 5, 5), PASSED) == kinds.CHECK_THEN_ACT
    stores = adds._replace(detail="execute('UPDATE user SET name = ?')")
    assert kind_of(conflict_of([looks, other, stores], 5, 5), PASSED) == kinds.LOST_UPDATE


def test_only_the_permit_of_a_semaphore_belongs_to_no_other_value() -> None:
    arm = access("0.1", 1, 1, "reads", holder_type="Semaphore")
    lamp = access("0.1", 2, 3, "reads", ("attribute", 1, "y"), holder_type="Semaphore")
    changes = [access("0.2", 1, 2, "stores"), access("0.2", 2, 2, "stores", ("attribute", 1, "y"))]
    conflict = conflict_of([arm, *changes, lamp], 2, 2)
    assert conflict.left is not None
    assert essential(conflict, PASSED) is conflict  # of a class of the program
    permit = conflict.left.access._replace(thing=("object", 1, ""))
    assert essential(conflict._replace(left=conflict.left._replace(access=permit)), PASSED).left is None


@pytest.mark.parametrize("finds_it", [True, False])
def test_a_look_that_waits_for_what_others_do_is_no_side_of_the_conflict(finds_it: bool) -> None:
    """The main thread waits for a result, which 0.2 sets meanwhile; 0.1 need not set its own before that."""
    future: dict[str, Any] = {"thing": ("object", 3, ""), "does": "calls", "holder_type": "Future"}
    waits = access("0", 1, 1, reads=True, **future)
    goes_on = access("0", 1, 7, "acquires", ("lock", 4, ""))
    looks = access("0.1", 2, 2, reads=True, **future)
    other = access("0.2", 1, 5, reads=not finds_it, writes=finds_it, **future)
    sets = access("0.1", 3, 9, writes=True, **future)
    conflict = conflict_of([waits, looks, other, goes_on, sets], 3, 3)
    assert conflict.right is not None
    assert [one.thread for one in conflict.right.others] == (["0.2"] if finds_it else ["0", "0.2"])


def test_a_wait_for_a_permit_that_goes_on_loses_no_update() -> None:
    permits: Any = ("object", 1, "")
    of_it = {"thing": permits, "holder_type": "Semaphore", "reads": True, "writes": True}
    waits = access("0.1", 4, 4, "calls", detail="acquire(30)", **of_it)
    gives = access("0.2", 1, 5, "calls", detail="release()", **of_it)
    gets = access("0.1", 5, 9, "calls", detail="acquire(30)", **of_it)
    conflict = conflict_of([waits, gives, gets], 5, 5)
    assert conflict.left is not None
    assert kind_of(conflict, PASSED) == kinds.ORDER_VIOLATION
    other_class = conflict_of([one._replace(holder_type="Thing") for one in (waits, gives, gets)], 5, 5)
    assert kind_of(other_class, PASSED) == kinds.LOST_UPDATE
