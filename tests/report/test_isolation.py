"""The first line of an answer, the number of tests, and how unresolved ones ended."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from replay_dd.circumstance import Items, Judgement
from replay_dd.experiment.baseline import Rate
from replay_dd.experiment.driver import isolate_cause
from replay_dd.experiment.proof import Proof
from replay_dd.experiment.result import Isolation
from replay_dd.outcome import Outcome
from replay_dd.report.isolation import (
    headline,
    needs_in_words,
    not_reproduced_in_words,
    proof_in_words,
    unresolved_in_words,
    why_unresolved,
)
from replay_dd.report.isolation import tests_in_words as in_words

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


def isolated(fails: Callable[[set[int]], bool], **how: Any) -> Isolation[Any]:
    """An isolation of eight items, and a run that fails or not."""
    items = Items(range(8), lambda left: fails(set(left)), lambda failed: "failure" if failed else None)  # type: ignore[arg-type]
    items.flaky = True
    return isolate_cause(items, **how)


def test_a_search_that_was_stopped_claims_no_more_than_it_knows() -> None:
    def fails(left: set[int]) -> bool:
        return {3, 5} <= left

    assert headline(isolated(fails)) == "The failure needs 2 items of 8:"
    stopped = isolated(fails, max_tests=1)
    assert headline(stopped).startswith("The failure needs at most ")
    assert next(needs_in_words(stopped, 6, 8, "item")) == "The failure needs at most 6 items of 8:"


def test_the_rate_of_the_answer_stands_in_the_first_line() -> None:
    steady = isolated(lambda left: 3 in left)
    assert list(needs_in_words(steady, 1, 8, "item")) == ["The failure needs 1 item of 8:"]
    sometimes = replace(steady, proof=Proof(Rate(7, 12), holds=True))
    assert list(needs_in_words(sometimes, 1, 8, "item")) == [
        "The failure needs 1 item of 8; with this it shows in 7 of 12 replays:"
    ]


def test_an_answer_that_fresh_runs_did_not_confirm_is_none() -> None:
    assert not list(not_reproduced_in_words(Proof()))
    told = [
        next(not_reproduced_in_words(Proof(failing, passing)))
        for failing, passing in [(Rate(0, 3), Rate(0, 0)), (Rate(1, 12), Rate(0, 0)), (Rate(12, 12), Rate(1, 12))]
    ]
    assert [line.partition("the answer ")[2] for line in told] == [
        "never failed this way.",
        "failed only once, less often than before the search.",
        "failed without the difference, too.",
    ]
    right = isolated(lambda left: 3 in left)
    wrong = replace(right, proof=Proof(Rate(0, 3)))
    assert proof_in_words(right) == "fresh runs: 3 of 3 fail"
    assert proof_in_words(wrong) == "FAILED: fresh runs: 0 of 3 fail"
    assert list(needs_in_words(wrong, 1, 8, "item"))[1].startswith("The search ended with 1 item of 8; with this it")
