"""Checks that a switch parts from what the thread does then."""

from __future__ import annotations

import pytest

from replay_dd.schedules.observed.observation import Access
from replay_dd.schedules.story import kinds
from replay_dd.schedules.story.interrupted_check import interrupted_check
from replay_dd.schedules.story.kinds import kind_of
from tests.schedules.logs import PASSED
from tests.schedules.story.test_kinds import NOTHING, Y, access, number, switch
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


def test_an_update_in_one_line_reads_but_decides_nothing() -> None:
    """``if free > 0: free -= 1`` reads anew, and takes away all the same."""
    reads = access("0.1", 6, 6, "reads", old=number("bob"))
    stores = access("0.1", 6, 7, "stores", old=number("bob"), new=number("ada"))
    failing = seen(LOOK, OTHER, reads, stores)
    found = interrupted_check(failing, switch(5))
    assert found is not None
    assert kind_of(found, PASSED) == kinds.CHECK_THEN_ACT
    assert found.right is not None
    assert found.right.access == failing.accesses[3]
    elsewhere = access("0.1", 8, 7, "stores", new=number("ada"))
    assert interrupted_check(seen(LOOK, OTHER, reads, elsewhere), switch(5)) is None
    assert interrupted_check(seen(LOOK, OTHER, reads._replace(tested=True), stores), switch(5)) is None


@pytest.mark.parametrize(
    "run",
    [
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
