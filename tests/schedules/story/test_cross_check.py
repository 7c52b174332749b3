"""Checks and acts of two threads, each on what the other one checks."""

from __future__ import annotations

from dataclasses import replace

import pytest

from replay_dd.schedules.observed.observation import Access
from replay_dd.schedules.story import kinds
from replay_dd.schedules.story.cross_check import help_of_cross_check, interrupted_cross_check
from replay_dd.schedules.story.kinds import kind_of
from tests.schedules.logs import PASSED
from tests.schedules.story.made_accesses import Y, access, number, switch
from tests.schedules.story.test_victim import seen

NO_WRITER = access("0.1", 4, 1, "reads", old=number(False), tested=True)
NO_READER = access("0.2", 1, 5, "reads", Y, old=number(0), tested=True)
WRITER = access("0.2", 2, 6, "stores", new=number(True))
READER = access("0.1", 6, 7, "stores", Y, new=number(1))


def test_each_thread_checks_what_the_other_one_sets_only_then() -> None:
    again = NO_READER._replace(time=3, number=60, global_time=6)
    failing = seen(NO_WRITER, NO_READER, WRITER, READER)
    found = interrupted_cross_check(failing, switch(5))
    assert found is not None
    assert kind_of(found, PASSED) == kinds.CHECK_THEN_ACT
    assert found.left is not None
    assert found.right is not None
    look, other, change, act = failing.accesses
    assert (found.left.access, found.left.others) == (look, (change,))
    assert (found.right.access, found.right.others) == (act, (other,))
    # The last round counts: the look that a change follows.
    rounds = seen(NO_WRITER, NO_READER, WRITER, WRITER._replace(new=number(False)), again, WRITER, READER)
    found = interrupted_cross_check(rounds, switch(5))
    assert found is not None
    assert found.right is not None
    assert found.right.others == (rounds.accesses[4],)


@pytest.mark.parametrize(
    "run",
    [
        (NO_WRITER._replace(tested=False), NO_READER, WRITER, READER),
        (NO_WRITER, NO_READER._replace(tested=False), WRITER, READER),
        (NO_WRITER, WRITER, NO_READER, READER),  # it says that it is there before it looks
        (NO_WRITER, NO_READER, WRITER._replace(new=NO_WRITER.old), READER),
        (NO_WRITER, NO_READER, WRITER, READER._replace(new=NO_READER.old)),
        (NO_WRITER, NO_READER, WRITER, NO_WRITER._replace(time=5, old=number(True)), READER),  # it looks once more
        (NO_WRITER, NO_READER, WRITER, READER._replace(stack=(*READER.stack, READER.stack[0]))),  # in another call
        (NO_WRITER, NO_READER._replace(thread="0.3"), WRITER, READER),
        (NO_WRITER, NO_READER, WRITER),
    ],
)
def test_other_orders_are_none(run: tuple[Access, ...]) -> None:
    assert interrupted_cross_check(seen(*run), switch(5)) is None


def test_the_lock_of_the_act_is_to_be_held_at_the_look_too() -> None:
    def told(look: tuple[int, ...], change: tuple[int, ...], act: tuple[int, ...]) -> str:
        held = ((NO_WRITER, look), (NO_READER, change), (WRITER, change), (READER, act))
        failing = replace(seen(*(one._replace(held=locks) for one, locks in held)), locks={3: "RWLock.mutex"})
        found = interrupted_cross_check(failing, switch(5))
        assert found is not None
        return help_of_cross_check(kinds.CHECK_THEN_ACT, found, failing)

    assert "look at Thing.x when RWLock.mutex is held" in told((), (3,), (3,))
    assert told((3,), (3,), (3,)) == told((), (), (3,)) == told((), (3,), ()) == told((), (9,), (9,)) == ""
