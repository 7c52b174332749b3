"""Algorithms that are told what was tested in the place of what they asked for."""

from __future__ import annotations

import random

import pytest

from replay_dd.dd import (
    DD,
    EMPTY,
    Algorithm,
    CheckedDDPlus,
    DDMin,
    DDPlus,
    Groups,
    IntervalSet,
    PrefixBisection,
    Search,
)
from replay_dd.outcome import Outcome
from tests.dd.support import F, P, U, parse

EIGHT = parse("1-8")


def drive(algorithm: Algorithm, needs: dict[int, int], cause: IntervalSet) -> Search:
    """Search where a delta needs another one, which is added; a failure is what contains the cause."""

    def closed(configuration: IntervalSet) -> IntervalSet:
        while True:
            more = IntervalSet.of([needs[one] for one in configuration if one in needs]) - configuration
            if not more:
                return configuration
            configuration = configuration | more

    search = Search(algorithm, known={EMPTY: P, EIGHT: F}, realised=closed)
    while (asked := search.ask()) is not None:
        search.tell(asked, F if cause <= closed(asked) else P)
    best = search.best
    assert best.c_pass <= best.c_fail
    for end, fails in ((best.c_pass, False), (best.c_fail, True)):
        assert closed(end) == end, "an end that was never tested"
        assert (cause <= end) == fails
    return search


@pytest.mark.parametrize("seed", range(60))
@pytest.mark.parametrize("kind", [DD, CheckedDDPlus])
def test_ends_are_what_was_tested(kind: type[Algorithm], seed: int) -> None:
    chance = random.Random(seed)
    needs = {number: chance.randint(1, number - 1) for number in range(2, 9) if chance.random() < 0.6}
    cause = IntervalSet.of(chance.sample(range(1, 9), chance.choice([1, 1, 2])))
    drive(kind(EMPTY, EIGHT), needs, cause)  # type: ignore[call-arg]


def test_dd_goes_on_from_what_was_tested() -> None:
    search = drive(DD(EMPTY, EIGHT), {8: 1}, parse("8"))
    assert search.best.difference == parse("8")
    assert search.best.c_fail >= parse("1 8")


def test_what_is_not_between_the_ends_says_nothing() -> None:
    algorithm = DD(EMPTY, EIGHT)
    asked = algorithm.ask()
    algorithm.tell(F, parse("1-9"))
    assert (algorithm.c_fail, algorithm.ask() is not None) == (EIGHT, True)
    algorithm = DD(EMPTY, EIGHT)
    algorithm.tell(F, EIGHT)
    assert algorithm.c_fail == EIGHT
    algorithm = DD(EMPTY, EIGHT)
    assert algorithm.ask() == asked
    algorithm.tell(F, asked)
    assert algorithm.c_fail == asked


def test_algorithms_that_cannot_use_it_take_it_for_unresolved() -> None:
    told, unresolved = PrefixBisection(EIGHT), PrefixBisection(EIGHT)
    told.tell(F, parse("1-7"))
    unresolved.tell(U)
    assert told.c_fail == unresolved.c_fail == EIGHT
    assert told.ask() == unresolved.ask()


def test_ddmin_takes_what_failed_if_it_is_smaller() -> None:
    algorithm = DDMin(EIGHT, base=parse("8"))
    algorithm.tell(F, parse("1-5 8"))
    assert algorithm.c_fail == parse("1-5 8")
    other, unresolved = algorithm.copy(), algorithm.copy()
    other.tell(F, parse("1-6 8"))
    unresolved.tell(U)
    assert (other.c_fail, other.ask()) == (parse("1-5 8"), unresolved.ask()), "that is no smaller failure"


@pytest.mark.parametrize("seed", range(20))
def test_ddmin_ends_with_what_was_tested(seed: int) -> None:
    chance = random.Random(seed)
    needs = {number: chance.randint(1, number - 1) for number in range(2, 9) if chance.random() < 0.6}
    drive(DDMin(EIGHT), needs, IntervalSet.of(chance.sample(range(1, 9), chance.choice([1, 1, 2]))))


