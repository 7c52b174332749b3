"""Checks that a switch parts from what the thread does then."""

from __future__ import annotations

import pytest

from replay_dd.schedules.observed.observation import Access
from replay_dd.schedules.story import kinds
from replay_dd.schedules.story.interrupted_check import interrupted_check
from replay_dd.schedules.story.kinds import kind_of
from tests.schedules.logs import PASSED
from tests.schedules.story.made_accesses import NOTHING, Y, access, number, switch
from tests.schedules.story.test_victim import seen

ITEM = ("item", 4, "7")
LOOK = access("0.1", 4, 1, "reads", old=number(None), tested=True)
OTHER = access("0.2", 1, 5, "stores", old=number(None), new=number("bob"))
ACT = access("0.1", 6, 6, "stores", old=number("bob"), new=number("ada"))
ABSENT = access("0.1", 4, 1, "checks", ITEM, old=number(False), tested=True)
SEARCH = access("0.1", 4, 1, "iterates", ("whole", 4, ""), reads=True)
PUT = access("0.2", 1, 5, "stores", ITEM, old=NOTHING)
PUT_TOO = access("0.1", 6, 6, "stores", ITEM)


@pytest.mark.parametrize("run", [(LOOK, OTHER, ACT), (ABSENT, PUT, PUT_TOO), (SEARCH, PUT, PUT_TOO)])
def test_a_thread_acts_on_a_check_that_others_have_made_untrue(run: tuple[Access, ...]) -> None:
    failing = seen(*run)
    found = interrupted_check(failing, switch(5))
    assert found is not None
    assert kind_of(found, PASSED) == kinds.CHECK_THEN_ACT
    assert found.left is not None
    assert found.right is not None
    assert (found.left.access, found.right.access) == (failing.accesses[0], failing.accesses[2])


FREE = access("0.1", 4, 1, "reads", old=number(1), tested=True)
TAKES = access("0.2", 1, 5, "stores", old=number(1), new=number(0))
READS = access("0.1", 6, 6, "reads", old=number(0))
TAKES_TOO = access("0.1", 6, 7, "stores", old=number(0), new=number(-1))


def test_an_update_in_one_line_acts_on_the_check_before_it() -> None:
    failing = seen(FREE, TAKES, READS, TAKES_TOO)
    found = interrupted_check(failing, switch(5))
    assert found is not None
    assert kind_of(found, PASSED) == kinds.CHECK_THEN_ACT
    assert [edge.access for edge in found.edges] == [failing.accesses[0], failing.accesses[3]]
    elsewhere = TAKES_TOO._replace(place=access("0.1", 8, 7, "stores").place)
    assert interrupted_check(seen(FREE, TAKES, READS, elsewhere), switch(5)) is None
    assert interrupted_check(seen(FREE, TAKES, READS._replace(tested=True), TAKES_TOO), switch(5)) is None


@pytest.mark.parametrize(
    "run",
    [
        (FREE, TAKES, READS._replace(tested=True), TAKES_TOO),  # it looks again
        (FREE, TAKES, access("0.1", 5, 6, "reads", old=number(0)), TAKES_TOO),  # in a line before
        (FREE, TAKES, READS, TAKES_TOO._replace(thing=Y)),
        (FREE, TAKES, READS),
        (LOOK._replace(tested=False), OTHER, ACT),
        (LOOK, OTHER._replace(thing=Y), ACT),  # the check still holds
        (LOOK, OTHER._replace(new=LOOK.old), ACT),
        (LOOK, OTHER, ACT._replace(does="reads", reads=True, writes=False)),  # it looks again
        (LOOK, OTHER, ACT._replace(thing=Y)),
        (LOOK, access("0.1", 4, 2, "stores"), OTHER, ACT),  # it has acted before
        (ABSENT._replace(old=number(True)), PUT, PUT_TOO),
        (LOOK, OTHER),
        (SEARCH, PUT, access("0.1", 6, 6, "calls", ("whole", 4, ""), writes=True, detail="append(2)")),
    ],
)
def test_a_check_that_holds_or_is_made_anew_is_none(run: tuple[Access, ...]) -> None:
    assert interrupted_check(seen(*run), switch(5)) is None
