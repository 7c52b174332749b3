from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from replay_dd.dd import DD, EMPTY, BookDD, DDMin, IntervalSet, PrefixBisection, Search, only_prefixes, requirements
from replay_dd.outcome import Outcome
from tests.dd.support import F, Oracle, P, U, parse, run, with_ends
from tests.dd.test_properties import oracles

TEN = IntervalSet.range(0, 10)


@given(oracles(), st.sampled_from(["subsets-first", "complements-only", "sweep"]))
def test_no_configuration_is_tested_twice(drawn: tuple[IntervalSet, Oracle], order: str) -> None:
    universe, oracle = drawn
    tested = []

    def noted(configuration: IntervalSet) -> Outcome:
        tested.append(configuration)
        return oracle(configuration)

    search = run(with_ends(DDMin(universe, order=order)), noted)
    assert len(set(tested)) == len(tested) == search.executed
    assert EMPTY not in tested
    assert universe not in tested
    uncached = run(Search(DDMin(universe, order=order), cache=False), oracle)
    assert uncached.best == search.best
    assert uncached.requested == uncached.executed == search.requested


@given(st.integers(2, 10), st.data())
def test_monotony_saves_tests_and_changes_no_answer(size: int, data: st.DataObject) -> None:
    universe = IntervalSet.range(0, size)
    cause = IntervalSet.of(data.draw(st.sets(st.integers(0, size - 1), min_size=1)))
    tested: list[IntervalSet] = []

    def oracle(configuration: IntervalSet) -> Outcome:
        assert not any(configuration <= passing for passing in tested if not cause <= passing)
        tested.append(configuration)
        return F if cause <= configuration else P

    search = run(with_ends(DDMin(universe), monotone=True), oracle)
    plain = run(with_ends(DDMin(universe)), lambda configuration: F if cause <= configuration else P)
    assert search.best == plain.best
    assert search.executed <= plain.executed
    assert search.requested == plain.requested


def test_predictions_are_asked_before_tests_and_after_the_cache() -> None:
    search = with_ends(DDMin(parse("0-7")), predict=only_prefixes(parse("0-7")))
    run(search, lambda configuration: F if 5 in configuration and 0 in configuration else P)
    assert {step.answered_by for step in search.statistics} == {"test", "cache", "prediction"}
    assert all(step.outcome is U for step in search.statistics if step.answered_by == "prediction")
    assert search.requested == len(search.statistics)
    assert search.executed == sum(step.answered_by == "test" for step in search.statistics)


def test_requirements() -> None:
    predict = requirements({3: parse("1-2"), 5: parse("4")})
    assert predict(parse("1-3")) is None
    assert predict(parse("2-3")) is U
    assert predict(parse("5")) is U
    assert predict(parse("4-5")) is None


@pytest.mark.parametrize("outcome", [P, F])
def test_a_prediction_must_not_claim_more_than_a_test_could_show(outcome: Outcome) -> None:
    search = with_ends(DD(EMPTY, TEN), predict=lambda configuration: outcome)
    with pytest.raises(ValueError, match="UNRESOLVED"):
        search.ask()


def test_statistics_tell_how_many_deltas_are_left() -> None:
    search = run(with_ends(DD(EMPTY, IntervalSet.range(0, 8))), lambda configuration: F if 6 in configuration else P)
    steps = search.statistics
    assert [step.number for step in steps] == list(range(1, len(steps) + 1))
    # Here each first question halves the difference, or is asked a second time before it does.
    assert [step.deltas_left for step in steps if step.answered_by == "test"][-1] <= 2
    assert steps[-1].deltas_left == 1
    assert steps[0].size == 4
    assert search.deltas_left == 1
    assert search.last_record == steps[-1]
    assert search.recent(2) == list(steps[-2:])


def test_statistics_can_be_left_out() -> None:
    search = run(with_ends(DD(EMPTY, TEN), statistics=False), lambda configuration: F if 6 in configuration else P)
    assert search.statistics == ()
    assert search.last_record is None
    assert search.requested > 0


def test_asking_twice_is_asking_once_and_only_the_question_is_answered() -> None:
    search = with_ends(BookDD(EMPTY, TEN))
    with pytest.raises(ValueError):
        search.tell(parse("0-4"), P)
    assert search.ask() == search.ask() == parse("0-4")
    with pytest.raises(ValueError):
        search.tell(parse("5-9"), P)
    search.tell(parse("0-4"), P)
    assert (search.requested, search.executed) == (1, 1)
    assert not search.done


def test_the_best_answer_is_there_at_any_time() -> None:
    search = with_ends(PrefixBisection(IntervalSet.range(0, 1000)))
    best = search.best.c_fail.count
    while (configuration := search.ask()) is not None:
        search.tell(configuration, F if parse("17 400") <= configuration else P)
        assert parse("17 400") <= search.best.c_fail
        assert search.best.c_fail.count <= best
        best = search.best.c_fail.count
    assert search.best.c_fail == search.best.difference == parse("17 400")
    assert search.done


@given(oracles())
@settings(max_examples=50)
def test_a_copy_goes_its_own_way(drawn: tuple[IntervalSet, Oracle]) -> None:
    universe, oracle = drawn
    search = with_ends(DDMin(universe))
    while (configuration := search.ask()) is not None:
        copied = search.copy()
        copied.tell(configuration, F)
        run(copied, lambda _: F)
        search.tell(configuration, oracle(configuration))
    assert search.best == run(with_ends(DDMin(universe)), oracle).best
    assert search.statistics == run(with_ends(DDMin(universe)), oracle).statistics


@given(oracles(), st.integers(0, 20))
def test_resuming_repeats_no_test(drawn: tuple[IntervalSet, Oracle], finished: int) -> None:
    universe, oracle = drawn
    whole = run(with_ends(DD(EMPTY, universe)), oracle)
    journal = {step.configuration: step.outcome for step in whole.statistics if step.answered_by == "test"}
    known = {EMPTY: P, universe: F, **dict(list(journal.items())[:finished])}
    resumed = run(Search(DD(EMPTY, universe), known=known), oracle)
    assert resumed.best == whole.best
    assert resumed.executed == max(0, whole.executed - finished)


def test_known_passing_configurations_count_for_monotony() -> None:
    search = Search(DDMin(TEN), known={parse("0-4"): P}, monotone=True)
    run(search, lambda configuration: F if 7 in configuration else P)
    assert all(not step.configuration <= parse("0-4") for step in search.statistics if step.answered_by == "test")
    assert search.best.c_fail == parse("7")
