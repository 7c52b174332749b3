from __future__ import annotations

import math
import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from itertools import islice
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from replay_dd.dd import (
    DD,
    EMPTY,
    AdaptiveBisection,
    Algorithm,
    BookDD,
    DDMin,
    DDPlus,
    IntervalSet,
    PrefixBisection,
    Search,
)
from replay_dd.experiment.search import SearchResult, run_search
from replay_dd.experiment.speculation import Workers, _chances, likely_next
from replay_dd.outcome import Outcome
from tests.dd.support import F, Oracle, P, U, parse, with_ends
from tests.dd.test_properties import oracles

TWENTY = IntervalSet.range(0, 20)


def fails_with(numbers: str) -> Oracle:
    cause = parse(numbers)
    return lambda configuration: F if cause <= configuration else U if configuration & cause else P


def committed(result: SearchResult) -> tuple[object, ...]:
    """All of a result that must not depend on the number of workers."""
    return (result.c_pass, result.c_fail, result.requested, result.executed, result.statistics, result.complete)


ALGORITHMS: dict[str, Callable[[IntervalSet], Algorithm]] = {
    "DD": lambda universe: DD(EMPTY, universe),
    "BookDD": lambda universe: BookDD(EMPTY, universe),
    "DDMin": DDMin,
    "DDPlus": lambda universe: DDPlus(EMPTY, universe),
    "PrefixBisection": PrefixBisection,
    "AdaptiveBisection": AdaptiveBisection,
}


@pytest.mark.parametrize("name", ALGORITHMS)
@given(st.data())
@settings(max_examples=20)
def test_the_result_does_not_depend_on_the_number_of_workers(name: str, data: st.DataObject) -> None:
    universe, oracle = data.draw(oracles())
    serial = run_search(with_ends(ALGORITHMS[name](universe)), oracle)
    for jobs in (2, 5):
        parallel = run_search(with_ends(ALGORITHMS[name](universe)), oracle, jobs=jobs)
        assert committed(parallel) == committed(serial)
    assert serial.speculative == 0


