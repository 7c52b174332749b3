"""Acts that raise an exception, as the check before them no longer holds."""

from __future__ import annotations

from dataclasses import replace

import pytest

from replay_dd.schedules.model import Frame, UncaughtException
from replay_dd.schedules.observed.observation import Access
from replay_dd.schedules.story import kinds
from replay_dd.schedules.story.conflict import Conflict
from replay_dd.schedules.story.kinds import kind_of
from replay_dd.schedules.story.refused_act import refused_act
from replay_dd.schedules.story.twins import Twins
from tests.schedules.logs import PASSED
from tests.schedules.story.made_accesses import Y, access, number
from tests.schedules.story.ran import Ran, code_of
from tests.schedules.story.test_victim import seen

pytestmark = pytest.mark.once

POOL = ("object", 2, "")
HANDLES = ["LOAD_ATTR", "CALL", "RETURN_VALUE", "PUSH_EXC_INFO", "RETURN_VALUE"]
LOOK = access("0.1", 1, 1, "reads", old=number(True), tested=True)
ACT = access("0.1", 2, 2, "calls", POOL, writes=True)
SAYS = access("0", 1, 3, "stores", old=number(True), new=number(False))
ENDS = access("0", 2, 4, "calls", POOL, writes=True)
NOTES = access("0.1", 3, 5, "stores", Y)
RUN = (LOOK, ACT, SAYS, ENDS, NOTES)


def refused(*accesses: Access, usual: bool = False) -> Conflict | None:
    """What is found in a run whose call raises an exception that is handled; if ``usual``, in the passing run, too."""
    failing, passing = Ran(code_of("visit", HANDLES)), Ran(code_of("visit", HANDLES))
    failing.steps("visit", 0, time=1)
    failing.steps("visit", 1, time=2)
    failing.steps("visit", 3)
    failing.steps("visit", 4, time=3)
    passing.steps("visit", 0, 1, *((3, 4) if usual else (2,)))
    return refused_act(Twins(seen(*accesses), seen(), failing.flow, passing.flow), PASSED)


def test_a_call_that_raises_what_it_raises_in_no_other_run_acts_on_the_check_before_it() -> None:
    found = refused(*RUN)
    assert found is not None
    assert kind_of(found, PASSED) == kinds.CHECK_THEN_ACT
    look, act, says, ends, notes = seen(*RUN).accesses
    assert [(edge.access, edge.others) for edge in found.edges] == [(look, (says,)), (act, (ends,))]
    assert (found.stretch, found.before, found.after) == ((says, ends), (look, act), (notes,))


@pytest.mark.parametrize(
    "run",
    [
        (LOOK._replace(tested=False), *RUN[1:]),
        (LOOK, ACT, SAYS._replace(new=LOOK.old), ENDS, NOTES),  # what was checked still holds
        (LOOK, ACT, SAYS, ENDS._replace(thing=Y), NOTES),  # what raises has to do with nobody else
        (LOOK, ACT, SAYS, ENDS._replace(thread="0.2"), NOTES),  # nor with who says so
        (LOOK, ACT, NOTES, SAYS, ENDS),  # that was later
        (LOOK, ACT._replace(writes=False, does="reads"), SAYS, ENDS, NOTES),
    ],
)
def test_a_check_that_holds_or_has_nothing_to_do_with_the_exception_is_none(run: tuple[Access, ...]) -> None:
    assert refused(*run) is None


def test_what_the_passing_run_raises_too_is_not_told() -> None:
    assert refused(*RUN, usual=True) is None


def test_a_check_in_a_call_that_is_over_decides_nothing() -> None:
    failing = Ran(code_of("visit", HANDLES), code_of("asked", HANDLES))
    failing.steps("visit", 0)
    failing.steps("asked", 0, time=1)
    failing.steps("asked", 2)
    failing.steps("visit", 1, time=2)
    failing.steps("visit", 3)
    failing.steps("visit", 4, time=3)
    assert refused_act(Twins(seen(*RUN), seen(), failing.flow, Ran().flow), PASSED) is None


def test_without_what_was_executed_nothing_is_found() -> None:
    assert refused_act(Twins(seen(*RUN), seen(*RUN)), PASSED) is None


def test_an_exception_that_nobody_handles_counts_and_so_does_a_check_of_the_caller() -> None:
    failing = Ran(code_of("visit", HANDLES), code_of("send", ["CALL", "RETURN_VALUE"]))
    failing.steps("visit", 0, time=1)
    failing.steps("visit", 1)
    failing.steps("send", 0, time=2)
    frame = Frame("prog.py", 10, "send", True)
    ending = replace(PASSED, status=1, exceptions=(UncaughtException("0.1", "RuntimeError", "", (frame,)),))
    twins = Twins(seen(*RUN[:-1]), seen(), failing.flow, Ran().flow)
    found = refused_act(twins, ending)
    assert found is not None
    assert [edge.access for edge in found.edges] == [twins.failing.accesses[0], twins.failing.accesses[1]]
    assert found.after == ()
    assert refused_act(twins, PASSED) is None
