"""Runs a search, serially or speculatively on several workers, within limits.

Rules of this module:

* Outcomes are committed in the order in which a serial run would have asked for them, so the answer and the counts
  *requested* and *executed* do not depend on the number of workers. Speculative tests that turned out not to be needed
  are counted separately, as *speculative*.
* However a search ends (done, a limit, Ctrl-C), it returns the best result so far and says what stopped it.
* When it returns, no test is still running: tests no longer needed are cancelled or waited for.
* The clock is only checked between tests; a test that may hang needs its own time-out.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass, field
from typing import Any, Literal

from replay_dd.dd.intervals import IntervalSet
from replay_dd.dd.search import Search, Step
from replay_dd.errors.program import DoesNotFailError, DoesNotPassError
from replay_dd.experiment.calls import CheckedTest, Prepare
from replay_dd.experiment.speculation import Workers
from replay_dd.outcome import Outcome

Clock = Callable[[], float]
"""Seconds since some fixed moment, as ``time.monotonic`` gives them."""

StoppedBy = Literal["interrupt", "tests", "time"]

Test = Callable[[IntervalSet], Outcome]
"""A test of one configuration."""


@dataclass(frozen=True, slots=True)
class SearchResult:
    """What a search found, and what it cost.

    Attributes:
        c_pass: the largest passing configuration found (the fixed base, for searches that only simplify).
        c_fail: the smallest failing configuration found.
        complete: whether the search ran to completion, so that its algorithm's guarantees hold.
        stopped_by: what ended an incomplete search: ``"interrupt"``, ``"tests"``, ``"time"``; otherwise ``None``.
        requested: how many configurations the algorithm asked for.
        executed: how many tests a serial run would have executed.
        speculative: how many speculative tests were not needed.
        statistics: one record for each requested configuration, in order.
    """

    c_pass: IntervalSet
    c_fail: IntervalSet
    complete: bool
    stopped_by: StoppedBy | None
    requested: int
    executed: int
    speculative: int
    statistics: tuple[Step, ...] = field(repr=False)

    @property
    def difference(self) -> IntervalSet:
        """The deltas in ``c_fail`` that are not in ``c_pass``."""
        return self.c_fail - self.c_pass


def run_search(
    search: Search,
    test: Callable[[Any], Outcome],
    *,
    jobs: int = 1,
    executor: Executor | None = None,
    prepare: Prepare | None = None,
    max_tests: int | None = None,
    time_limit_s: float | None = None,
    clock: Clock = time.monotonic,
    on_test: Callable[[Step], None] | None = None,
    on_interrupt: Callable[[], None] | None = None,
) -> SearchResult:
    """Run a search to its end, or to a limit.

    Args:
        search: the search; afterwards it holds the outcomes so far, and can be continued.
        test: tests one configuration. With more than one job it is called from several threads, or pickled and sent to
            the workers of the executor, so it must not share state between calls.
        jobs: the number of parallel tests.
        executor: where to run them; by default a pool of ``jobs`` threads. It is not shut down.
        prepare: turns a configuration into the argument of the test, in this process and before anything is sent; by
            default, that is the configuration itself.
        max_tests: stop after this many executed tests.
        time_limit_s: stop before the first test that would start after this many seconds.
        clock: the clock for ``time_limit_s``.
        on_test: called after each executed test, in serial order.
        on_interrupt: called on Ctrl-C, to end the tests that other workers are still running.

    Returns:
        The result; the best one so far if a limit or Ctrl-C stopped the search.

    Raises:
        ValueError: ``jobs`` is less than 1.
        NotAnOutcomeError: ``test`` returned anything but an outcome.
        NotPicklableError: ``test``, or what it should be called with, cannot be sent to the workers of the executor.
        ExecutorBrokenError: the workers of the executor are gone.
        Exception: whatever ``test`` raises for a configuration that a serial run would have tested.
    """
    if jobs < 1:
        raise ValueError("jobs must be at least 1")
    ends_at = None if time_limit_s is None else clock() + time_limit_s
    executed_before = search.executed
    stopped_by: StoppedBy | None = None
    workers = Workers(search, test, jobs, executor, prepare)
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


def check_end_points(test: Test, c_pass: IntervalSet, c_fail: IntervalSet) -> dict[IntervalSet, Outcome]:
    """Test the two end points of a search before it starts, the passing one first.

    Args:
        test: the test.
        c_pass: what must pass.
        c_fail: what must fail.

    Returns:
        Their outcomes, as ``Search(known=...)`` takes them.

    Raises:
        DoesNotPassError: ``c_pass`` does not pass.
        DoesNotFailError: ``c_fail`` does not fail.
        NotAnOutcomeError: the test returned anything but an outcome.
    """
    checked = CheckedTest(test)
    of_pass = checked(c_pass)
    if of_pass is not Outcome.PASS:
        raise DoesNotPassError(f"the passing case came out as {of_pass.value}", hint=_CALL_IT)
    of_fail = checked(c_fail) if c_fail != c_pass else of_pass
    if of_fail is not Outcome.FAIL:
        raise does_not_fail(of_fail)
    return {c_pass: of_pass, c_fail: of_fail}


def does_not_fail(outcome: Outcome) -> DoesNotFailError:
    """The error to raise if the failing end point has another outcome."""
    return DoesNotFailError(f"the failing case came out as {outcome.value}", hint=_CALL_IT)


_CALL_IT = "Call the test with that case alone: it was the first thing tested, before anything was taken away."