@pytest.mark.parametrize("name", ["DD", "PrefixBisection", "AdaptiveBisection"])
@pytest.mark.parametrize("workers", [3, 7])
def test_workers_cut_a_monotone_search_into_fewer_rounds(workers: int, name: str) -> None:
    """With each round, no search can cut the universe into more than ``workers + 1`` parts."""
    size = 10**9
    universe = IntervalSet.range(0, size)
    least = math.ceil(math.log(size, workers + 1))
    for needed in (0, size // 3, 123_456_789, size - 1):
        search = Search(ALGORITHMS[name](universe), known={EMPTY: P, universe: F})
        finished: dict[IntervalSet, Outcome] = {}
        rounds = 0
        while (asked := search.ask()) is not None:
            if asked not in finished:
                rounds += 1
                ahead = (one for one in likely_next(search, finished) if one != asked and one not in finished)
                for one in [asked, *islice(ahead, workers - 1)]:
                    finished[one] = F if needed in one else P
            search.tell(asked, finished[asked])
        assert search.best.c_fail - search.best.c_pass == IntervalSet.range(needed, needed + 1)
        assert rounds <= 1.25 * least + 1


def test_idle_workers_really_run_ahead() -> None:
    # Each test waits until another one runs beside it, which only happens with speculation.
    together = threading.Barrier(2)

    def oracle(configuration: IntervalSet) -> Outcome:
        together.wait(timeout=30)
        return P

    search = with_ends(DDMin(IntervalSet.range(0, 2)))
    result = run_search(search, oracle, jobs=2)
    assert result.executed == 2
    assert result.speculative == 0


def test_tests_that_were_run_for_nothing_are_counted() -> None:
    ran = []
    lock = threading.Lock()

    def oracle(configuration: IntervalSet) -> Outcome:
        with lock:
            ran.append(configuration)
        return fails_with("3 11 17")(configuration)

    result = run_search(with_ends(DDMin(TWENTY)), oracle, jobs=4)
    assert result.c_fail == parse("3 11 17")
    assert len(ran) == len(set(ran)) == result.executed + result.speculative


def test_an_executor_of_the_caller_is_used_and_left_open() -> None:
    threads = set()

    def oracle(configuration: IntervalSet) -> Outcome:
        threads.add(threading.current_thread().name)
        return fails_with("3 11")(configuration)

    with ThreadPoolExecutor(2, "mine") as executor:
        result = run_search(with_ends(DDMin(TWENTY)), oracle, jobs=2, executor=executor)
        assert result.c_fail == parse("3 11")
        assert executor.submit(lambda: 7).result() == 7
    assert threads
    assert all(name.startswith("mine") for name in threads)


@pytest.mark.parametrize("jobs", [1, 3])
def test_a_limit_on_tests_gives_the_best_result_so_far(jobs: int) -> None:
    search = with_ends(DDMin(TWENTY))
    stopped = run_search(search, fails_with("3 11"), jobs=jobs, max_tests=9)
    assert (stopped.executed, stopped.complete, stopped.stopped_by) == (9, False, "tests")
    assert parse("3 11") <= stopped.c_fail < TWENTY
    assert stopped.requested == len(stopped.statistics)
    finished = run_search(search, fails_with("3 11"), jobs=jobs)
    assert finished.complete
    assert finished.stopped_by is None
    assert committed(finished) == committed(run_search(with_ends(DDMin(TWENTY)), fails_with("3 11")))


def test_a_limit_that_is_just_enough_stops_nothing() -> None:
    needed = run_search(with_ends(DDMin(TWENTY)), fails_with("3 11")).executed
    assert run_search(with_ends(DDMin(TWENTY)), fails_with("3 11"), max_tests=needed).complete
    assert not run_search(with_ends(DDMin(TWENTY)), fails_with("3 11"), max_tests=needed - 1).complete


def test_a_time_limit_looks_at_the_given_clock() -> None:
    now = [100.0]

    def oracle(configuration: IntervalSet) -> Outcome:
        now[0] += 10
        return fails_with("3 11")(configuration)

    result = run_search(with_ends(DDMin(TWENTY)), oracle, time_limit_s=35, clock=lambda: now[0])
    assert (result.executed, result.complete, result.stopped_by) == (4, False, "time")


@pytest.mark.parametrize("jobs", [1, 3])
def test_an_interrupt_gives_the_best_result_so_far(jobs: int) -> None:
    def oracle(configuration: IntervalSet) -> Outcome:
        if configuration.count < 5:
            raise KeyboardInterrupt
        return fails_with("3 11")(configuration)

    result = run_search(with_ends(DDMin(TWENTY)), oracle, jobs=jobs)
    assert (result.complete, result.stopped_by) == (False, "interrupt")
    assert parse("3 11") <= result.c_fail < TWENTY


@pytest.mark.parametrize("jobs", [1, 3])
def test_what_a_test_raises_arrives(jobs: int) -> None:
    def oracle(configuration: IntervalSet) -> Outcome:
        raise OSError("no such program")

    with pytest.raises(OSError, match="no such program"):
        run_search(with_ends(DDMin(TWENTY)), oracle, jobs=jobs)


def test_an_error_in_a_test_that_was_not_needed_is_no_error() -> None:
    def oracle(configuration: IntervalSet) -> Outcome:
        # Serially, this search never asks for the second half.
        if 0 not in configuration:
            raise OSError("never asked for")
        return F

    result = run_search(with_ends(DDMin(TWENTY)), oracle, jobs=4)
    assert result.c_fail == parse("0")


def test_each_executed_test_is_reported_in_order() -> None:
    reported: list[Any] = []
    result = run_search(with_ends(DDMin(TWENTY)), fails_with("3 11"), jobs=3, on_test=reported.append)
    assert reported == [step for step in result.statistics if step.answered_by == "test"]
    assert len(reported) == result.executed < result.requested


def test_without_records_there_is_nothing_to_report() -> None:
    reported: list[Any] = []
    search = with_ends(DDMin(TWENTY), statistics=False)
    assert run_search(search, fails_with("3 11"), on_test=reported.append).complete
    assert reported == []


def test_jobs_must_be_positive() -> None:
    with pytest.raises(ValueError):
        run_search(with_ends(DDMin(TWENTY)), fails_with("3"), jobs=0)


class Waiting(Executor):
    """Runs nothing: a test of this file says when a future has its outcome."""

    def __init__(self) -> None:
        self.futures: dict[IntervalSet, Future[Outcome]] = {}

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        self.futures[args[0]] = future
        return future


def test_idle_workers_use_what_has_been_found_out_ahead() -> None:
    search = with_ends(DDMin(IntervalSet.range(0, 8)))
    executor = Waiting()
    workers = Workers(search, fails_with("3"), 3, executor)
    pending = search.ask()
    assert pending is not None
    workers._start(pending)
    assert len(workers._fill()) == 3
    assert list(executor.futures) == [parse("0-3"), parse("4-7"), parse("0-1")]
    assert workers._fill() == list(executor.futures.values()), "nobody is idle"
    # As this did not fail, its halves are not asked for.
    executor.futures[parse("4-7")].set_result(U)
    assert len(workers._fill()) == 3
    assert list(executor.futures)[3:] == [parse("2-3")]
    # An error ahead is nobody's business yet, and no outcome.
    executor.futures[parse("2-3")].set_exception(OSError())
    assert len(workers._fill()) == 3
    workers.close()
    assert workers.unused == 2, "those that ended; the others were cancelled"


def test_guesses_rest_on_the_latest_outcomes() -> None:
    search = with_ends(DDMin(IntervalSet.range(0, 200), order="complements-only"))
    for number in range(40):
        configuration = search.ask()
        assert configuration is not None
        search.tell(configuration, U if number < 8 else P)
    assert len(search.recent(40)) == 40
    assert {step.answered_by for step in search.recent(40)} == {"test"}
    assert _chances(search) == {P: 33 / 35, F: 1 / 35, U: 1 / 35}


def test_guessing_changes_nothing_and_names_no_configuration_twice() -> None:
    search = with_ends(DDMin(IntervalSet.range(0, 8)))
    pending = search.ask()
    guessed = list(likely_next(search, {}))
    assert guessed[0] == pending
    assert len(set(guessed)) == len(guessed) > 10
    assert search.ask() == pending
    assert search.requested == 0
    # A finished test is no longer a guess: if the first half fails, it is its halves that come next.
    ahead = likely_next(search, {parse("0-3"): F})
    assert next(ahead) == parse("0-1")
