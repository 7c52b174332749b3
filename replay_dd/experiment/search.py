"""Run a search: serially, or ahead of itself on several workers, with limits, and with the functions for scripts.

Rules of this module:

* Outcomes are committed in the order in which a serial run would have asked, so the answer and the counts *requested*
  and *executed* do not depend on the number of workers. Tests that were run ahead for nothing are counted apart, as
  *speculative*.
* However a search ends (done, a limit, Ctrl-C), it gives the best result so far and says what stopped it.
* When it returns no test is running any more: tests that nobody needs are cancelled or waited for.
* The clock is only looked at between tests; a test that hangs is a matter of the test's own time-out.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any, Literal, TypedDict, Unpack

from replay_dd.dd.algorithm import Algorithm
from replay_dd.dd.bisection import PrefixBisection
from replay_dd.dd.intervals import IntervalSet
from replay_dd.dd.isolate import DD
from replay_dd.dd.minimize import DDMax, DDMin
from replay_dd.dd.search import Search, Step
from replay_dd.dd.sequences import Deltas, Items
from replay_dd.dd.split import Splitter
from replay_dd.dd.wynot import DD1999, DDPlus
from replay_dd.errors.program import DoesNotFailError, DoesNotPassError
from replay_dd.experiment.speculation import Test, Workers
from replay_dd.outcome import Outcome

Clock = Callable[[], float]
"""Seconds since some fixed moment, as ``time.monotonic`` gives them."""

StoppedBy = Literal["interrupt", "tests", "time"]


@dataclass(frozen=True, slots=True)
class SearchResult:
    """What a search found, and what it cost.

    Attributes:
        c_pass: the largest passing configuration found (the fixed base, for searches that only simplify).
        c_fail: the smallest failing configuration found.
        complete: whether the search came to its end, so that all its algorithm promises holds.
        stopped_by: what ended an incomplete search: ``"interrupt"``, ``"tests"``, ``"time"``; otherwise ``None``.
        requested: how many configurations the algorithm asked for.
        executed: how many tests a serial run would have run.
        speculative: how many tests were run ahead and not needed.
        statistics: one record for each requested configuration, in order.
    """

    c_pass: IntervalSet
    c_fail: IntervalSet
    complete: bool
    stopped_by: StoppedBy | None
    requested: int
    executed: int
    speculative: int
    statistics: tuple[Step, ...]

    @property
    def difference(self) -> IntervalSet:
        """The deltas in ``c_fail`` that are not in ``c_pass``."""
        return self.c_fail - self.c_pass


def run_search(
    search: Search,
    test: Test,
    *,
    jobs: int = 1,
    executor: Executor | None = None,
    max_tests: int | None = None,
    time_limit_s: float | None = None,
    clock: Clock = time.monotonic,
    on_test: Callable[[Step], None] | None = None,
    on_interrupt: Callable[[], None] | None = None,
) -> SearchResult:
    """Run a search to its end, or to a limit.

    Args:
        search: the search; afterwards it holds the outcomes told, and can be run on.
        test: tests one configuration. With more than one job it is called from several threads (or sent to the workers
            of the executor), so it must not share state between calls.
        jobs: how many tests may run at the same time.
        executor: where to run them; a pool of ``jobs`` threads where none is given. It is not shut down.
        max_tests: stop after that many executed tests.
        time_limit_s: stop before the first test that would start after so many seconds.
        clock: the clock for ``time_limit_s``.
        on_test: called after each executed test, in serial order.
        on_interrupt: called at Ctrl-C, to end the tests that other workers are still at.

    Returns:
        The result; the best one so far where a limit, or Ctrl-C, stopped the search.

    Raises:
        ValueError: ``jobs`` is less than 1.
        Exception: whatever ``test`` raises for a configuration that a serial run would have tested.
    """
    if jobs < 1:
        raise ValueError("jobs must be at least 1")
    ends_at = None if time_limit_s is None else clock() + time_limit_s
    executed_before = search.executed
    stopped_by: StoppedBy | None = None
    workers = Workers(search, test, jobs, executor)
    try:
        while (configuration := search.ask()) is not None:
            if max_tests is not None and search.executed - executed_before >= max_tests:
                stopped_by = "tests"
                break
            if ends_at is not None and clock() >= ends_at:
                stopped_by = "time"
                break
            search.tell(configuration, workers.outcome_of(configuration))
            if on_test is not None and search.last_record is not None:
                on_test(search.last_record)
    except KeyboardInterrupt:
        stopped_by = "interrupt"
        if on_interrupt is not None:
            on_interrupt()
    finally:
        workers.close()
    best = search.best
    return SearchResult(
        c_pass=best.c_pass,
        c_fail=best.c_fail,
        complete=stopped_by is None,
        stopped_by=stopped_by,
        requested=search.requested,
        executed=search.executed,
        speculative=workers.unused,
        statistics=search.statistics,
    )


def check_end_points(
    test: Test, c_pass: IntervalSet, c_fail: IntervalSet, *, may_be_unresolved: bool = False
) -> dict[IntervalSet, Outcome]:
    """Test the two end points of a search before it starts, first the one that passes.

    Args:
        test: the test.
        c_pass: what must pass.
        c_fail: what must fail.
        may_be_unresolved: accept ``UNRESOLVED`` for ``c_pass``; ddmin needs no more than that it does not fail.

    Returns:
        Their outcomes, as ``Search(known=...)`` takes them.

    Raises:
        DoesNotPassError: ``c_pass`` does not pass.
        DoesNotFailError: ``c_fail`` does not fail.
    """
    of_pass = test(c_pass)
    if of_pass is Outcome.FAIL or (of_pass is Outcome.UNRESOLVED and not may_be_unresolved):
        raise DoesNotPassError(f"the passing case came out as {of_pass.value}")
    of_fail = test(c_fail) if c_fail != c_pass else of_pass
    if of_fail is not Outcome.FAIL:
        raise DoesNotFailError(f"the failing case came out as {of_fail.value}")
    return {c_pass: of_pass, c_fail: of_fail}


class RunOptions(TypedDict, total=False):
    """What every function for scripts accepts by name.

    Attributes:
        monotone: take it that whatever is contained in a passing configuration passes, and do not test it.
        predict: called like the test; it may answer ``UNRESOLVED`` without a test, or ``None`` for "test it".
        jobs: how many tests may run at the same time.
        executor: where to run them, instead of threads.
        max_tests: stop after that many tests with the best result so far.
        time_limit_s: stop after so many seconds, before the next test, with the best result so far.
        on_test: called with a record of each executed test.
    """

    monotone: bool
    predict: Callable[[Any], Outcome | None] | None
    jobs: int
    executor: Executor | None
    max_tests: int | None
    time_limit_s: float | None
    on_test: Callable[[Step], None] | None


@dataclass(frozen=True, slots=True)
class Isolation:
    """The answer of a function for scripts, in terms of the caller's own items.

    Attributes:
        passing: the largest passing case found; for functions that only simplify, nothing (or the base).
        failing: the smallest failing case found.
        difference: the elements that are in ``failing`` and not in ``passing``.
        search: the same answer in positions, with its counts and statistics. The tests of the two end points, which
            come first, are not counted there.
    """

    passing: Any
    failing: Any
    difference: Any
    search: SearchResult

    @property
    def complete(self) -> bool:
        """Whether the search came to its end, so that all its algorithm promises holds."""
        return self.search.complete

    @property
    def requested(self) -> int:
        """How many configurations the algorithm asked for."""
        return self.search.requested

    @property
    def executed(self) -> int:
        """How many different tests that took, beside the end points."""
        return self.search.executed


def dd(
    test: Callable[[Any], Outcome],
    pass_: Items | None,
    fail: Items,
    *,
    split: str | Splitter = "floor",
    **options: Unpack[RunOptions],
) -> Isolation:
    """Isolate what makes ``fail`` fail where ``pass_`` passes: a 1-minimal difference between the two.

    Args:
        test: called with a part of ``fail``, of the same kind as ``fail`` (string, bytes, tuple, otherwise a list; an
            :class:`~replay_dd.dd.intervals.IntervalSet` for a range); returns an outcome.
        pass_: what passes; contained, in order, in ``fail``. ``None`` stands for nothing at all.
        fail: what fails.
        split: a split rule (``floor``, ``round``, ``front``, ``slices``) or a splitter.
        **options: see :class:`RunOptions`.

    Returns:
        The largest passing and the smallest failing case, and their difference.

    Raises:
        DoesNotPassError: ``pass_`` does not pass.
        DoesNotFailError: ``fail`` does not fail.
        PassNotContainedError: ``pass_`` is not contained in ``fail``.

    Source: see :class:`~replay_dd.dd.isolate.DD`.
    """
    deltas = Deltas(fail)
    c_pass = deltas.positions_of(pass_)
    return _isolate(DD(c_pass, deltas.all, split=split), deltas, test, options)


def ddmin(
    test: Callable[[Any], Outcome],
    items: Items,
    *,
    order: str = "subsets-first",
    split: str | Splitter = "floor",
    **options: Unpack[RunOptions],
) -> Isolation:
    """Simplify ``items`` to a 1-minimal case that still fails.

    Args:
        test: called with a part of ``items``, of the same kind; returns an outcome.
        items: what fails.
        order: ``subsets-first``, ``complements-only`` or ``sweep``; see :class:`~replay_dd.dd.minimize.DDMin`.
        split: a split rule (``floor``, ``round``, ``front``, ``slices``) or a splitter.
        **options: see :class:`RunOptions`.

    Returns:
        The simplified case is ``failing``.

    Raises:
        DoesNotPassError: nothing at all fails already.
        DoesNotFailError: ``items`` do not fail.

    Source: see :class:`~replay_dd.dd.minimize.DDMin`.
    """
    deltas = Deltas(items)
    return _isolate(DDMin(deltas.all, order=order, split=split), deltas, test, options, may_be_unresolved=True)


def ddmax(
    test: Callable[[Any], Outcome],
    pass_: Items | None,
    fail: Items,
    *,
    order: str = "subsets-first",
    split: str | Splitter = "floor",
    **options: Unpack[RunOptions],
) -> Isolation:
    """Enlarge what passes, within ``fail``, until adding any one element more does not pass.

    Arguments and errors are those of :func:`dd` and :func:`ddmin`; the enlarged case is ``passing``.

    Source: see :class:`~replay_dd.dd.minimize.DDMax`.
    """
    deltas = Deltas(fail)
    c_pass = deltas.positions_of(pass_)
    return _isolate(DDMax(c_pass, deltas.all, order=order, split=split), deltas, test, options)


def prefix_bisection(test: Callable[[Any], Outcome], items: Items, **options: Unpack[RunOptions]) -> Isolation:
    """Simplify ``items`` to a 1-minimal failing case by binary search; best where the problem is monotone.

    Arguments, result and errors are those of :func:`ddmin`.

    Source: see :class:`~replay_dd.dd.bisection.PrefixBisection`.
    """
    deltas = Deltas(items)
    return _isolate(PrefixBisection(deltas.all), deltas, test, options, may_be_unresolved=True)


def dd1999(
    test: Callable[[Any], Outcome],
    pass_: Items | None,
    fail: Items,
    *,
    split: str | Splitter = "floor",
    **options: Unpack[RunOptions],
) -> Isolation:
    """Find the changes that make ``fail`` fail, as dd of 1999 does; ``difference`` holds them.

    Arguments and errors are those of :func:`dd`. Source: see :class:`~replay_dd.dd.wynot.DD1999`.
    """
    deltas = Deltas(fail)
    return _isolate(DD1999(deltas.positions_of(pass_), deltas.all, split=split), deltas, test, options)


def ddplus(
    test: Callable[[Any], Outcome],
    pass_: Items | None,
    fail: Items,
    *,
    split: str | Splitter = "floor",
    **options: Unpack[RunOptions],
) -> Isolation:
    """Find the changes that make ``fail`` fail, as dd+ of 1999 does; ``difference`` holds them.

    Arguments and errors are those of :func:`dd`. Source: see :class:`~replay_dd.dd.wynot.DDPlus`.
    """
    deltas = Deltas(fail)
    return _isolate(DDPlus(deltas.positions_of(pass_), deltas.all, split=split), deltas, test, options)


def _isolate(
    algorithm: Algorithm,
    deltas: Deltas,
    test: Callable[[Any], Outcome],
    options: RunOptions,
    *,
    may_be_unresolved: bool = False,
) -> Isolation:
    def test_deltas(configuration: IntervalSet) -> Outcome:
        return test(deltas.build(configuration))

    predict = options.get("predict")
    search = Search(
        algorithm,
        monotone=options.get("monotone", False),
        predict=None if predict is None else lambda configuration: predict(deltas.build(configuration)),
        known=check_end_points(test_deltas, algorithm.c_pass, algorithm.c_fail, may_be_unresolved=may_be_unresolved),
    )
    found = run_search(
        search,
        test_deltas,
        jobs=options.get("jobs", 1),
        executor=options.get("executor"),
        max_tests=options.get("max_tests"),
        time_limit_s=options.get("time_limit_s"),
        on_test=options.get("on_test"),
    )
    return Isolation(
        passing=deltas.build(found.c_pass),
        failing=deltas.build(found.c_fail),
        difference=deltas.build(found.difference),
        search=found,
    )
