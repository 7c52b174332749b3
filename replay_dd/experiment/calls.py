"""Calls a test, either in this process or on an executor, which may pickle it.

Rules of this module:

* What is sent to a worker is a module-level object that holds the caller's test and nothing else of ours: no search, no
  collection. The case is built here, and only the case goes along.
* What a test returns is checked where it ran, so that nothing but an outcome is ever sent back.
* An exception of the test arrives as the test raised it. A failure to send it to a worker becomes a clear error.
"""

from __future__ import annotations

import inspect
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
"""Turns a configuration into the argument of the test."""


@dataclass(frozen=True, slots=True)
class CheckedTest:
    """A test that is guaranteed to return an outcome.

    Attributes:
        test: the caller's test.
    """

    test: Callable[[Any], Outcome]

    def __call__(self, case: Any) -> Outcome:
        """The outcome of the test. Raises ``NotAnOutcomeError`` if the test returns anything else."""
        outcome = self.test(case)
        return outcome if isinstance(outcome, Outcome) else refuse(outcome)


def refuse(returned: Any) -> NoReturn:
    """Raise ``NotAnOutcomeError`` for what a test returned instead of an outcome."""
    if inspect.iscoroutine(returned):
        returned.close()
        raise NotAnOutcomeError(
            "the test returned a coroutine instead of an Outcome",
            hint="Define it with `def`, and call asynchronous code inside it with `asyncio.run`.",
        )
    raise NotAnOutcomeError(f"the test returned {reprlib.repr(returned)} instead of an Outcome")


class Calls:
    """The calls of one test.

    Args:
        test: the caller's test.
        executor: where to call it; by default in the calling thread.
        prepare: turns a configuration into the argument of the test; by default, that is the configuration itself.
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
            # Inlined: a test may take less than a microsecond, and a function call a tenth of that.
            prepare = self._prepare
            outcome = self._test.test(configuration if prepare is None else prepare(configuration))
            return outcome if isinstance(outcome, Outcome) else refuse(outcome)
        return self.outcome(self.start(configuration), configuration)

    def start(self, configuration: IntervalSet) -> Future[Outcome]:
        """Send the test to the executor.

        Raises:
            NotPicklableError: it cannot be sent, and the executor reports that immediately.
            ExecutorBrokenError: the workers are gone.
        """
        assert self._executor is not None
        case = self._case(configuration)
        try:
            return self._executor.submit(self._test, case)
        except Exception as error:
            told = self._explain(error, case, while_sending=True)
            if told is error:
                raise
            raise told from error

    def outcome(self, future: Future[Outcome], configuration: IntervalSet) -> Outcome:
        """Wait for the outcome of a submitted test; raises what the test raised, and what :meth:`start` raises."""
        try:
            return result_of(future)
        except Exception as error:
            told = self._explain(error, self._case(configuration))
            if told is error:
                raise
            raise told from error

    def _case(self, configuration: IntervalSet) -> Any:
        return configuration if self._prepare is None else self._prepare(configuration)

    def _explain(self, error: Exception, case: Any, *, while_sending: bool = False) -> Exception:
        """The error that explains why the test could not run; the same error if the test itself raised it."""
        if isinstance(error, BrokenExecutor):
            return ExecutorBrokenError(f"the workers of the executor ended before the test did: {error}")
        if isinstance(self._executor, ThreadPoolExecutor):
            return error
        # The case first: some executors can send more kinds of functions than pickle, but not more kinds of data.
        for what, thing in (("a case for the test", case), ("the test", self._test)):
            reason = _why_not_picklable(thing)
            if reason is None:
                continue
            # A test may raise such an error, too: it is the executor's only if pickling raises the same one.
            same = (type(reason), str(reason)) == (type(error), str(error))
            if same or (while_sending and isinstance(error, _pickling_errors())):
                return NotPicklableError(f"{what} cannot be sent to another process: {reason}")
        return error


def _pickling_errors() -> tuple[type[Exception], ...]:
    """What CPython's ``pickle`` raises for objects that it cannot handle."""
    import pickle  # only now: few searches send their tests anywhere

    return pickle.PicklingError, AttributeError, TypeError


def _why_not_picklable(thing: Any) -> Exception | None:
    import pickle  # as above

    try:
        pickle.dumps(thing)
    except Exception as error:  # pickling runs code of any object, which may raise anything
        return error
    return None
