"""Adaptive bisection: find needed deltas from both ends, with questions that follow from how far apart they are.

Rules of this module:

* After each test, ``c_fail`` was seen to fail. Every question leaves out more of the candidates at one end of them:
  if it fails, they are gone for good.
* The search for the next needed delta is a binary search for the edge between what can be left out and what cannot;
  :mod:`~replay_dd.dd.gaps` says where to ask. So a few needed deltas are found by bisection, many by a sweep, and each
  stretch of the candidates by what suits it.
* The last end is searched first, since what a delta requires mostly comes before it. Then the first end gets its turn;
  then always the end that paid: where deltas were left out, not merely found needed one after the other.
* A delta that cannot be left out alone may go together with its neighbours, as brackets do. That is tried, but rarely
  where it does not succeed: such tests are paid for by others, more by unresolved ones, and success pays for more.
* When all candidates are gone, the deltas not proved to be needed are candidates again. A proof is a test of exactly
  ``c_fail`` without that delta, whatever it was made for. When all are proved, the result is 1-minimal, for every test
  function.
"""

from __future__ import annotations

from replay_dd.dd.algorithm import Algorithm, checked_ends
from replay_dd.dd.gaps import Gaps
from replay_dd.dd.intervals import EMPTY, IntervalSet
from replay_dd.outcome import Outcome

_LAST, _FIRST = 0, 1
_UNTRIED = (-2, -1)

_ALL_NEEDED = 16.0
"""How many gaps of 1 a pass over deltas that were found needed has seen before it begins."""

_UNRESOLVED_WEIGHT = 0.4
"""What a gap counts if its end was found by an unresolved outcome: that says less about what is needed."""

_TOGETHER = (6, 2, 12, 3, 2, 4)
"""How many deltas are left out together where one alone cannot be, in turn; a number that succeeds is kept."""

_IN_A_ROW = (3, 4)
"""How many deltas are found needed in a row when leaving out several is tried first, unpaid."""

_PRICE = 27
"""What it costs to leave out several together for a try; one more for each such try in a row that did not succeed."""

_EARNED = {Outcome.PASS: 2, Outcome.UNRESOLVED: 10}
"""What tests that do not fail earn for such tries."""

_REWARD = 256
"""What a try that succeeds earns."""


class AdaptiveBisection(Algorithm):
    """Simplify a failing configuration, by bisection or by sweeps as its deltas demand.

    Where the test is monotone and ``k`` of ``n`` deltas are needed, spread evenly, it takes some ``log2(n over k) + k``
    tests, which is as many as any algorithm needs at worst whose result is 1-minimal for every test function.

    Args:
        c_fail: a configuration that fails.
        base: deltas that stay applied in every test; contained in ``c_fail``, and not failing by itself.

    Raises:
        ValueError: ``base`` is not contained in ``c_fail``.

    Source: adaptive group testing with groups of learned sizes (see :mod:`~replay_dd.dd.gaps`), on prefixes as dd of
    ESEC/FSE 1999 tests them where each change requires the ones before it.
    """

    def __init__(self, c_fail: IntervalSet, *, base: IntervalSet = EMPTY) -> None:
        self._candidates = checked_ends(base, c_fail)
        self.c_pass = base
        self.c_fail = c_fail
        self._kept = base
        self._proved = EMPTY
        self._earned = 0
        self._price = _PRICE
        self._together = 0
        self._trying = False
        self._gaps = (Gaps(), Gaps())
        self._in_a_row = _UNTRIED
        self._start_gap(base_fails=False)

    @property
    def deltas_left(self) -> int:
        """How many deltas are left."""
        return self.c_fail.count - self.c_pass.count

    @property
    def chance_of_failing(self) -> float:
        """How likely the configuration that is asked for fails, by the gaps seen so far."""
        if self._trying:
            return 1 / len(_TOGETHER)
        return self._forecast.chance(self._gap, self._low, self._high)

    def _start_gap(self, *, base_fails: bool = True) -> None:
        """Begin to search for the next needed delta.

        Args:
            base_fails: whether what is kept may fail alone.
        """
        self._most = self._candidates.count
        if self._most == 0:
            self._end_pass()
            return
        last, first = self._in_a_row
        self._end = _FIRST if first < last else _LAST
        self._forecast = self._gaps[self._end].forecast(self._most)
        # At this end, as many candidates as `low` could be left out, but not as many as `high`; one more than there are
        # means that this is not known.
        self._low = 0
        self._high = self._most + base_fails
        self._may_try = True
        self._unresolved = False
        self._go_on()

    def _go_on(self) -> None:
        if self._high - self._low > 1:
            self._gap = self._forecast.middle(self._low, self._high)
            self._ask_without(self._gap - self._low)
        elif self._low == self._most:
            self._end_pass()
        elif self._may_try and self._worth_trying():
            self._may_try = False
            self._trying = True
            self._gap = self._low + _TOGETHER[self._together]
            self._ask_without(_TOGETHER[self._together])
        else:
            self._end_gap()

    def _ask_without(self, amount: int) -> None:
        self._rest = self._without(amount)
        self._asked = self._rest | self._kept

    def _without(self, amount: int) -> IntervalSet:
        """The candidates without so many of them at this end."""
        if self._end == _LAST:
            return self._candidates.take(self._candidates.count - amount)
        return self._candidates.between(amount, self._candidates.count)

    def _worth_trying(self) -> bool:
        if self._candidates.count < _TOGETHER[self._together]:
            return False
        first_in_a_row = self._high == 1 and self._in_a_row[self._end] + 1 in _IN_A_ROW
        return first_in_a_row or self._earned >= self._price

    def _advance(self, outcome: Outcome) -> None:
        assert self._asked is not None
        trying, self._trying = self._trying, False
        if outcome is Outcome.FAIL:
            self.c_fail = self._asked
            self._proved = EMPTY
            self._candidates = self._rest
            self._low = self._gap
            self._may_try = True
            if trying:
                self._high = self._most + 1
                self._earned += _REWARD
                self._price = _PRICE
        elif trying:
            self._earned -= self._price
            self._price += 1
            self._together = (self._together + 1) % len(_TOGETHER)
        else:
            self._high = self._gap
            self._unresolved = outcome is Outcome.UNRESOLVED
            self._earned += _EARNED[outcome]
        self._go_on()

    def _end_gap(self) -> None:
        """The candidate at this end cannot be left out."""
        rest = self._without(1)
        needed = self._candidates - rest
        self._candidates = rest
        self._kept = self._kept | needed
        self._proved = self._proved | needed
        seen = self._gaps[self._end].seen(self._high, _UNRESOLVED_WEIGHT if self._unresolved else 1.0)
        in_a_row = max(self._in_a_row[self._end], 0) + 1 if self._high == 1 else 0
        if self._end == _LAST:
            self._gaps = (seen, self._gaps[_FIRST])
            self._in_a_row = (in_a_row, self._in_a_row[_FIRST])
        else:
            self._gaps = (self._gaps[_LAST], seen)
            self._in_a_row = (self._in_a_row[_LAST], in_a_row)
        self._start_gap()

    def _end_pass(self) -> None:
        """Nothing is left of the candidates: go over those again that are not proved to be needed."""
        left = self.c_fail - self.c_pass
        self._candidates = left - self._proved
        if left.count <= 1 or not self._candidates:
            self._asked = None
            return
        self._kept = self.c_fail - self._candidates
        self._gaps = (Gaps(_ALL_NEEDED), Gaps(_ALL_NEEDED))
        self._in_a_row = _UNTRIED
        self._start_gap()
