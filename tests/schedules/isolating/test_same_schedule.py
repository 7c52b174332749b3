"""What makes the difference where a passing and a failing run made the same switches."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from replay_dd.schedules.isolating.same_schedule import outside_decides
from replay_dd.schedules.model import Log
from tests.schedules.logs import FAILED, log_of, schedule

CAME = ("arrival", "0.1", 2, "0.1", 14, 5, "from 4")
DID_NOT = ("arrival", "0.1", 2, "", 0, None)
BEFORE = ("arrival", "0", 1, "0", 0, 1)


def logs(passing: Any, failing: Any) -> tuple[Log, Log]:
    return replace(log_of([]), arrivals=passing), replace(log_of([], FAILED), arrivals=failing)


def test_an_answer_that_came_in_one_run_only_decides() -> None:
    assert outside_decides(*logs((BEFORE, CAME), (BEFORE, DID_NOT))) == (
        "What came from outside decides, and when: in the passing run, wait 2 of thread 0.1 for something outside gets "
        "an answer from 4; in the failing run, wait 2 of thread 0.1 for something outside ends without an answer."
    )


def test_the_line_is_told_that_made_a_wait_which_a_time_out_ended() -> None:
    told = outside_decides(*logs((CAME,), ((*DID_NOT, "at prog.py:12"),)))
    assert "wait 2 of thread 0.1 for something outside (prog.py:12) gets an answer from 4; in" in told
    assert told.endswith("wait 2 of thread 0.1 for something outside (prog.py:12) ends without an answer.")


@pytest.mark.parametrize(
    ("passing", "failing"),
    [
        ((BEFORE, CAME), (BEFORE, CAME)),
        ((BEFORE, CAME), (BEFORE, (*CAME[:3], "0", 13, *CAME[5:]))),  # another thread ran when it came
        ((BEFORE, CAME), (BEFORE,)),
        (((*CAME, 7),), (("due", "0.1", 3, "0"),)),
    ],
)
def test_what_differs_otherwise_is_not_told(passing: Any, failing: Any) -> None:
    assert outside_decides(*logs(passing, failing)) == ""


def test_an_answer_of_another_length_decides() -> None:
    other = (*CAME[:5], 3, CAME[6])
    assert "thread 0.1 for something outside gets an answer from 4" in outside_decides(*logs((CAME,), (other,)))


def test_where_the_schedules_differ_they_may_decide() -> None:
    passing, failing = logs((CAME,), (DID_NOT,))
    assert outside_decides(passing, failing)
    other = replace(failing, switches=schedule(("0", 3, "0.1"), stops=[("0", 9, "0.1")]).switches)
    assert outside_decides(passing, other) == ""
