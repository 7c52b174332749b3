"""Prefix bisection for problems in which many deltas may be needed, close together.

Rules of this module:

* Bisection takes ``log2(n)`` tests for each needed delta. Once several were found, and close together, the next one is
  looked for nearby first: among as many deltas as usually lie between two of them, then among four times as many, and
  so on. A row of needed deltas takes one test each.
* If it is nowhere near, what is left is bisected, unless what was found needed fails alone.
* Where a finer search comes next, it leaves out what could have been left out here. So what was found need not be
  checked one by one.

Source: exponential search (Bentley and Yao 1976), from where the last needed delta was found.
"""

from __future__ import annotations

import math

from replay_dd.dd.bisection import PrefixBisection
from replay_dd.dd.intervals import EMPTY, IntervalSet
from replay_dd.outcome import Outcome

_SEVERAL = 6
"""How many needed deltas tell how far apart they are."""

_FARTHER = 4
"""How many times as far it looks next."""

_LATEST = 0.25
"""How much the last distance counts among all of them."""

_NEAR = 8
"""How many times as many deltas as lie between two needed ones are left where looking nearby is worth it."""


class NearbyBisection(PrefixBisection):
    """Simplify a failing configuration by bisection, and find needed deltas that are close together near each other.

    Args:
        c_fail: a configuration that fails.
        base: deltas that stay applied in every test; contained in ``c_fail``, and not failing by itself.
        checked: whether to leave out each delta of the answer in turn, so that it is 1-minimal for every test function.

    Raises:
        ValueError: ``base`` is not contained in ``c_fail``.
    """

    def __init__(self, c_fail: IntervalSet, *, base: IntervalSet = EMPTY, checked: bool = True) -> None:
        self._checked = checked
        self._last: int | None = None  # the rank of the last delta found needed
        self._distance = 0.0
        self._nearby = 0  # among how many deltas the next needed one is looked for; 0 while bisecting
        super().__init__(c_fail, base=base)

    def _need(self, rank: int) -> None:
        if self._last is not None:
            distance = self._last - rank
            self._distance += (distance - self._distance) * (_LATEST if self._distance else 1)
        self._last = rank
        super()._need(rank)
        self._look_nearby(math.ceil(self._distance))

    def _look_nearby(self, deltas: int) -> None:
        """Ask without so many of the last ones, unless bisecting all that are left takes hardly more tests."""
        if self._needed.count >= _SEVERAL and deltas * _NEAR <= self._high:
            self._nearby = deltas
            self._asked = self._candidates.take(self._high - deltas) | self._kept

    def _advance(self, outcome: Outcome) -> None:
        deltas, self._nearby = self._nearby, 0
        if not deltas:
            super()._advance(outcome)
            return
        assert self._asked is not None
        if outcome is Outcome.FAIL:
            self.c_fail = self._asked
            self._high -= deltas
            self._candidates = self._candidates.take(self._high)
            self._asked = self._kept
            self._look_nearby(deltas * _FARTHER)
            return
        self._low = self._high - deltas
        if deltas == 1:
            self._need(self._low)
        else:
            self._ask_middle()

    def _start_check(self) -> None:
        if self._checked:
            super()._start_check()
        else:
            self._asked = None
