"""The number of tests, and how unresolved ones ended."""

from __future__ import annotations

from replay_dd.circumstance import Judgement
from replay_dd.outcome import Outcome
from replay_dd.report.isolation import tests_in_words as in_words
from replay_dd.report.isolation import unresolved_in_words, why_unresolved

TIMED_OUT = Judgement(Outcome.UNRESOLVED, "still running at the time limit")
OTHER = Judgement(Outcome.UNRESOLVED, "ValueError: no (prog.py:9 in work)", failed=True)
KILLED = Judgement(Outcome.UNRESOLVED, "killed by SIGKILL", failed=True)
EXITED = Judgement(Outcome.UNRESOLVED, "exit status 3", failed=True)


def test_a_search_that_knew_some_answers_says_so() -> None:
    assert in_words(2, 2, 0.71) == "2 run, 0.7 s"
    assert in_words(15, 155, 2) == "15 run, 2.0 s (the search asked for 155 outcomes; 140 known from earlier tests)"


def test_each_unresolved_test_is_counted_with_its_reason() -> None:
    assert why_unresolved(TIMED_OUT) == "still running at the time limit"
    assert why_unresolved(OTHER) == "another failure: ValueError: no (prog.py:9 in work)"
    assert unresolved_in_words([]) == ""
    found = [(TIMED_OUT, 4), (OTHER, 2), (KILLED, 1), (EXITED, 1)]
    assert unresolved_in_words(found) == (
        "8 of these tests neither passed nor showed this failure: 4 still running at the time limit; "
        "2 another failure: ValueError: no (prog.py:9 in work); "
        "1 another failure: killed by SIGKILL; 1 otherwise"
    )
