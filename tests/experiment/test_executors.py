"""Tests on every kind of executor: real processes, and one that pickles like cluster schedulers."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from typing import Any

import pytest

from replay_dd.dd import DD, EMPTY, DDMin, IntervalSet
from replay_dd.errors.user import ExecutorBrokenError, NotAnOutcomeError, NotPicklableError
from replay_dd.experiment.calls import CheckedTest
from replay_dd.experiment.functions import dd, dd1999, ddmax, ddmin, ddplus, prefix_bisection, simplify
from replay_dd.experiment.search import run_search
from replay_dd.outcome import Outcome
from tests.dd.support import F, P, U, parse, with_ends


def needs_c_and_f(text: str) -> Outcome:
    assert multiprocessing.parent_process() is not None, "this is the process of the search"
    return F if "c" in text and "f" in text else P


def elsewhere(text: str) -> Outcome:
    kept = {"c", "f"} & set(text)
    return F if len(kept) == 2 else U if kept else P


def positions(configuration: IntervalSet) -> Outcome:
    return F if parse("3 11") <= configuration else P


def raises(text: str) -> Outcome:
    raise OSError(f"no such program: {text!r}")


def raises_about_pickling(text: str) -> Outcome:
    pickle.dumps(lambda: None)
    return P


def returns_true(text: str) -> Any:
    return True


def ends_its_process(text: str) -> Outcome:
    os._exit(1)


class PicklingExecutor(Executor):
    """Sends everything through pickle, in this process; it finds out at once, or in the future."""

    def __init__(self, *, at_once: bool, words: str = "") -> None:
        self._at_once = at_once
        self._words = words
        self.sent: list[int] = []

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            message = pickle.dumps((fn, args, kwargs))
        except Exception as error:
            if self._at_once and self._words:
                raise TypeError(self._words) from error
            if self._at_once:
                raise
            future.set_exception(error)
            return future
        self.sent.append(len(message))
        function, arguments, named = pickle.loads(message)
        try:
            future.set_result(function(*arguments, **named))
        except Exception as error:
            future.set_exception(error)
        return future


@pytest.fixture(scope="module")
def pool() -> Iterator[ProcessPoolExecutor]:
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as executor:
        yield executor


def answer(result: Any) -> tuple[Any, ...]:
    search = result.search
    return (result.passing, result.failing, result.difference, search.requested, search.executed, search.statistics)


@pytest.mark.parametrize("jobs", [1, 2, 5])
def test_spawned_processes_give_the_answer_of_a_serial_run(pool: ProcessPoolExecutor, jobs: int) -> None:
    text = "abcdefghij"
    for function, ends in (
        (dd, (None, text)),
        (ddmin, (text,)),
        (ddmax, ("a", text)),
        (prefix_bisection, (text,)),
        (simplify, (text,)),
        (dd1999, ("", text)),
        (ddplus, ("", text)),
    ):
        run: Any = function
        assert answer(run(elsewhere, *ends, executor=pool, jobs=jobs)) == answer(run(elsewhere, *ends))


def test_every_test_runs_on_the_executor(pool: ProcessPoolExecutor) -> None:
    assert ddmin(needs_c_and_f, "abcdefgh", executor=pool, jobs=2).failing == "cf"


def test_forked_by_a_server() -> None:
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("forkserver")) as executor:
        assert dd(needs_c_and_f, "c", "abcdefgh", executor=executor).difference == "f"


def test_a_search_of_configurations_runs_on_processes(pool: ProcessPoolExecutor) -> None:
    twenty = IntervalSet.range(0, 20)
    for algorithm in (DDMin(twenty), DD(EMPTY, twenty)):
        serial = run_search(with_ends(algorithm.copy()), positions)
        result = run_search(with_ends(algorithm), positions, jobs=2, executor=pool)
        assert (result.statistics, result.c_fail) == (serial.statistics, serial.c_fail)


def test_what_a_test_raises_in_a_process_arrives(pool: ProcessPoolExecutor) -> None:
    with pytest.raises(OSError, match="no such program: ''"):
        ddmin(raises, "abc", executor=pool)
    with pytest.raises(NotAnOutcomeError, match="returned True"):
        ddmin(returns_true, "abc", executor=pool)


def make_local() -> Callable[[Any], Outcome]:
    def test(text: Any) -> Outcome:
        return P

    return test


class HoldsALock:
    def __init__(self) -> None:
        self.lock = threading.Lock()

    def __call__(self, text: Any) -> Outcome:
        return P


@pytest.mark.parametrize("test", [make_local(), lambda text: P, HoldsALock()])
def test_a_test_that_cannot_be_sent_is_told_in_words(pool: ProcessPoolExecutor, test: Callable[[Any], Outcome]) -> None:
    executors = [PicklingExecutor(at_once=True), PicklingExecutor(at_once=False)]
    for executor in (pool, *executors, PicklingExecutor(at_once=True, words="not serializable")):
        with pytest.raises(NotPicklableError, match=r"^the test cannot be sent to another process: .") as caught:
            ddmin(test, "abc", executor=executor)
        assert caught.value.slug == "not-picklable"
        assert "top level" in caught.value.hint
        assert caught.value.__cause__ is not None


def test_a_case_that_cannot_be_sent_is_told_apart(pool: ProcessPoolExecutor) -> None:
    for executor in (pool, PicklingExecutor(at_once=True), PicklingExecutor(at_once=True, words="not serializable")):
        with pytest.raises(NotPicklableError, match=r"^a case for the test cannot be sent"):
            ddmin(elsewhere, [threading.Lock()], executor=executor)  # type: ignore[arg-type]


def test_an_error_of_the_test_is_not_taken_for_one_of_the_way() -> None:
    # It is about pickling, but not about pickling this test.
    for executor in (PicklingExecutor(at_once=False), PicklingExecutor(at_once=True)):
        with pytest.raises((AttributeError, pickle.PicklingError), match="lambda"):
            ddmin(raises_about_pickling, "abc", executor=executor)

    # Even an error identical to that of sending this test is the test's own if nothing is pickled.
    def test(text: str) -> Outcome:
        pickle.dumps(CheckedTest(test))
        return P

    with ThreadPoolExecutor(1) as threads, pytest.raises((AttributeError, pickle.PicklingError)):
        ddmin(test, "abc", executor=threads)


def test_an_executor_that_is_shut_down_says_so_itself() -> None:
    executor = ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn"))
    executor.shutdown()
    with pytest.raises(RuntimeError, match="shutdown"):
        ddmin(lambda text: P, "abc", executor=executor)


def test_lost_workers_are_told_in_words() -> None:
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as executor:
        for _ in range(2):  # at first in the future, and then from submit() itself
            with pytest.raises(ExecutorBrokenError, match="ended before the test did") as caught:
                ddmin(ends_its_process, "abc", executor=executor)
            assert '__name__ == "__main__"' in caught.value.hint


def test_only_the_case_is_sent() -> None:
    executor = PicklingExecutor(at_once=True)
    text = "x" * 1_000_000 + "cf"
    assert ddmin(elsewhere, text, executor=executor).failing == "cf"
    assert sum(size < 1000 for size in executor.sent) > 10, "the whole text goes along with every test"


def test_predictions_are_made_here(pool: ProcessPoolExecutor) -> None:
    predicted = []

    def predict(text: str) -> Outcome | None:
        predicted.append(text)
        return U if text == "abcd" else None

    assert ddmin(elsewhere, "abcdefgh", executor=pool, predict=predict).failing == "cf"
    assert "abcd" in predicted
