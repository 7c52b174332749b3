"""How many tests, and how those ended that told nothing."""

from __future__ import annotations

from dataclasses import replace

from replay_dd.report.counts import tests_in_words as in_words
from replay_dd.report.counts import unresolved_in_words, why_unresolved
from replay_dd.schedules.signature import signature_of
from tests.schedules.logs import FAILED, PASSED

TIMED_OUT = signature_of(replace(PASSED, status=None, timed_out=True))
OTHER = signature_of(FAILED)
KILLED = signature_of(replace(PASSED, status=None, signal=9))
EXITED = signature_of(replace(PASSED, status=3))


def test_a_search_that_knew_some_answers_says_so() -> None:
    assert in_words(2, 2, 0.71) == "2 run, 0.7 s"
    assert in_words(15, 155, 2) == "15 run, 2.0 s (the search asked for 155 outcomes; 140 known from earlier tests)"


def test_each_unresolved_test_is_counted_with_its_reason() -> None:
    assert why_unresolved(TIMED_OUT) == "still running at the time limit"
    assert why_unresolved(OTHER) == "another failure: ValueError: no (prog.py:9 in work)"
    assert unresolved_in_words([]) == ""
    found = [(TIMED_OUT, 4), (OTHER, 2), (KILLED, 1), (EXITED, 1)]
    assert unresolved_in_words(found, shown=2) == (
        "8 of these tests neither passed nor failed as looked for: 4 still running at the time limit; "
        "2 another failure: ValueError: no (prog.py:9 in work); 2 otherwise"
    )
