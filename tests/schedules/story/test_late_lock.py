"""Locks that are noted as taken before they are."""

from __future__ import annotations

from dataclasses import replace

import pytest

from replay_dd.schedules.observed.observation import Access
from replay_dd.schedules.story import kinds
from replay_dd.schedules.story.conflict import Conflict
from replay_dd.schedules.story.kinds import kind_of
from replay_dd.schedules.story.late_lock import late_lock
from tests.schedules.logs import PASSED
from tests.schedules.story.made_accesses import Y, access, number, switch
from tests.schedules.story.test_victim import seen

LOCK = ("lock", 8, "")
NOTE = access("0.1", 11, 1, "stores")
OWN_LOOK = access("0.1", 12, 2, "reads", tested=True)
WANTS = access("0.1", 13, 3, "wants", LOCK)
OTHER_NOTE = access("0.2", 11, 4, "stores")
LOOK = access("0.2", 12, 5, "reads", tested=True)
TAKES = access("0.1", 14, 7, "acquires", LOCK)


def elsewhere(one: Access) -> Access:
    return one._replace(place=replace(one.place, function="other"))


LEAVES = elsewhere(access("0.2", 43, 6, "reads", Y))
RUN = (NOTE, OWN_LOOK, WANTS, OTHER_NOTE, LOOK, LEAVES, TAKES)


def told(*accesses: Access) -> Conflict | None:
    numbered = [one._replace(global_time=at) for at, one in enumerate(accesses)]
    before = sum(one.time < 14 for one in numbered if one.thread == "0.1")
    return late_lock(seen(*numbered), replace(switch(14), global_time=before))


def test_the_note_and_the_lock_are_one_update_in_two_steps() -> None:
    conflict = told(*RUN)
    assert conflict is not None
    assert kind_of(conflict, PASSED) == kinds.TORN_UPDATE
    assert [(edge.access.place.line, edge.access.thing) for edge in conflict.edges] == [(11, NOTE.thing), (14, LOCK)]
    assert [[one.place.line for one in edge.others] for edge in conflict.edges] == [[12], [12]]


@pytest.mark.parametrize(
    "accesses",
    [
        (OWN_LOOK, WANTS, OTHER_NOTE, LOOK, LEAVES, TAKES),  # it notes nothing
        (elsewhere(NOTE), *RUN[1:]),
        (*RUN[:4], LOOK._replace(tested=False), LEAVES, TAKES),
        (*RUN[:4], elsewhere(LOOK), LEAVES, TAKES),  # it may do with the note what it likes
        (*RUN[:4], LOOK._replace(thing=Y), LEAVES, TAKES),
        (*RUN[:5], access("0.2", 13, 6, "acquires", LOCK), LEAVES, TAKES),  # it takes the lock, too
        (*RUN[:5], TAKES),  # it is not seen to go on
        (*RUN[:-1], TAKES._replace(does="reads", thing=Y)),
        (NOTE, WANTS._replace(does="acquires"), OTHER_NOTE, LOOK, LEAVES, TAKES),  # it had a lock before
    ],
)
def test_other_notes_are_no_locks(accesses: tuple[Access, ...]) -> None:
    assert told(*accesses) is None


COUNTS = access("0.1", 13, 1, "stores", new=number(1))
READS_COUNT = access("0.2", 13, 2, "reads")
COUNTS_TOO = access("0.2", 13, 3, "stores", old=number(1), new=number(2))
FINDS = access("0.1", 14, 4, "reads", old=number(2), tested=True)
GOES_ON = elsewhere(access("0.1", 43, 5, "reads", Y))
GOES_ON_TOO = GOES_ON._replace(thread="0.2")
NEITHER = (COUNTS, READS_COUNT, COUNTS_TOO, GOES_ON_TOO, FINDS, GOES_ON)


def test_neither_takes_the_lock_if_each_finds_the_other_one_counted() -> None:
    conflict = told(*NEITHER)
    assert conflict is not None
    assert kind_of(conflict, PASSED) == kinds.UPDATE_AND_READ
    assert [edge.access.place.line for edge in conflict.edges] == [13, 14]
    assert [[(one.thread, one.place.line) for one in edge.others] for edge in conflict.edges] == [[("0.2", 13)]] * 2


@pytest.mark.parametrize(
    "accesses",
    [
        (COUNTS, COUNTS_TOO, GOES_ON_TOO, FINDS._replace(old=COUNTS.new), GOES_ON),
        (COUNTS, COUNTS_TOO, GOES_ON_TOO, FINDS._replace(tested=False), GOES_ON),  # it decides nothing
        (COUNTS, COUNTS_TOO, GOES_ON_TOO, FINDS._replace(thing=Y), GOES_ON),
        (COUNTS, elsewhere(COUNTS_TOO), GOES_ON_TOO, FINDS, GOES_ON),
        (COUNTS._replace(new=number("open")), COUNTS_TOO, GOES_ON_TOO, FINDS, GOES_ON),  # no count
        (*NEITHER[:-1], access("0.1", 15, 5, "acquires", LOCK), GOES_ON),  # it takes the lock
        (COUNTS, COUNTS_TOO, access("0.2", 15, 3, "acquires", LOCK), GOES_ON_TOO, FINDS, GOES_ON),
    ],
)
def test_one_who_takes_the_lock_is_enough(accesses: tuple[Access, ...]) -> None:
    assert told(*accesses) is None
