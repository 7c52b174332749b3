"""Which deltas a search has seen to be needed, and whether more than one run says so.

Rules of this module:

* A run witnesses that a delta is needed if it lacks nothing else of a configuration that was seen to fail, and does not
  fail.
* Such configurations differ, and so may what is needed in them: two witnesses are no proof of 1-minimality, which is a
  test of exactly the answer without the delta. They tell that this test did not pass by chance.
* If something passed that holds all of the answer, that may have been chance, too: then no witnesses count.
"""

from __future__ import annotations

from replay_dd.dd import EMPTY, IntervalSet
from replay_dd.outcome import Outcome


class Witnesses:
    """Counts, for each delta, the different configurations that witness that it is needed.

    Args:
        failing: a configuration that was seen to fail.

    """

    def __init__(self, failing: IntervalSet) -> None:
        self._failing = failing
        self._once = EMPTY
        self._known: set[IntervalSet] = set()
        self._twice = EMPTY

    def add(self, configuration: IntervalSet, outcome: Outcome) -> None:
        """Take the outcome of a test into account, in serial order."""
        if outcome is Outcome.FAIL:
            if configuration < self._failing:
                self._failing = configuration
            return
        if configuration in self._known:
            return
        self._known.add(configuration)
        if configuration.count != self._failing.count - 1:
            return
        missing = self._failing - configuration
        if missing.count == 1:
            self._twice = self._twice | (missing & self._once)
            self._once = self._once | missing

    def twice(self, answer: IntervalSet) -> IntervalSet:
        """The deltas with two witnesses or more; none if another outcome contradicts the answer."""
        return EMPTY if any(answer <= passing for passing in self._known) else self._twice
