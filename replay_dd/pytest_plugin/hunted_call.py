"""The fixture ``replay_dd``: hunts one call inside a test, instead of the whole test.

Rules of this module:

* The test runs as ever until it asks for a hunt. Then the same test is run alone under many schedules, in other
  processes; there, asking for that hunt just makes the call, and the run ends with it. What it asked before is answered
  there as it was here, as the test may go by it.
* What the test does before is done in each run, so it must not depend on what other tests left behind.
* A call that skips the test, or says that it is expected to fail, must not pass for one that was hunted: in a run, that
  is a failure of its own; here, the test is skipped, or fails as expected.
* It imports nothing of replay-dd until a hunt is asked for.
"""

from __future__ import annotations

import json
import os
import re
import sys
import unittest
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from replay_dd.pytest_plugin.results import HuntResult

WHICH_CALL = "REPLAY_DD_HUNTED_CALL"  # in a run of the hunt: the number of the call that is hunted
EARLIER_CALLS = "REPLAY_DD_EARLIER_CALLS"  # and what was found for those before it, as JSON
_MADE = "the hunted call is made"
_LEFT = re.compile(r"\bCallLeft: (skip|xfail): (.*?)(?: \(\S+:\d+ in [^()]*\)|$)", re.DOTALL)


class CallLeft(Exception):
    """In a run: the hunted call has called ``pytest.skip`` or ``pytest.xfail``."""


class KnownRacesOfCalls:
    """Fails tests that passed without the calls of which their markers name known races."""

    @pytest.hookimpl(hookwrapper=True)
    def pytest_pyfunc_call(self, pyfuncitem: pytest.Function) -> Iterator[None]:
        """The test runs; it may come to no call any more."""
        outcome: Any = yield
        calls = pyfuncitem.funcargs.get("replay_dd")
        if isinstance(calls, HuntedCalls) and outcome.excinfo is None:
            why = calls.not_called()
            if why:
                outcome.force_exception(pytest.fail.Exception("\n".join(why), pytrace=False))


class HuntedCalls:
    """What the fixture gives to a test.

    Args:
        request: of the fixture.
    """

    def __init__(self, request: pytest.FixtureRequest) -> None:
        self._request = request
        self._asked = 0
        self._found: list[HuntResult] = []

    def not_called(self) -> tuple[str, ...]:
        """Why known races of the test, which has passed, were tried by none of these calls; and the way out."""
        from replay_dd.pytest_plugin.hunts import hunts_of
        from replay_dd.pytest_plugin.results import NO_FAILURE, HuntResult, unfit_in_words

        unfit = hunts_of(self._request.config).not_called(self._request.node, self._asked)
        return tuple(unfit_in_words(HuntResult(self._request.node.nodeid, NO_FAILURE, unfit=unfit)))

    def hunt(
        self,
        function: Callable[..., Any],
        /,
        *arguments: Any,
        runs: int | None = None,
        time: str | float | None = None,
        strategy: str | None = None,
        granularity: str | None = None,
        max_delay: str | float | None = None,
        **keywords: Any,
    ) -> HuntResult:
        """Make a call under many schedules.

        Args:
            function: starts threads, and raises an exception if something is wrong.
            *arguments: its arguments by position.
            runs: the maximum number of schedules; by default that of the options.
            time: how long that may take: seconds, or ``2m``; by default that of the options.
            strategy: how to choose schedules; by default a mixture.
            granularity: where threads can be switched.
            max_delay: how late a thread may be where a sleep or time-out ends early.
            **keywords: its arguments by name.

        Returns:
            What was found: ``verdict``, ``runs``, ``failure``, ``switch``, ``log``, ``story`` and so on.

        Raises:
            ValueError: an argument makes no sense.
        """
        __tracebackhide__ = True
        self._asked += 1
        if "_replay_dd_runtime" in sys.modules:
            return self._in_a_run(function, *arguments, **keywords)
        given = {"runs": runs, "time": time, "strategy": strategy, "granularity": granularity}
        given["max_delay"] = max_delay
        from replay_dd.pytest_plugin.hunts import hunts_of

        try:
            found = hunts_of(self._request.config).hunt_call(
                self._request.node,
                self._asked,
                {name: value for name, value in given.items() if value is not None},
                tuple(self._found),
            )
        except ValueError as error:
            raise ValueError(str(error)) from None  # here, where the line of the test is what pytest shows
        self._found.append(found)
        return found

    def _in_a_run(self, function: Callable[..., Any], /, *arguments: Any, **keywords: Any) -> HuntResult:
        """Make the call, or answer for one that is not hunted."""
        __tracebackhide__ = True
        from replay_dd.pytest_plugin.results import NO_FAILURE, HuntResult

        hunted = os.environ.get(WHICH_CALL)
        if hunted is None:  # the test as a whole, by `replay-dd hunt -- pytest`
            function(*arguments, **keywords)
            return HuntResult(self._request.node.nodeid, NO_FAILURE)
        if hunted == str(self._asked):
            try:
                function(*arguments, **keywords)
            except (pytest.skip.Exception, unittest.SkipTest) as left:
                raise CallLeft(f"skip: {left}") from None
            except pytest.xfail.Exception as left:
                raise CallLeft(f"xfail: {left}") from None
            pytest.skip(_MADE)
        return HuntResult.of_data(json.loads(os.environ[EARLIER_CALLS])[self._asked - 1])

    def check(self, function: Callable[..., Any], /, *arguments: Any, **options: Any) -> HuntResult:
        """As :meth:`hunt`, and fail the test if the call fails under one of the schedules, or skip it if that does.

        Raises:
            pytest.skip.Exception, pytest.xfail.Exception: the call raised that under one of the schedules.
            pytest.fail.Exception: it does, or it could not be hunted, or a log that the marker of the test names guards
                against nothing.
        """
        __tracebackhide__ = True
        from replay_dd.pytest_plugin.results import FAILS_ALWAYS, NO_VERDICT, NOT_HUNTED, RACE, unfit_in_words

        found = self.hunt(function, *arguments, **options)
        if "_replay_dd_runtime" in sys.modules:
            return found
        left = _LEFT.search(found.failure or found.why)
        if left is not None:
            (pytest.skip if left[1] == "skip" else pytest.xfail)(left[2])
        if found.verdict == RACE:
            lines = [found.failure, *found.story, f"{'repeat':<13}{found.repeat}", *unfit_in_words(found)]
            pytest.fail("\n".join(lines), pytrace=False)
        if found.unfit:
            pytest.fail("\n".join(unfit_in_words(found)), pytrace=False)
        if found.verdict in (FAILS_ALWAYS, NO_VERDICT, NOT_HUNTED):
            pytest.fail(f"{found.verdict}: {found.why}", pytrace=False)
        return found
