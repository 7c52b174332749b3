"""A count of what is under way that is zero for a moment, although more is to come."""

from __future__ import annotations

from dataclasses import replace

import pytest

from replay_dd.schedules.observed.observation import Access
from replay_dd.schedules.story import kinds
from replay_dd.schedules.story.conflict import Conflict, Edge
from replay_dd.schedules.story.early_zero import help_of_early_zero
from tests.schedules.story.made_accesses import X, access, number
from tests.schedules.story.test_victim import seen

FIRST = access("0", 3, 1, "stores", old=number(0), new=number(1))
LOOKS = access("0.1", 5, 2, "reads", old=number(0), tested=True)
SETS = access("0.1", 6, 3, "calls", ("object", 9, ""), detail="set()", name="Work.finished")
SECOND = FIRST._replace(number=4)


def told(*accesses: Access, kind: str = kinds.ORDER_VIOLATION) -> str:
    """What is told of the last access, which comes after the looks of another thread."""
    failing = seen(*accesses)
    *before, last = failing.accesses
    looks = tuple(one for one in before if one.thing == X and one.thread == "0.1")
    conflict = Conflict("0", None, Edge(last, looks, inferred=False), None, looks, (), (last,))
    return help_of_early_zero(kind, conflict, failing)


def test_all_is_to_be_counted_before_the_first_is_given_out() -> None:
    help_text = told(FIRST, LOOKS, SETS, SECOND)
    assert "Thing.x is 0 in between (prog.py:5), and set() of Work.finished (prog.py:6)" in help_text
    assert told(FIRST, LOOKS, SETS, SECOND, kind=kinds.LOST_UPDATE) == ""


@pytest.mark.parametrize(
    "accesses",
    [
        [LOOKS, SETS, SECOND],  # nothing was counted before
        [FIRST._replace(place=replace(FIRST.place, line=2)), LOOKS, SETS, SECOND],  # but something else
        [FIRST, LOOKS._replace(old=number(1)), SETS, SECOND],
        [FIRST, LOOKS._replace(tested=False), SETS, SECOND],
        [FIRST, LOOKS, SECOND],  # nobody is told
        [FIRST, SETS, LOOKS, SECOND],  # that was told before
        [FIRST, LOOKS, SETS._replace(place=replace(SETS.place, function="other")), SECOND],
        [FIRST, LOOKS, SETS._replace(detail="get()"), SECOND],
        [FIRST, LOOKS, SETS, SECOND._replace(old=number(2))],
    ],
)
def test_what_is_no_count_that_is_zero_too_early(accesses: list[Access]) -> None:
    assert told(*accesses) == ""
