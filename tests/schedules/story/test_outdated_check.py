"""Checks that a wait parted from what the thread does then."""

from __future__ import annotations

from dataclasses import replace

import pytest

from replay_dd.schedules.model import Ending, Frame, UncaughtException
from replay_dd.schedules.observed.observation import Access
from replay_dd.schedules.story import kinds
from replay_dd.schedules.story.kinds import kind_of
from replay_dd.schedules.story.outdated_check import outdated_check
from tests.schedules.logs import PASSED
from tests.schedules.story.made_accesses import Y, access, number
from tests.schedules.story.test_victim import seen

END = Frame("prog.py", 49, "main", True)
ENDING = replace(PASSED, status=1, exceptions=(UncaughtException("main", "AssertionError", "3", (END,)),))

LOOK = access("0.1", 4, 1, "reads", old=number(1), tested=True)
LOOK_TOO = access("0.2", 4, 2, "reads", old=number(1), tested=True)
ACT_TOO = access("0.2", 7, 3, "stores", old=number(1), new=number(2))
ACT = access("0.1", 7, 4, "stores", old=number(2), new=number(3))
END_FINDS = access("0", 49, 5, "reads", old=number(3))
RUN = (LOOK, LOOK_TOO, ACT_TOO, ACT, END_FINDS)
PASSES = (LOOK, ACT._replace(new=number(2)), LOOK_TOO._replace(old=number(2)), END_FINDS)


@pytest.mark.parametrize("ending", [ENDING, replace(PASSED, status=1, exit=ENDING.exceptions[0])])
def test_what_the_failing_line_finds_was_changed_after_an_outdated_check(ending: Ending) -> None:
    failing = seen(*RUN)
    found = outdated_check(failing, seen(*PASSES), ending)
    assert found is not None
    assert kind_of(found, PASSED) == kinds.CHECK_THEN_ACT
    look, _, other, act, _ = failing.accesses
    assert [edge.access for edge in found.edges] == [look, act]
    assert [edge.others for edge in found.edges] == [(other,), (other,)]
    assert (found.before, found.after) == ((look,), (act,))


@pytest.mark.parametrize(
    "run",
    [
        (LOOK._replace(tested=False), LOOK_TOO, ACT_TOO, ACT, END_FINDS),
        (LOOK, LOOK_TOO, ACT_TOO._replace(thing=Y), ACT, END_FINDS),
        (LOOK, LOOK_TOO, ACT_TOO._replace(new=LOOK.old), ACT, END_FINDS),  # the check holds again
        (LOOK, LOOK_TOO, ACT_TOO, LOOK._replace(time=6), ACT, END_FINDS),  # it checks once more
        (LOOK, ACT_TOO, ACT._replace(place=LOOK.place), END_FINDS),  # a round of a loop that begins anew
        (*RUN[:-1], END_FINDS._replace(thing=Y)),  # the failing line is about something else
        (*RUN[:-1], END_FINDS._replace(stack=())),
    ],
)
def test_a_check_that_holds_or_does_not_lead_to_the_failure_is_none(run: tuple[Access, ...]) -> None:
    assert outdated_check(seen(*run), seen(*PASSES), ENDING) is None


def test_what_passes_as_well_is_not_told() -> None:
    assert outdated_check(seen(*RUN), seen(*RUN), ENDING) is None
