"""A lock that is taken out of its table while another thread has got it, and only then takes it."""

from __future__ import annotations

import pytest

from replay_dd.schedules.observed.observation import Access, Observation, Value
from replay_dd.schedules.story import kinds
from replay_dd.schedules.story.dropped_lock import dropped_lock_in_words, find_dropped_lock, help_of_dropped_lock
from replay_dd.schedules.story.kinds import kind_of
from tests.schedules.logs import PASSED
from tests.schedules.story.made_accesses import NOTHING, access, conflict_of

MUTEX, FIRST, SECOND = 7, 8, 9
ITEM = ("item", 5, "'eve'")
LOCK, OTHER = (Value("", "lock", number) for number in (FIRST, SECOND))
GETS = access("0.2", 11, 1, "reads", ITEM, old=LOCK, held=(MUTEX,))
TAKES_OUT = access("0.1", 12, 2, "calls", ITEM, writes=True, old=LOCK, new=NOTHING, detail="pop('eve')", held=(MUTEX,))
MAKES = access("0.1", 13, 3, "stores", ITEM, old=NOTHING, new=OTHER, held=(MUTEX,))
ACQUIRES = access("0.2", 14, 4, "acquires", ("lock", FIRST, ""))
READS = access("0.1", 4, 24, "reads", held=(SECOND,))
LOSES = access("0.1", 5, 29, "stores", held=(SECOND,))
TORN = conflict_of([READS, access("0.2", 21, 25, "stores", held=(FIRST,)), LOSES], 5, 5)
ALL = [GETS, TAKES_OUT, MAKES, ACQUIRES]


def seen(accesses: list[Access], **names: str) -> Observation:
    locks = {MUTEX: "Locks.mutex", FIRST: "Locks['eve']", SECOND: "Locks['eve']"}
    return Observation(tuple(accesses), locks | {SECOND: names.get("second", locks[SECOND])})


def test_the_lock_was_taken_out_between_the_look_and_the_wait() -> None:
    failing = seen(ALL)
    found = find_dropped_lock(TORN, failing)
    assert found is not None
    assert found.left is not None
    assert found.right is not None
    assert (found.left.access, found.right.access) == (GETS, ACQUIRES)
    assert found.left.others == (TAKES_OUT, MAKES)
    assert kind_of(found, PASSED) == kinds.DROPPED_LOCK
    words = dropped_lock_in_words(found)
    assert "(prog.py:11), and acquires it (prog.py:14) only after thread 0.1 has taken it out of there" in words
    assert "count under Locks.mutex" in help_of_dropped_lock(found, failing)
    late = find_dropped_lock(TORN, seen([GETS, TAKES_OUT, ACQUIRES, MAKES._replace(number=5)]))
    assert late is not None
    assert late.left is not None
    assert late.left.others == (TAKES_OUT,), "the other lock is made only when this one is held"


@pytest.mark.parametrize(
    "accesses",
    [
        [TAKES_OUT, MAKES, ACQUIRES],  # it was not got from there
        [GETS._replace(number=2), TAKES_OUT._replace(number=1), MAKES, ACQUIRES],
        [GETS._replace(thread="0.1"), TAKES_OUT, MAKES, ACQUIRES],
        [GETS, MAKES, ACQUIRES],  # it was not taken out
        [GETS, TAKES_OUT, ACQUIRES],  # no other one was made
        [MAKES._replace(number=0), GETS, TAKES_OUT, ACQUIRES],  # it was there before
        [GETS, ACQUIRES._replace(number=1), TAKES_OUT, MAKES],  # it was acquired before
    ],
)
def test_other_locks_were_not_dropped(accesses: list[Access]) -> None:
    assert find_dropped_lock(TORN, seen(accesses)) is None


def test_locks_of_two_names_do_not_stand_for_one() -> None:
    assert find_dropped_lock(TORN, seen(ALL, second="Locks['ann']")) is None
