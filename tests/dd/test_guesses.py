"""Guesses are asked about first; whatever they are worth, the answer is as right as without them."""

from __future__ import annotations

import pytest

from replay_dd.dd import DD, EMPTY, Groups, Guess, GuessesFirst, IntervalSet, Search
from replay_dd.outcome import Outcome

ALL = IntervalSet.range(0, 64)
CAUSE = IntervalSet.of([40, 41])


def _outcome(configuration: IntervalSet) -> Outcome:
    """Fails with all of the cause; mixtures with much of the rest cannot be run."""
    others = (configuration - CAUSE).count
    if 4 < others < 58:
        return Outcome.UNRESOLVED
    return Outcome.FAIL if configuration >= CAUSE else Outcome.PASS


def _search(guesses: list[IntervalSet]) -> tuple[Search, list[IntervalSet]]:
    search = Search(GuessesFirst(EMPTY, ALL, [*map(Guess, guesses)], DD))
    asked = []
    while (configuration := search.ask()) is not None:
        asked.append(configuration)
        search.copy().tell(configuration, Outcome.UNRESOLVED)  # a copy is independent
        search.tell(configuration, _outcome(configuration))
    return search, asked


@pytest.mark.parametrize(
    "guesses, most",
    [
        ([IntervalSet.range(39, 43)], 6),  # it has the cause, and is run alone
        ([IntervalSet.range(36, 42)], 9),  # alone it cannot be run; without it, it passes
        ([IntervalSet.range(0, 5), IntervalSet.range(39, 43)], 9),
        ([IntervalSet.range(0, 4)], 400),
        ([ALL, EMPTY], 400),
        ([], 400),
    ],
)
def test_the_difference_is_minimal_and_a_good_guess_saves_tests(guesses: list[IntervalSet], most: int) -> None:
    search, asked = _search(guesses)
    best = search.best
    assert (_outcome(best.c_pass), _outcome(best.c_fail)) == (Outcome.PASS, Outcome.FAIL)
    assert best.c_pass <= best.c_fail
    assert (best.c_fail - best.c_pass).count == 1
    assert best.c_fail - best.c_pass <= CAUSE
    assert len(asked) <= most
    assert len(set(asked)) == len(asked)


def test_a_guess_that_fails_is_what_the_search_goes_on_with() -> None:
    guess = IntervalSet.range(39, 43)
    search = Search(GuessesFirst(EMPTY, ALL, [Guess(guess), Guess(IntervalSet.range(30, 50))], DD))
    assert search.ask() == guess
    search.tell(guess, Outcome.FAIL)
    assert search.best.c_fail == guess
    following = search.ask()
    assert following is not None
    assert following <= guess


def test_what_was_run_in_the_place_of_a_guess_counts_only_between_the_ends() -> None:
    guess, run = IntervalSet.range(39, 43), IntervalSet.range(38, 44)
    algorithm = GuessesFirst(EMPTY, ALL, [Guess(guess)], DD)
    algorithm.tell(Outcome.FAIL, run)
    assert algorithm.c_fail == run
    outside = GuessesFirst(EMPTY, IntervalSet.range(0, 60), [Guess(guess)], DD)
    outside.tell(Outcome.FAIL, IntervalSet.range(38, 62))
    assert outside.c_fail == IntervalSet.range(0, 60)


def test_ends_that_do_not_contain_each_other() -> None:
    with pytest.raises(ValueError, match="contained"):
        GuessesFirst(IntervalSet.of([70]), ALL, [], DD)


@pytest.mark.parametrize("alone, without", [(True, False), (False, True)])
def test_a_guess_may_be_asked_about_on_one_side_only(alone: bool, without: bool) -> None:
    guess = IntervalSet.range(0, 30)
    algorithm = GuessesFirst(EMPTY, ALL, [Guess(guess, alone=alone, without=without)], DD)
    assert algorithm.ask() == (guess if alone else ALL - guess)
    algorithm.tell(Outcome.UNRESOLVED)
    assert algorithm.then is not None


def test_a_guess_may_be_left_out_as_it_is() -> None:
    guess = IntervalSet.range(0, 5)
    beside = IntervalSet.range(0, 8)
    split = Groups(lambda delta: delta, lambda asked, within: within, lambda asked, within: asked - beside)
    fitted = GuessesFirst(EMPTY, ALL, [Guess(guess, alone=False)], DD, split=split)
    assert fitted.ask() == ALL - beside
    algorithm = GuessesFirst(EMPTY, ALL, [Guess(guess, alone=False, fitted=False)], DD, split=split)
    assert algorithm.ask() == ALL - guess
    failed = algorithm.copy()
    failed.tell(Outcome.FAIL)
    assert failed.c_fail == ALL
    algorithm.tell(Outcome.PASS)
    assert (algorithm.c_pass, algorithm.difference) == (ALL - guess, guess)
    assert algorithm.then is not None


def test_a_guess_that_could_only_be_left_out_with_more_is_then_tried_alone() -> None:
    guess, more = IntervalSet.range(0, 5), IntervalSet.range(0, 30)
    algorithm = GuessesFirst(EMPTY, ALL, [Guess(guess, alone=False, fitted=False)], DD)
    assert algorithm.ask() == ALL - guess
    algorithm.tell(Outcome.PASS, ALL - more)
    assert algorithm.ask() == ALL - more | guess
    algorithm.tell(Outcome.FAIL)
    assert algorithm.difference == guess


def test_a_guess_that_is_asked_about_alone_as_it_is_may_fail() -> None:
    guess = IntervalSet.range(38, 44)
    split = Groups(lambda delta: delta, lambda asked, within: within, lambda asked, within: EMPTY)
    algorithm = GuessesFirst(EMPTY, ALL, [Guess(guess, without=False, fitted=False)], DD, split=split)
    assert algorithm.ask() == guess
    algorithm.tell(Outcome.FAIL)
    assert algorithm.c_fail == guess
    assert algorithm.then is not None
