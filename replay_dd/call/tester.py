"""Tests a call with other arguments: PASS, FAIL or UNRESOLVED, with a cache and a log.

Rules of this module:

* FAIL means the same failure as that of the whole call, PASS that the call returns, UNRESOLVED any other ending.
* What a call prints is dropped: there may be much of it, once for each test.
* Every call has as much of the stack as the first one had: where it overflows depends on the arguments alone.
* Arguments that were tested are not tested again. Arguments whose elements cannot be hashed are not
  remembered, nor are large collections: to compare them costs more than a test may.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Hashable, Mapping
from typing import Any

from replay_dd.call.containers import is_array, strings_in
from replay_dd.call.failure import Ending, Rule, matcher, steady
from replay_dd.call.in_child import attempt, forked
from replay_dd.call.made_call import Call
from replay_dd.call.silence import silence
from replay_dd.call.stack import recursion_room, stack_depth
from replay_dd.outcome import Outcome

_MOST_HASHED = 1000
_READ_ONLY = "read-only"  # in numpy's messages about arrays that cannot be written to


class Stopped(Exception):
    """A search must stop.

    Attributes:
        by: ``"tests"``, ``"time"`` or ``"interrupt"``.
    """

    def __init__(self, by: str) -> None:
        super().__init__(by)
        self.by = by


class Tester:
    """Makes one call with other arguments.

    Args:
        call: the call.
        wanted: how the whole call ended.
        rule: what counts as the failure.
        child: make each call in a process of its own.
        time_limit_s: seconds after which such a process is killed.

    Attributes:
        in_child: whether each call is made in a process of its own.
        tests: how many tests there were, not counting those answered from the cache.
        last: how the last call ended.
        on_test: told of each test: its number, the arguments, the outcome, and the ending.
    """

    def __init__(
        self,
        call: Call,
        wanted: Ending,
        *,
        rule: Rule = None,
        child: bool = False,
        time_limit_s: float | None = None,
    ) -> None:
        self.call = call
        self.wanted = wanted
        self.tests = 0
        self.last = wanted
        self.on_test: Callable[[int, Mapping[str, Any], Outcome, Ending], None] = lambda *told: None
        self.in_child = child
        self._time_limit_s = time_limit_s
        self._stack_room = sys.getrecursionlimit() - stack_depth()
        self._same = matcher(rule, wanted, strings_of(call.arguments))
        self._cache: dict[Hashable, Outcome] = {}
        self.limit(None, None)

    def limit(self, max_tests: int | None, time_budget_s: float | None) -> None:
        """From now on, :meth:`test` raises :class:`Stopped` once there were so many tests, or after so many seconds."""
        self._max_tests = max_tests
        self._ends_at = None if time_budget_s is None else time.monotonic() + time_budget_s

    def depends_on_the_past(self) -> bool:
        """Whether the call, made again and again, says one thing, but said another one the first time."""
        if steady(self.last) == steady(self.wanted):
            return False
        before = self.last
        self.run(self.call.arguments)
        # A text that differs each time has the time in it, or a random name.
        return steady(before) == steady(self.last)

    def forget(self) -> None:
        """Forget what was tested, and count from 1 again."""
        self.tests = 0
        self._cache.clear()

    def run(self, arguments: Mapping[str, Any]) -> Outcome:
        """Make the call with these arguments."""
        self.last = self._ending(arguments)
        if _READ_ONLY in self.last.text and "ValueError" in self.last.kinds and not self.call.writes_arrays:
            self.call.writes_arrays = True
            self.last = self._ending(arguments)
        if not self.last.failed:
            return Outcome.PASS
        return Outcome.FAIL if self._same(self.last) else Outcome.UNRESOLVED

    def _ending(self, arguments: Mapping[str, Any]) -> Ending:
        call = self.call.prepare(arguments)
        with silence(), recursion_room(self._stack_room):
            return Ending.of(forked(call, self._time_limit_s) if self.in_child else attempt(call))

    def test(self, arguments: Mapping[str, Any]) -> Outcome:
        """The outcome of a call with these arguments; from the cache if it is known.

        Raises:
            Stopped: by Ctrl-C, or because a limit is reached.
        """
        key = key_of(arguments)
        outcome = None if key is None else self._cache.get(key)
        if outcome is None:
            if self._max_tests is not None and self.tests >= self._max_tests:
                raise Stopped("tests")
            if self._ends_at is not None and time.monotonic() >= self._ends_at:
                raise Stopped("time")
            try:
                outcome = self.run(arguments)
            except KeyboardInterrupt:
                raise Stopped("interrupt") from None
            self.tests += 1
            self.on_test(self.tests, arguments, outcome, self.last)
            if key is not None:
                self._cache[key] = outcome
        return outcome


def strings_of(arguments: Mapping[str, Any]) -> list[str]:
    """The strings in arguments, for comparing texts of exceptions."""
    return [string for value in arguments.values() for string in strings_in(value)]


def key_of(arguments: Mapping[str, Any]) -> Hashable | None:
    """Equal for the same arguments; None where that would cost too much, or cannot be told."""
    budget = [_MOST_HASHED]
    try:
        return tuple((name, _key(value, budget)) for name, value in arguments.items())
    except (_TooLargeError, TypeError, RecursionError):
        return None


class _TooLargeError(Exception):
    pass


def _key(value: Any, budget: list[int]) -> Hashable:
    kind = type(value)
    budget[0] -= 1
    if budget[0] < 0:
        raise _TooLargeError
    if kind in (str, bytes, int, float, complex, bool, type(None)):
        return kind, repr(value) if kind in (float, complex) else value
    if kind in (list, tuple):
        return kind, tuple(_key(one, budget) for one in value)
    if kind in (set, frozenset):
        return kind, frozenset(_key(one, budget) for one in value)
    if kind is dict:
        return kind, tuple((_key(key, budget), _key(one, budget)) for key, one in value.items())
    if kind is bytearray:
        return kind, bytes(value)
    if is_array(value) and not value.dtype.hasobject:
        return kind, str(value.dtype), value.shape, value.tobytes()
    raise TypeError