# -- what an algorithm completes by itself -----------------------------------------------------------------------------


def grouped(needs: dict[int, int], size: int = 2) -> Groups:
    """Groups of neighbours, and deltas that need another one."""

    def complete(asked: IntervalSet, within: IntervalSet) -> IntervalSet:
        while more := IntervalSet.of([needs[one] for one in asked if one in needs]) & within - asked:
            asked = asked | more
        return asked

    return Groups(lambda delta: (delta - 1) // size, complete)


@pytest.mark.parametrize("seed", range(60))
@pytest.mark.parametrize("kind", [DD, DDMin])
def test_what_is_asked_is_complete_and_groups_are_left(kind: type[Algorithm], seed: int) -> None:
    chance = random.Random(seed)
    needs = {number: chance.randint(1, number - 1) for number in range(2, 9) if chance.random() < 0.5}
    split, cause = grouped(needs), chance.randint(1, 8)
    algorithm = DD(EMPTY, EIGHT, split=split) if kind is DD else DDMin(EIGHT, split=split)
    search = Search(algorithm, known={EMPTY: P, EIGHT: F})

    def test(asked: IntervalSet) -> Outcome:
        missing = any(one in asked and needed not in asked for one, needed in needs.items())
        return U if missing else F if cause in asked else P

    while (asked := search.ask()) is not None:
        search.tell(asked, test(asked))
    assert (test(search.best.c_fail), test(search.best.c_pass)) == (F, P)
    assert cause in search.best.difference
    if not needs:
        assert search.best.difference == parse(f"{(cause - 1) // 2 * 2 + 1}-{(cause - 1) // 2 * 2 + 2}")


def test_a_part_whose_needs_are_everything_is_asked_for_as_it_is() -> None:
    algorithm = DD(EMPTY, parse("1-4"), split=grouped({1: 3, 2: 4, 3: 1, 4: 2}))
    assert algorithm.ask() in (parse("1-2"), parse("3-4"))


def test_groups_share_out_what_is_left_of_them() -> None:
    split = grouped({}, size=3)
    assert list(split(parse("1-2 4-7"), 2)) == [parse("1-2"), parse("4-7")]
    assert list(split(parse("1-2 4-7"), 9)) == [parse("1-2"), parse("4-6"), parse("7")]
    assert split.most_parts(parse("1-2 4-7")) == 3


# -- dd+ whose answer is checked ---------------------------------------------------------------------------------------


def outcomes(search: Search, test: object) -> list[str]:
    while (asked := search.ask()) is not None:
        search.tell(asked, test(asked))  # type: ignore[operator]
    return [repr(step.configuration) for step in search.statistics]


def test_it_asks_what_dd_plus_asks_and_then_for_the_answer() -> None:
    def both(configuration: IntervalSet) -> Outcome:
        return F if parse("3 6") <= configuration else P

    plain = outcomes(Search(DDPlus(EMPTY, EIGHT), known={EMPTY: P, EIGHT: F}), both)
    checked = Search(CheckedDDPlus(EMPTY, EIGHT), known={EMPTY: P, EIGHT: F})
    assert outcomes(checked, both) == [*plain, repr(parse("3 6"))]
    assert checked.best.c_fail == parse("3 6")


def test_dd_goes_on_where_the_answer_does_not_fail() -> None:
    """3 and 6 fail only together with 1, and only where no more than one other change is missing."""

    def fussy(configuration: IntervalSet) -> Outcome:
        return F if parse("3 6") <= configuration and configuration.count >= 5 else P

    search = Search(CheckedDDPlus(EMPTY, EIGHT), known={EMPTY: P, EIGHT: F})
    outcomes(search, fussy)
    best = search.best
    assert fussy(best.c_fail) is F
    assert fussy(best.c_pass) is P
    assert best.difference.count == 1
