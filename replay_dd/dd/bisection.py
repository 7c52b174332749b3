"""Prefix bisection: find failure-inducing deltas one by one, each by binary search over the length of a prefix.

Rules of this module:

* Two facts hold after each test, whatever the test function is: ``needed ∪ candidates`` was seen to fail, and of the
  prefixes being bisected the shorter end was seen not to fail (the empty one by a test of ``needed`` alone).
* So each binary search ends at one delta that turns "does not fail" into "fails". It is needed; candidates after it
  are dropped at once. Needed deltas are found from the last to the first.
* With a monotone test the needed deltas are the answer already. The closing check does not rely on that: it removes
  each of them in turn, for good if the failure stays. So the result is 1-minimal for every test function.
* A question costs a few operations on short tuples, whatever the number of deltas.
"""

from __future__ import annotations

from replay_dd.dd.algorithm import Algorithm, checked_ends
from replay_dd.dd.intervals import EMPTY, IntervalSet
from replay_dd.outcome import Outcome


class PrefixBisection(Algorithm):
    """Simplify a failing configuration by binary search, for problems that are monotone or nearly so.

    With ``k`` failure-inducing deltas among ``n``: about ``k * log2(n)`` tests, then at most ``k`` for the closing
    check (more only where the test is not monotone). ddmin with complements alone needs about three times as many.

    Args:
        c_fail: a configuration that fails.
        base: deltas that stay applied in every test; contained in ``c_fail``, and not failing by itself.

    Raises:
        ValueError: ``base`` is not contained in ``c_fail``.

    Source: binary search over prefixes is how dd of ESEC/FSE 1999 behaves when each change requires the ones before it
    (table 7; AADEBUG 2000, section 4), repeated for each failure-inducing delta.
    """

    def __init__(self, c_fail: IntervalSet, *, base: IntervalSet = EMPTY) -> None:
        self._candidates = checked_ends(base, c_fail)
        self.c_pass = base
        self.c_fail = c_fail
        self._needed = EMPTY
        self._kept = base
        self._low = 0
        self._high = self._candidates.count
        self._check_at = -1
        self._checks_left = 0
        if self._high <= 1:
            self._asked = None
        else:
            self._ask_middle()

    @property
    def deltas_left(self) -> int:
        """How many deltas are left."""
        return self._needed.count + (self._high if self._check_at < 0 else 0)

    def _ask_middle(self) -> None:
        middle = (self._low + self._high) // 2
        self._asked = self._candidates.take(middle) | self._kept

    def _advance(self, outcome: Outcome) -> None:
        if self._check_at >= 0:
            self._after_check(outcome)
            return
        assert self._asked is not None
        fails = outcome is Outcome.FAIL
        if self._low < 0:
            if fails:
                self.c_fail = self._asked
                self._start_check()
                return
            self._low = 0
        else:
            middle = (self._low + self._high) // 2
            if fails:
                self._high = middle
                self.c_fail = self._asked
            else:
                self._low = middle
        if self._high - self._low == 1:
            self._need(self._low)
        else:
            self._ask_middle()

    def _need(self, rank: int) -> None:
        """The candidate of that rank makes the difference: keep it, and drop all that come after it."""
        self._needed = self._needed | self._candidates.between(rank, rank + 1)
        self._kept = self._needed | self.c_pass
        self._candidates = self._candidates.take(rank)
        self._high = rank
        if rank == 0:
            # Needed alone was the last configuration seen to fail.
            self._start_check()
        else:
            self._low = -1
            self._asked = self._kept

    def _start_check(self) -> None:
        self._candidates = EMPTY
        self._high = 0
        self._check_at = 0
        self._checks_left = self._needed.count
        self._ask_without_one()

    def _ask_without_one(self) -> None:
        if self._needed.count <= 1 or self._checks_left == 0:
            self._asked = None
        else:
            self._asked = self._kept - self._needed.between(self._check_at, self._check_at + 1)

    def _after_check(self, outcome: Outcome) -> None:
        if outcome is Outcome.FAIL:
            self._needed = self._needed - self._needed.between(self._check_at, self._check_at + 1)
            self._kept = self.c_fail = self._needed | self.c_pass
            self._checks_left = self._needed.count
        else:
            self._check_at += 1
            self._checks_left -= 1
        if self._check_at >= self._needed.count:
            self._check_at = 0
        self._ask_without_one()
