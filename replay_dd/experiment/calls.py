"""Call a test: here, or on an executor, which may pickle it.

Rules of this module:

* What is sent to a worker is a module-level object that holds the caller's test and nothing else of ours: no search, no
  collection. The case is built here, and only the case goes along.
* Whatever a test returns is looked at where it ran, so that nothing but an outcome ever comes back.
* An error of the test arrives as the test raised it. An error of the way to the worker is told in words.
"""

from __future__ import annotations

import inspect
import pickle
import reprlib
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, NoReturn

from replay_dd.dd.intervals import IntervalSet
from replay_dd.errors.user import ExecutorBrokenError, NotAnOutcomeError, NotPicklableError
from replay_dd.experiment.waiting import result_of
from replay_dd.outcome import Outcome

Prepare = Callable[[IntervalSet], Any]
"""Makes of a configuration what the test is called with."""


@dataclass(frozen=True, slots=True)
class CheckedTest:
    """A test that is sure to return an outcome.

    Attributes:
        test: the caller's test.
    """

    test: Callable[[Any], Outcome]

    def __call__(self, case: Any) -> Outcome:
        """The outcome of the test. Raises ``NotAnOutcomeError`` where the test returns anything else."""
        outcome = self.test(case)
        return outcome if isinstance(outcome, Outcome) else refuse(outcome)


def refuse(returned: Any) -> NoReturn:
    """Say what a test returned instead of an outcome. Raises ``NotAnOutcomeError``."""
    if inspect.iscoroutine(returned):
        returned.close()
        raise NotAnOutcomeError(
            "the test returned a coroutine instead of an Outcome",
            hint="Define it with `def`, and run what is asynchronous inside it with `asyncio.run`.",
        )
    raise NotAnOutcomeError(f"the test returned {reprlib.repr(returned)} instead of an Outcome")


class Calls:
    """The calls of one test.

    Args:
        test: the caller's test.
        executor: where to call it; in the calling thread where none is given.
        prepare: what the test is called with, for a configuration; the configuration itself where it is not given.
    """

    def __init__(
        self, test: Callable[[Any], Outcome], executor: Executor | None = None, prepare: Prepare | None = None
    ) -> None:
        self._test = CheckedTest(test)
        self._executor = executor
        self._prepare = prepare

    def run(self, configuration: IntervalSet) -> Outcome:
        """Call the test and wait for its outcome; raises what the test raises."""
        if self._executor is None:
            # Written out, as a test may take less than a microsecond, and a call of a function a tenth of that.
            prepare = self._prepare
            outcome = self._test.test(configuration if prepare is None else prepare(configuration))
            return outcome if isinstance(outcome, Outcome) else refuse(outcome)
        return self.outcome(self.start(configuration), configuration)

    def start(self, configuration: IntervalSet) -> Future[Outcome]:
        """Send the test to the executor.

        Raises:
            NotPicklableError: it cannot be sent, and the executor says so at once.
            ExecutorBrokenError: the workers are gone.
        """
        assert self._executor is not None
        case = self._case(configuration)
        try:
            return self._executor.submit(self._test, case)
        except Exception as error:
            told = self._in_words(error, case, while_sending=True)
            if told is error:
                raise
            raise told from error

    def outcome(self, future: Future[Outcome], configuration: IntervalSet) -> Outcome:
        """Wait for the outcome of a test that was sent; raises what the test raised, and what :meth:`start` raises."""
        try:
            return result_of(future)
        except Exception as error:
            told = self._in_words(error, self._case(configuration))
            if told is error:
                raise
            raise told from error

    def _case(self, configuration: IntervalSet) -> Any:
        return configuration if self._prepare is None else self._prepare(configuration)

    def _in_words(self, error: Exception, case: Any, *, while_sending: bool = False) -> Exception:
        """The error that tells what kept the test from running; the same error where the test itself raised it."""
        if isinstance(error, BrokenExecutor):
            return ExecutorBrokenError(f"the workers of the executor ended before the test did: {error}")
        if isinstance(self._executor, ThreadPoolExecutor):
            return error
        # The case first: some executors can send more kinds of functions than pickle can, but no more kinds of data.
        for what, thing in (("a case for the test", case), ("the test", self._test)):
            reason = _why_not_picklable(thing)
            if reason is None:
                continue
            # A test may raise such an error as well: then it is the executor's only if pickling says the very same.
            same = (type(reason), str(reason)) == (type(error), str(error))
            if same or (while_sending and isinstance(error, _PICKLING_ERRORS)):
                return NotPicklableError(f"{what} cannot be sent to another process: {reason}")
        return error


_PICKLING_ERRORS = (pickle.PicklingError, AttributeError, TypeError)
"""What CPython's ``pickle`` raises for objects that it cannot handle."""


def _why_not_picklable(thing: Any) -> Exception | None:
    try:
        pickle.dumps(thing)
    except Exception as error:  # pickling runs code of any object, which may raise anything
        return error
    return None
